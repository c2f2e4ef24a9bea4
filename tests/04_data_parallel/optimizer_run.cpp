#include "tests/04_data_parallel/optimizer_run.hpp"

#include "lessons/02_training_step/clipping.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"

namespace data_parallel_test {

namespace {

using data_parallel::Bucket;
using data_parallel::Chunk;

constexpr std::int64_t growth_interval = 3;  // as in the driver

/// Ways to do the update, of which one is right.
enum class Variant { right, all_decay, none_decays, not_unscaled, not_clipped, from_values, unchanged };

const std::vector<std::pair<Variant, const char*>> wrong_variants{
    {Variant::all_decay, "every parameter was decayed; biases and layer norms are not"},
    {Variant::none_decays, "no parameter was decayed"},
    {Variant::not_unscaled, "the gradients still carried the loss scale"},
    {Variant::not_clipped, "the gradients were not clipped"},
    {Variant::from_values, "the rounded values were updated, not the master weights"},
    {Variant::unchanged, "nothing was updated"}};

/// What one bucket holds.
struct BucketState {
    Tensor values, master, m, v;
    std::int64_t step;
};

/// The books of a run, and the buckets after it.
struct Outcome {
    std::vector<double> skipped, norms, scales;
    std::int64_t good_steps = 0;
    std::vector<BucketState> buckets;
};

/// Lesson 02's AdamW on the part's elements of every parameter.
void update_bucket(const OptimizerRun& run, const Bucket& bucket, Variant variant, double factor,
                   const Tensor& gradients, BucketState& state)
{
    const bool mixed = is_sixteen_bit(run.dtype);
    const Chunk part = run.part(bucket);
    ++state.step;
    if (variant == Variant::unchanged) return;
    if (variant == Variant::from_values && mixed)
        convert(std::as_const(state.values).buffer(), state.master.buffer());
    Tensor& weights = mixed ? state.master : state.values;
    const training::AdamW options{run.learning_rate, 0.9, 0.95, 1e-8, run.weight_decay};
    for (const FlatEntry& entry : bucket.entries) {
        const std::int64_t begin = std::max(entry.offset, part.offset);
        const std::int64_t count =
            std::min(entry.offset + entry.parameter->elements(), part.offset + part.count) - begin;
        if (count <= 0) continue;
        const bool decays =
            variant == Variant::all_decay || (variant != Variant::none_decays && entry.parameter->decays);
        training::adamw_update(options, state.step, factor, decays, gradients.buffer().part(begin, count),
                               state.m.buffer().part(begin, count), state.v.buffer().part(begin, count),
                               weights.buffer().part(begin, count));
    }
    if (mixed)
        convert(std::as_const(state.master).buffer().part(part.offset, part.count),
                state.values.buffer().part(part.offset, part.count));
}

Outcome outcome_of(Device& device, const OptimizerRun& run, const std::vector<Bucket>& buckets,
                   const Start& start, Variant variant)
{
    Outcome outcome;
    training::LossScale scale{run.scale, run.good_steps, growth_interval, 16777216.0, 1.0};
    for (std::size_t b = 0; b < buckets.size(); ++b)
        outcome.buckets.push_back({tensor_of(device, start.values[b], run.dtype),
                                   tensor_of(device, start.master[b], run.states_dtype()),
                                   tensor_of(device, start.m[b], run.states_dtype()),
                                   tensor_of(device, start.v[b], run.states_dtype()), run.done});
    for (std::size_t s = 0; s < run.overflows.size(); ++s) {
        const double divisor = run.scaled ? scale.scale : 1.0;
        const bool skipped = run.overflows[s] > 0;
        if (run.scaled) training::update_loss_scale(scale, skipped);
        const std::vector<double> terms = terms_of(run, buckets, start, s);
        const double norm = training::global_norm(std::span(terms).subspan(1)) / divisor;
        outcome.skipped.push_back(skipped ? 1.0 : 0.0);
        outcome.norms.push_back(skipped ? 0.0 : norm);
        outcome.scales.push_back(scale.scale);
        if (skipped) continue;
        const double clip = variant == Variant::not_clipped ? 1.0 : training::clip_factor(norm, run.max_norm);
        const double factor = clip / (variant == Variant::not_unscaled ? 1.0 : divisor);
        for (std::size_t b = 0; b < buckets.size(); ++b)
            update_bucket(run, buckets[b], variant, factor,
                          tensor_of(device, start.gradients[s][b], run.dtype), outcome.buckets[b]);
    }
    outcome.good_steps = scale.good_steps;
    return outcome;
}

std::vector<std::string> check_books(const OptimizerRun& run, const Outcome& expected, const json& out)
{
    std::vector<std::string> messages;
    for (std::size_t s = 0; s < expected.skipped.size(); ++s) {
        const auto got = [&](const char* name) { return out.at(name).at(s).get<double>(); };
        if (got("skipped") != expected.skipped[s])
            messages.push_back(fmt::format("step {} {}", s + 1,
                                           expected.skipped[s] != 0.0
                                               ? "was not skipped: gradients overflowed on a rank"
                                               : "was skipped without an overflow"));
        std::string norm = compare_number(fmt::format("the gradient norm of step {}", s + 1), got("norms"),
                                          expected.norms[s], {});
        if (!norm.empty() && run.scale != 1.0 &&
            std::abs(got("norms") / run.scale / expected.norms[s] - 1.0) < 1e-9)
            norm += ": the norm is that of the unscaled gradients";
        else if (!norm.empty())
            norm += ": it is the root of all terms but the first, added in their order";
        messages.push_back(norm);
        messages.push_back(compare_number(fmt::format("the loss scale after step {}", s + 1), got("scales"),
                                          expected.scales[s], {}));
    }
    messages.push_back(compare_number("the number of good steps", out.at("good_steps").get<double>(),
                                      static_cast<double>(expected.good_steps), {}));
    for (std::size_t b = 0; b < expected.buckets.size(); ++b) {
        const auto steps = static_cast<std::int64_t>(out.at(fmt::format("step {}", b)).get<double>());
        const std::int64_t right = expected.buckets[b].step;
        if (steps != right)
            messages.push_back(fmt::format(
                "bucket {} counts {} updates, expected {}: once a step that is not skipped, however many "
                "parameters or elements it has",
                b, steps, right));
    }
    return messages;
}

/// The first parameter, or padding, in which a tensor of a bucket is not as expected. `begin`: of what is
/// held.
std::string tensor_problem(const std::string& name, const Bucket& bucket, const json& got,
                           const Tensor& expected, std::int64_t begin)
{
    if (compare(name, got, expected, {}).empty()) return "";
    const auto values = got.at("values").get<std::vector<double>>();
    const std::vector<double> wanted = to_doubles(expected);
    for (std::size_t i = 0; i < std::min(values.size(), wanted.size()); ++i) {
        if (values[i] == wanted[i]) continue;
        const std::int64_t place = begin + static_cast<std::int64_t>(i);
        if (place >= bucket.elements)
            return fmt::format("the padding of {} holds {}, expected 0: it is no parameter", name, values[i]);
        for (const FlatEntry& entry : bucket.entries)
            if (place >= entry.offset && place < entry.offset + entry.parameter->elements())
                return fmt::format("{}: {}, which {}: element {} is {:.9g}, expected {:.9g}", name,
                                   entry.parameter->name,
                                   entry.parameter->decays ? "decays" : "does not decay",
                                   place - entry.offset, values[i], wanted[i]);
    }
    return compare(name, got, expected, {});
}

/// The first tensor that is not as expected.
std::string tensors_problem(const OptimizerRun& run, const std::vector<Bucket>& buckets,
                            const Outcome& expected, const json& out)
{
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const Chunk part = run.part(buckets[b]);
        const BucketState& state = expected.buckets[b];
        const auto held = [&](const Tensor& whole) { return whole.view(part.offset, {part.count}); };
        const auto problem = [&](const char* name, const Tensor& right, std::int64_t begin) {
            const json& got = out.at(fmt::format("{} {}", name, b));
            return tensor_problem(fmt::format("{} of bucket {}", name, b), buckets[b], got, right, begin);
        };
        std::string message = problem("values", state.values, 0);
        if (message.empty() && is_sixteen_bit(run.dtype))
            message = problem("master", held(state.master), part.offset);
        if (message.empty()) message = problem("m", held(state.m), part.offset);
        if (message.empty()) message = problem("v", held(state.v), part.offset);
        if (!message.empty()) return message;
    }
    return "";
}

std::vector<std::string> check_outcome(const OptimizerRun& run, const RankResult& result)
{
    const ParameterModel model(run.model);
    const std::vector<Bucket> buckets = run.buckets(model);
    const Start start = start_of(run, buckets);
    Device device{DeviceOptions{}};
    const json& out = result.outputs;
    const Outcome expected = outcome_of(device, run, buckets, start, Variant::right);
    std::vector<std::string> messages = check_books(run, expected, out);
    std::string message = tensors_problem(run, buckets, expected, out);
    for (const auto& [variant, cause] : wrong_variants)
        if (!message.empty() &&
            tensors_problem(run, buckets, outcome_of(device, run, buckets, start, variant), out).empty())
            messages.push_back(fmt::format("{} ({})", cause, std::exchange(message, "")));
    messages.push_back(message);
    for (std::size_t b = 0; b < buckets.size() && run.overflows.back() == 0; ++b)
        if (out.at(fmt::format("gradients {}", b)).at("values") != json(start.gradients.back()[b]))
            messages.push_back(fmt::format("the gradients of bucket {} were changed: they are only read", b));
    if (result.measured.at("peak") != result.measured.at("begin"))
        messages.push_back(fmt::format("allocated {} bytes of the device: an update needs none",
                                       result.measured.at("peak").get<std::int64_t>() -
                                           result.measured.at("begin").get<std::int64_t>()));
    return messages;
}

std::string full_name(const OptimizerRun& run)
{
    return fmt::format("{}, {}, degree {}{}, bucket_bytes {}", run.name, name_of(run.dtype), run.degree,
                       run.replicated() ? "" : fmt::format(", the parts of rank {}", run.rank),
                       run.bucket_bytes());
}

}  // namespace

NamedCase optimizer_case(const OptimizerRun& run)
{
    const ParameterModel model(run.model);
    const std::vector<Bucket> buckets = run.buckets(model);
    return {full_name(run), one_rank("optimizer_steps", inputs_of(run, buckets, start_of(run, buckets))),
            [=](const RankResult& result) { return check_outcome(run, result); }};
}

}  // namespace data_parallel_test
