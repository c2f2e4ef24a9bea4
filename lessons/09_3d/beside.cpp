// A run on many simulated devices beside the single process: thousand ONE.json MANY.json, as --json wrote
// them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lessons/05_zero/memory.hpp"
#include "lib/machine/base/error.hpp"

using namespace shardlings;
using nlohmann::json;

namespace {

json read(const char* file)
{
    std::ifstream in(file);
    check(in.good(), "cannot read {}", file);
    return json::parse(in);
}

/// What DESIGN calls rounding: data and tensor parallelism sum in another order than the single process.
constexpr double rounding = 1e-12;

/// Prints both figures; true when they agree to rounding.
bool compare(const char* name, double one, double many)
{
    const double error = std::abs(many - one) / std::abs(one);
    fmt::print("{:<28}{:<22.16g}{:<22.16g}{:.1e}\n", name, one, many, error);
    return error <= rounding;
}

/// Elements of a module of n parameters in its bucket, which is cut into equal parts for the data-parallel
/// ranks.
double padded(double n, double dp)
{
    return std::ceil(n / dp) * dp;
}

/// Parameters that a device of `stage` holds, in a bucket for each module. Of a block's 12 h² + 13 h the four
/// matrices, and the biases of the two that are cut by columns (3 h + 4 h), are shared out over the t
/// tensor-parallel ranks; two layer norms and the other two biases, 6 h, are on all of them. So are the
/// positions, T h, and the last layer norm, 2 h; the V rows of the vocabulary are shared out, once for the
/// lookup on the first stage and, when that is another one, once for the head on the last.
double parameters_of(int stage, const json& config)
{
    const double h = config["hidden"];
    const double t = config["tp"];
    const double dp = config["dp"];
    const double vocabulary = config["vocab"].get<double>() * h / t;
    const int stages = config["pp"];
    const double block = 12.0 * h * h / t + 7.0 * h / t + 6.0 * h;
    double sum = config["layers"].get<double>() / stages * padded(block, dp);
    if (stage == 0) sum += padded(vocabulary + config["seq"].get<double>() * h, dp);
    if (stage == stages - 1) sum += padded((stages > 1 ? vocabulary : 0.0) + 2.0 * h, dp);
    return sum;
}

/// The least and the most of a figure over the devices of a stage.
struct Measured {
    double least = 1e300;
    double most = 0.0;
    void add(double value)
    {
        least = std::min(least, value);
        most = std::max(most, value);
    }
};

Measured measured(const json& ranks, int stage, const char* what)
{
    Measured figures;
    for (const json& rank : ranks)
        if (rank["coordinates"]["pp"] == stage) figures.add(rank["memory"][what]);
    return figures;
}

/// One line; true when every device of the stage holds what the formula says, to the byte.
bool compare_memory(int stage, const json& many)
{
    const json& config = many["config"];
    const double parameters = parameters_of(stage, config);
    const zero::StateBytes expected = zero::state_bytes(config["zero"], parameters, config["dp"],
                                                        parse_dtype(config["dtype"].get<std::string>()));
    bool equal = true;
    fmt::print("{:>5}{:>8}", stage, parameters);
    for (const auto& [name, formula] : {std::pair{"parameters", expected.parameters},
                                        {"gradients", expected.gradients},
                                        {"optimizer_states", expected.optimizer_states}}) {
        const Measured bytes = measured(many["ranks"], stage, name);
        fmt::print("{:>11}{:>9}", formula, bytes.least);
        if (bytes.most != bytes.least) fmt::print("-{}", bytes.most);
        equal = equal && bytes.least == formula && bytes.most == formula;
    }
    fmt::print("{:>11}\n", measured(many["ranks"], stage, "peak").most);
    return equal;
}

int run(const json& one, const json& many)
{
    const json& config = many["config"];
    check(config["layers"].get<int>() % config["pp"].get<int>() == 0,
          "the formula of the memory is for stages of equally many layers");
    fmt::print("{} devices: PP {} x DP {} x TP {}, ZeRO {}; {} layers, h = {}, {}\n\n", many["ranks"].size(),
               config["pp"].get<int>(), config["dp"].get<int>(), config["tp"].get<int>(),
               config["zero"].get<int>(), config["layers"].get<int>(), config["hidden"].get<int>(),
               config["dtype"].get<std::string>());
    fmt::print("{:<28}{:<22}{:<22}relative difference\n", "", "one process",
               fmt::format("{} devices", many["ranks"].size()));
    bool kept = true;
    for (std::size_t i = 0; i < one["steps"].size(); ++i) {
        const json& a = one["steps"][i];
        const json& b = many["steps"].at(i);
        const auto named = [&](const char* what) { return fmt::format("{} of step {}", what, i + 1); };
        kept = compare(named("loss").c_str(), a["loss"], b["loss"]) && kept;
        kept = compare(named("gradient norm").c_str(), a["grad_norm"], b["grad_norm"]) && kept;
    }
    kept = compare("bits per byte, validation", one["validation"]["bits_per_byte"],
                   many["validation"]["bits_per_byte"]) &&
           kept;
    fmt::print(
        "\nBytes of a device (formula, measured on every device of the stage) and its peak with activations\n"
        "stage       X          parameters           gradients    optimizer states       peak\n");
    for (int stage = 0; stage < config["pp"]; ++stage) kept = compare_memory(stage, many) && kept;
    fmt::print("\n{}\n", kept ? "All agree: figures to rounding (1e-12), bytes exactly." : "NOT all agree.");
    return kept ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv)
try {
    check(argc == 3, "usage: beside ONE.json MANY.json");
    return run(read(argv[1]), read(argv[2]));
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
