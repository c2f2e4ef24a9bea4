// Five training steps against PyTorch: losses, norms, and the parameters after AdamW with clipping.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/clipping.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lib/machine/base/rounding.hpp"
#include "tests/01_transformer/fixture.hpp"
#include "tests/lib/catch.hpp"

using namespace shardlings;
using lesson01::Fixture;

namespace {

double largest(const std::vector<double>& values)
{
    double most = 0.0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
}

/// A model that starts as the fixture's, and its optimizer.
struct Run {
    Run(const Fixture& fixture, DType dtype)
        : modules(transformer::make_gpt(fixture.shape)),
          parameters(device, make_flat_layout(parameters_of(modules), 1), dtype)
    {
        for (const FlatEntry& entry : parameters.layout().entries)
            from_doubles(fixture.values("parameters.transformer." + entry.parameter->name),
                         entry.parameter->value);
        states = training::make_optimizer_states(parameters.values());
    }

    /// The loss and the gradients of step 0, 1, …
    double accumulate(const Fixture& fixture, std::int64_t step)
    {
        const std::vector<std::int32_t> ids = fixture.ids("tokens", step);
        const std::vector<std::int32_t> targets = fixture.ids("targets", step);
        MicroBatch batch;
        batch.sequences = fixture.sequences;
        batch.tokens = fixture.shape.sequence;
        batch.inputs = ids;
        batch.targets = targets;
        batch.token_weight = fixture.token_weight(step);
        parameters.gradients().fill_zero();
        const double loss = training::accumulate_gradients(modules, std::vector<MicroBatch>{batch}, 1.0);
        gradients = to_doubles(parameters.gradients());
        return loss;
    }

    /// Returns the norm before clipping; afterwards `gradients` are the clipped ones.
    double update(const training::AdamW& options, double max_norm)
    {
        const double norm =
            training::update_parameters(options, max_norm, nullptr, parameters, states).gradient_norm;
        for (double& gradient : gradients) gradient *= training::clip_factor(norm, max_norm);
        return norm;
    }

    Device device{DeviceOptions{}};
    Modules modules;
    FlatParameters parameters;
    training::OptimizerStates states;
    std::vector<double> gradients;
};

training::AdamW options_of(const Fixture& fixture)
{
    return {fixture.number("learning_rate"), fixture.number("beta1"), fixture.number("beta2"),
            fixture.number("adam_epsilon"), fixture.number("weight_decay")};
}

/// How far fp32's parameters may be from fp64's, element by element, given how far its clipped gradients
/// were.
///
/// An update is η m̂ / (sqrt(v̂) + ε). |m̂| <= 1.05 sqrt(v̂) within five steps (Cauchy and Schwarz with these β),
/// so it is at most 1.05 η, and two updates differ by at most 2.1 η. Gradients that were off by δ at most
/// move m̂ and sqrt(v̂) by at most δ each, and the update by (1 + 1.05) η δ / (sqrt(v̂) − δ), at most 4.2 η δ /
/// sqrt(v̂) while δ < sqrt(v̂) / 2, from where on 2.1 η is smaller. Ten roundings of the update and two of the
/// weight come on top.
class UpdateBound {
  public:
    explicit UpdateBound(std::size_t elements) : difference_(elements, 0.0), bound_(elements, 0.0) {}

    void add_step(const Run& exact, const Run& rounded, const training::AdamW& options)
    {
        const std::vector<double> v = to_doubles(exact.states.v);
        const std::vector<double> weights = to_doubles(exact.parameters.values());
        const double correction = 1.0 - std::pow(options.beta2, static_cast<double>(exact.states.step));
        const double u = unit_roundoff(DType::fp32);
        for (std::size_t i = 0; i < bound_.size(); ++i) {
            difference_[i] = std::max(difference_[i], std::abs(exact.gradients[i] - rounded.gradients[i]));
            const double size = std::sqrt(v[i] / correction);
            const double moved = difference_[i] == 0.0 ? 0.0 : std::min(2.1, 4.2 * difference_[i] / size);
            bound_[i] += options.learning_rate * (moved + 10 * u) + 2 * u * std::abs(weights[i]);
        }
    }
    double operator[](std::size_t i) const { return bound_[i]; }

  private:
    std::vector<double> difference_;
    std::vector<double> bound_;
};

}  // namespace

TEST_CASE("five AdamW steps with clipping give PyTorch's losses, norms and parameters", "[pytorch]")
{
    // Of a tensor's largest element; see tests/01_transformer/pytorch_test.cpp.
    constexpr double allowed = 1e-10;
    for (const std::string& name : lesson01::all_fixtures) {
        const Fixture fixture(name);
        const training::AdamW options = options_of(fixture);
        const double clip_norm = fixture.number("clip_norm");
        const std::vector<double> losses = fixture.values("losses");
        const std::vector<double> norms = fixture.values("grad_norms");
        Run exact(fixture, DType::fp64);
        Run rounded(fixture, DType::fp32);
        UpdateBound bound(exact.parameters.values().span<double>().size());
        for (std::int64_t step = 0; step < fixture.steps; ++step) {
            INFO(name << ", step " << step);
            const auto at = static_cast<std::size_t>(step);
            CHECK(std::abs(exact.accumulate(fixture, step) - losses[at]) <= allowed * losses[at]);
            rounded.accumulate(fixture, step);
            CHECK(std::abs(exact.update(options, clip_norm) - norms[at]) <= allowed * norms[at]);
            rounded.update(options, clip_norm);
            bound.add_step(exact, rounded, options);
        }
        for (const FlatEntry& entry : exact.parameters.layout().entries) {
            const std::vector<double> expected =
                fixture.values("updated.transformer." + entry.parameter->name);
            const std::vector<double> in_fp64 = to_doubles(entry.parameter->value);
            const std::vector<double> in_fp32 =
                to_doubles(rounded.parameters.values().view(entry.offset, entry.parameter->slice.shape));
            for (std::size_t i = 0; i < expected.size(); ++i) {
                INFO(name << ": " << entry.parameter->name << ", element " << i);
                CHECK(std::abs(in_fp64[i] - expected[i]) <= allowed * largest(expected));
                CHECK(std::abs(in_fp32[i] - expected[i]) <=
                      bound[static_cast<std::size_t>(entry.offset) + i]);
            }
        }
    }
}
