#include "tests/05_zero/optimizer_check.hpp"

#include <memory>

#include "tests/05_zero/bits.hpp"
#include "tests/05_zero/doubling.hpp"
#include "tests/05_zero/held.hpp"
#include "tests/05_zero/moments.hpp"
#include "tests/05_zero/whole_parts.hpp"

namespace zero_test {

namespace {

const training::AdamW adamw{1e-2, 0.8, 0.9, 1e-6, 0.3};

/// The same updates over whole buckets.
struct Expected {
    explicit Expected(const OptimizerCase& one);

    Geometry geometry;
    Device device{DeviceOptions{}};
    WholeValues values;
    WholeGradients gradients;
    std::unique_ptr<data_parallel::Optimizer> optimizer;
    Updates updates;
    std::vector<double> gathers;
    std::vector<Tensor> first;  // the values of every bucket
    std::size_t terms = 1;      // of the norm: norm_terms
};

Expected::Expected(const OptimizerCase& one) : geometry(one.setup)
{
    const auto seed = static_cast<std::uint64_t>(one.setup.seed);
    for (const Bucket& bucket : geometry.buckets) {
        values.tensors.push_back(initial_values(device, bucket, one.setup.dtype, seed));
        gradients.tensors.emplace_back(device, Shape{bucket.padded}, one.setup.dtype, Category::gradients);
        terms += data_parallel::segments_of(bucket, one.setup.degree).size();
    }
    optimizer =
        data_parallel::make_replicated_optimizer(geometry.buckets, one.setup.degree, values, gradients);
    const std::size_t buckets = geometry.buckets.size();
    for (std::size_t b = 0; b < buckets; ++b) optimizer->states(b).step = one.first_step;
    for (const Tensor& tensor : values.tensors) first.push_back(tensor.clone(Category::workspace));
    training::LossScale scale;
    scale.scale = one.scale;
    scale.growth_interval = 2;
    double gathered = 0.0;
    for (std::int64_t step = 0; step < one.steps; ++step) {
        for (std::size_t b = 0; b < buckets; ++b) {
            const auto found = one.overflow.find({step, b});
            from_doubles(step_gradients(geometry.buckets[b], seed, step,
                                        found == one.overflow.end() ? std::vector<double>{} : found->second),
                         gradients.tensors[b]);
        }
        const auto result = optimizer->update(adamw, one.max_norm, one.scale > 0.0 ? &scale : nullptr);
        updates.add(result, scale);
        gathered += result.skipped ? 0.0 : 1.0;
        gathers.push_back(gathered);
    }
}

std::vector<std::string> compare_costs(const OptimizerCase& one, const Expected& expected,
                                       const RankResult& result, int rank)
{
    std::vector<std::string> messages;
    const Geometry& geometry = expected.geometry;
    const std::uint64_t states =
        geometry.shards(one.setup.degree) / geometry.element * state_bytes_of_element(one.setup.dtype);
    const Moment made = moment_of(result, "made");
    if (made.bytes != states || made.peak != states)
        messages.push_back(
            fmt::format("{} bytes of optimizer states are held and up to {} were, expected {}: those of the "
                        "own shards alone",
                        made.bytes, made.peak, states));
    const std::uint64_t count = doubling_messages(one.setup.degree, rank);
    const std::uint64_t bytes = count * expected.terms * sizeof(double);
    for (std::int64_t step = 0; step < one.steps && messages.empty(); ++step) {
        const Moment update = moment_of(result, fmt::format("update {}", step));
        if (update.control != count || update.control_bytes != bytes)
            messages.push_back(
                fmt::format("{} messages with {} bytes were sent over group.control in update {}, expected "
                            "{} with {}: the "
                            "terms of the norm, by recursive doubling",
                            update.control, update.control_bytes, step + 1, count, bytes));
        if (update.bytes != states || update.peak != states)
            messages.push_back(fmt::format("update {} took {} bytes of optimizer states, expected {}",
                                           step + 1, update.peak, states));
    }
    if (moment_of(result, "gone").bytes > 0)
        messages.push_back("optimizer states are left when it is destroyed");
    return messages;
}

std::vector<std::string> compare_values(const OptimizerCase& one, const Expected& expected,
                                        const json& outputs, int rank)
{
    std::vector<std::string> messages;
    const auto gathers = outputs.at("gathers").get<std::vector<double>>();
    for (std::size_t step = 0; step < gathers.size(); ++step)
        if (gathers[step] != expected.gathers[step])
            return {fmt::format(
                "after update {} gather_shards() has been called {} times, expected {}: once in every update "
                "that is not skipped",
                step + 1, gathers[step], expected.gathers[step])};
    const std::vector<Bucket>& buckets = expected.geometry.buckets;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const Chunk own = buckets[b].shard(one.setup.degree, rank);
        const Chunk held = one.whole ? Chunk{0, buckets[b].padded} : own;
        const auto compare_part = [&](const std::string& what, const std::string& key, const Tensor& whole,
                                      const Chunk& only) {
            messages.push_back(
                compare_bits(what, buckets, b, outputs.at(fmt::format("{} {}", key, b)), held, whole, only));
        };
        compare_part("when gather_shards() is called last, the value", "gathered", expected.values.tensors[b],
                     own);
        const std::string what =
            "when gather_shards() is called, the value (of another rank's shard, not to be changed)";
        compare_part(what, "gathered", expected.first[b], {0, own.offset});
        compare_part(what, "gathered", expected.first[b],
                     {own.offset + own.count, buckets[b].padded - own.offset - own.count});
        compare_part("in the end the value", "values", expected.values.tensors[b], own);
    }
    return messages;
}

}  // namespace

std::string OptimizerCase::name() const
{
    return fmt::format("{}, {}{}{}", setup.name(), whole ? "whole values" : "values in shards",
                       scale > 0.0 ? fmt::format(", loss scale {}", scale) : "",
                       overflow.empty() ? "" : ", overflow on one rank");
}

NamedCase optimizer_case(const OptimizerCase& one)
{
    NamedCase named;
    named.name = one.name();
    named.if_stuck = "Every rank must take part in the sum of the norm's terms.";
    json inputs{{"whole", one.whole},
                {"max_norm", one.max_norm},
                {"scaled", one.scale > 0.0},
                {"scale", one.scale},
                {"steps", one.steps},
                {"first_step", one.first_step},
                {"learning_rate", adamw.learning_rate},
                {"beta1", adamw.beta1},
                {"beta2", adamw.beta2},
                {"epsilon", adamw.epsilon},
                {"weight_decay", adamw.weight_decay}};
    const auto expected = std::make_shared<Expected>(one);
    for (std::int64_t step = 0; step < one.steps; ++step)
        for (std::size_t b = 0; b < expected->geometry.buckets.size(); ++b) {
            const auto found = one.overflow.find({step, b});
            inputs[fmt::format("overflow {} {}", step, b)] =
                found == one.overflow.end() ? std::vector<double>{} : found->second;
        }
    named.input = case_input(one.setup, "optimizer", inputs);
    named.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        const auto ranks = members(result, one.setup.degree);
        for (int rank = 0; rank < one.setup.degree; ++rank) {
            const RankResult& own = *ranks[static_cast<std::size_t>(rank)];
            const auto add = [&](const std::vector<std::string>& found) {
                for (const std::string& message : found) messages.push_back(on_rank(rank, message));
            };
            add(compare_updates(own.outputs, expected->updates));
            add(compare_costs(one, *expected, own, rank));
            add(compare_states(own.outputs, expected->geometry.buckets, one.setup.degree, rank,
                               *expected->optimizer));
            add(compare_values(one, *expected, own.outputs, rank));
        }
        return messages;
    };
    return named;
}

}  // namespace zero_test
