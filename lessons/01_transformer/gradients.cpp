// Differences as a check of gradients: how good they are, the whole model's gradient beside them, and the
// loss of an untrained model.
#include <array>
#include <cmath>
#include <exception>

#include "lessons/01_transformer/model.hpp"
#include "lib/machine/tensor/random.hpp"

using namespace transformer;

namespace {

// --- differences of a function whose slope is known
// -------------------------------------------------------------

template <class Real>
Real f(Real x)
{
    return Real(1) / (Real(1) + x * x);
}

/// Σ_k weight_k (f(x + k step) − f(x − k step)) / step.
template <class Real, class Function, std::size_t n>
Real difference(Function function, Real x, Real step, const std::array<Real, n>& weights)
{
    Real sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const Real distance = static_cast<Real>(k + 1) * step;
        sum += weights[k] * (function(x + distance) - function(x - distance));
    }
    return sum / step;
}

constexpr std::array<double, 1> central{0.5};
constexpr std::array<double, 3> sixth_order{45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0};

void print_steps()
{
    fmt::print("errors of differences of 1 / (1 + x^2) at x = 0.5, where the slope is -0.64\n");
    fmt::print("{:<8}{:>11}{:>11}{:>11}{:>15}\n", "step", "one-sided", "central", "order 6", "central, fp32");
    for (const int exponent : {1, 4, 7, 10, 13, 17, 20, 26, 32, 40}) {
        const double step = std::ldexp(1.0, -exponent);
        const auto error = [](double slope) { return std::abs(slope + 0.64); };
        const float in_fp32 =
            difference(f<float>, 0.5f, static_cast<float>(step), std::array<float, 1>{0.5f});
        fmt::print("2^-{:<5}{:>11.0e}{:>11.0e}{:>11.0e}{:>15.0e}\n", exponent,
                   error((f(0.5 + step) - f(0.5)) / step), error(difference(f<double>, 0.5, step, central)),
                   error(difference(f<double>, 0.5, step, sixth_order)), error(in_fp32));
    }
}

// --- models
// -----------------------------------------------------------------------------------------------------

/// A model in fp64 with the parameters it starts with, and a batch of random tokens for it.
class Untrained {
  public:
    Untrained(const ModelShape& shape, std::int64_t sequences)
        : gpt_(make_gpt(shape)), parameters_(device_, make_flat_layout(parameters_of(gpt_), 1), DType::fp64)
    {
        for (Parameter* parameter : parameters_of(gpt_)) initialise(*parameter, 1);
        const std::int64_t count = sequences * shape.sequence;
        const RandomStream stream(1, "tokens");
        for (std::int64_t i = 0; i < 2 * count; ++i)
            ids_.push_back(static_cast<std::int32_t>(stream.bits(static_cast<std::uint64_t>(i)) %
                                                     static_cast<std::uint64_t>(shape.vocabulary)));
        const auto half = static_cast<std::size_t>(count);
        batch_ = {sequences,
                  shape.sequence,
                  std::span(ids_).first(half),
                  std::span(ids_).last(half),
                  1.0 / static_cast<double>(count),
                  0};
    }

    std::span<double> values() { return parameters_.values().span<double>(); }
    std::span<const double> gradient() { return parameters_.gradients().span<double>(); }

    /// The mean loss of a token; gradient() becomes its gradient.
    double forward_and_backward()
    {
        std::vector<Saved> saved(gpt_.size());
        Tensor x;
        for (std::size_t i = 0; i < gpt_.size(); ++i) x = gpt_[i]->forward(batch_, std::move(x), saved[i]);
        const double loss = std::exchange(x.span<double>()[0], 1.0);
        parameters_.gradients().fill_zero();
        for (std::size_t i = gpt_.size(); i-- > 0;) x = gpt_[i]->backward(batch_, std::move(x), saved[i]);
        for (Parameter* parameter : parameters_of(gpt_)) merge_second_gradient(*parameter);
        return loss;
    }

  private:
    Device device_{DeviceOptions{}};
    Modules gpt_;
    FlatParameters parameters_;
    std::vector<std::int32_t> ids_;
    MicroBatch batch_;
};

void print_whole_model()
{
    Untrained model({2, 64, 4, 32, 256}, 4);
    model.forward_and_backward();
    const RandomStream stream(1, "direction");
    const std::vector<double> start(model.values().begin(), model.values().end());
    double by_backward = 0.0;
    for (std::size_t i = 0; i < start.size(); ++i) by_backward += model.gradient()[i] * stream.normal(i);
    const auto loss_at = [&](double distance) {
        for (std::size_t i = 0; i < start.size(); ++i)
            model.values()[i] = start[i] + distance * stream.normal(i);
        return model.forward_and_backward();
    };
    const double by_differences = difference(loss_at, 0.0, 0x1p-13, sixth_order);
    fmt::print("\nslope of the loss along a random direction of all {} parameters\n", start.size());
    fmt::print("by backward     {:.8f}\nby differences  {:.8f}\n", by_backward, by_differences);
}

void print_first_loss()
{
    fmt::print("\nloss of an untrained model on random tokens\n");
    fmt::print("{:>5}{:>6}{:>10}{:>10}{:>22}\n", "V", "h", "loss", "ln V", "ln V + 0.02^2 h / 2");
    for (const auto& [vocabulary, hidden] : {std::pair{256, 64}, {256, 256}, {256, 512}, {2048, 64}}) {
        Untrained model({1, hidden, 4, 32, vocabulary}, 64);
        const double uniform = std::log(static_cast<double>(vocabulary));
        fmt::print("{:>5}{:>6}{:>10.3f}{:>10.3f}{:>22.3f}\n", vocabulary, hidden,
                   model.forward_and_backward(), uniform, uniform + 0.02 * 0.02 * hidden / 2.0);
    }
}

}  // namespace

int main()
try {
    print_steps();
    print_whole_model();
    print_first_loss();
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
