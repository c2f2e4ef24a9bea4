// Counts a model's parameters, and the bytes and FLOPs of one forward and backward pass, beside the formulas.
#include <exception>
#include <string_view>

#include "lessons/01_transformer/model.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/tensor/random.hpp"

using namespace transformer;

namespace {

constexpr ModelShape our_model{2, 64, 4, 32, 256};
constexpr ModelShape gpt2_small{12, 768, 12, 1024, 50257};
constexpr std::int64_t sequences = 4;

// --- parameters
// -------------------------------------------------------------------------------------------------

void print_row(std::string_view name, std::int64_t ours, std::int64_t gpt2, std::string_view note)
{
    fmt::print("{:<24}{:>12}{:>14}   {}\n", name, ours, gpt2, note);
}

/// Elements of all parameters whose name begins with `prefix`.
std::int64_t elements_of_parts(const std::vector<Parameter*>& parameters, std::string_view prefix)
{
    std::int64_t sum = 0;
    for (const Parameter* parameter : parameters)
        if (parameter->name.starts_with(prefix)) sum += parameter->elements();
    return sum;
}

void print_parameters()
{
    const Modules ours = make_gpt(our_model);
    const Modules gpt2 = make_gpt(gpt2_small);
    const std::vector<Parameter*> our_parameters = parameters_of(ours);
    const std::vector<Parameter*> gpt2_parameters = parameters_of(gpt2);
    fmt::print("{:<24}{:>12}{:>14}   shape in our model\n", "parameters", "our model", "GPT-2 small");
    for (const Parameter* parameter : our_parameters) {
        if (parameter->name.starts_with("h.1.")) continue;
        print_row(parameter->name, parameter->elements(), elements_of_parts(gpt2_parameters, parameter->name),
                  to_string(parameter->slice.shape));
    }
    print_row("a block, h.0", elements_of_parts(our_parameters, "h.0."),
              elements_of_parts(gpt2_parameters, "h.0."), "12h² + 13h");
    print_row("all parameters, counted", elements_of_parts(our_parameters, ""),
              elements_of_parts(gpt2_parameters, ""), "added up");
    print_row("all parameters, X", our_model.parameters(), gpt2_small.parameters(),
              "L (12h² + 13h) + Vh + Th + 2h");
}

// --- bytes and FLOPs of a pass
// ----------------------------------------------------------------------------------

/// What the page derives. Activations and statistics are fp32, four bytes each.
struct Formulas {
    ModelShape shape;
    std::int64_t sequences;

    std::int64_t bt() const { return sequences * shape.sequence; }
    std::int64_t bth() const { return bt() * shape.hidden; }
    /// Bytes.
    std::int64_t stream() const { return 4 * bth(); }
    std::int64_t block() const { return 4 * (16 * bth() + bt() * shape.heads * shape.sequence + 4 * bt()); }
    std::int64_t logits() const { return 4 * bt() * shape.vocabulary; }
    std::int64_t head() const { return 2 * stream() + logits() + 4 * 3 * bt(); }
    /// FLOPs of a forward pass.
    std::int64_t block_flops() const { return 24 * bth() * shape.hidden + 4 * bth() * shape.sequence; }
    std::int64_t head_flops() const { return 2 * bth() * shape.vocabulary; }
};

/// Prints what the device holds and was charged since the last line, beside what was expected.
class Ledger {
  public:
    explicit Ledger(const Device& device) : device_(device)
    {
        fmt::print("{:<20}{:>14}{:>12}{:>14}{:>12}\n", "after", "activations", "formula", "FLOPs of it",
                   "formula");
    }
    void line(const char* pass, std::int64_t module, std::int64_t bytes, std::int64_t flops)
    {
        const std::string name = module == 0                      ? "embedding"
                                 : module == our_model.layers + 1 ? "head"
                                                                  : fmt::format("h.{}", module - 1);
        fmt::print("{:<20}{:>12} B{:>10} B{:>14.0f}{:>12}\n", fmt::format("{} {}", pass, name),
                   device_.memory().current_of(Category::activations), bytes, device_.flops() - charged_,
                   flops);
        charged_ = device_.flops();
    }

  private:
    const Device& device_;
    double charged_ = 0.0;
};

void print_passes()
{
    Device device{DeviceOptions{}};
    const Modules gpt = make_gpt(our_model);
    const FlatParameters parameters(device, make_flat_layout(parameters_of(gpt), 1), DType::fp32);
    for (Parameter* parameter : parameters_of(gpt)) initialise(*parameter, 1);
    const RandomStream stream(1, "tokens");
    const Formulas f{our_model, sequences};
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < f.bt(); ++i)
        ids.push_back(static_cast<std::int32_t>(stream.bits(static_cast<std::uint64_t>(i)) % 256));
    const MicroBatch batch{sequences, our_model.sequence, ids, ids, 1.0 / static_cast<double>(f.bt()), 0};

    fmt::print("\nour model in fp32, B = {}: one forward and one backward pass\n", sequences);
    Ledger ledger(device);
    Saved saved;
    Tensor x;
    const std::int64_t head = our_model.layers + 1;
    for (std::int64_t i = 0; i <= head; ++i) {
        x = gpt[static_cast<std::size_t>(i)]->forward(batch, std::move(x), saved);
        ledger.line("forward", i, i < head ? i * f.block() + f.stream() : (i - 1) * f.block() + f.head() + 8,
                    i == 0     ? 0
                    : i < head ? f.block_flops()
                               : f.head_flops());
    }
    x.span<double>()[0] = 1.0;  // d(loss) / d(loss)
    for (std::int64_t i = head; i >= 0; --i) {
        x = gpt[static_cast<std::size_t>(i)]->backward(batch, std::move(x), saved);
        ledger.line("backward", i, i == 0 ? 0 : (i - 1) * f.block() + f.stream(),
                    i == 0 ? 0 : 2 * (i < head ? f.block_flops() : f.head_flops()));
    }
    fmt::print("{:<20}{:>12} B{:>10} B{:>14.0f}{:>12}\n", "peak, and all",
               device.memory().peak_of(Category::activations),
               our_model.layers * f.block() + f.head() + 8 + 2 * f.stream(), device.flops(),
               3 * (our_model.layers * f.block_flops() + f.head_flops()));
}

void print_gpt2()
{
    const Formulas f{gpt2_small, 1};
    const auto print = [](const char* name, std::int64_t bytes) {
        fmt::print("{:<20}{:>12}\n", name, format_bytes(static_cast<std::uint64_t>(bytes)));
    };
    fmt::print("\nGPT-2 small in fp32, B = 1, by the formulas\n");
    print("parameters", 4 * gpt2_small.parameters());
    print("a block's", f.block());
    print("12 blocks'", gpt2_small.layers * f.block());
    print("the logits", f.logits());
}

}  // namespace

int main()
try {
    print_parameters();
    print_passes();
    print_gpt2();
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
