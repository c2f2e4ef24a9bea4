#include "tests/05_zero/training_check.hpp"

#include "tests/05_zero/bits.hpp"
#include "tests/05_zero/training_costs.hpp"

namespace zero_test {

namespace {

using Messages = std::vector<std::string>;

std::string compare_memory(const json& memory, std::size_t first, const std::string& name,
                           const Bytes& expected)
{
    const auto now = memory.at(first).get<double>(), peak = memory.at(first + 1).get<double>();
    if (now != static_cast<double>(expected.now))
        return fmt::format("{} bytes of {} are held after the last step, expected {}", now, name,
                           expected.now);
    if (peak > static_cast<double>(expected.peak))
        return fmt::format("up to {} bytes of {} were held, expected at most {}", peak, name, expected.peak);
    return "";
}

std::string compare_sent(const json& sent, const std::string& name, std::uint64_t messages,
                         std::uint64_t bytes)
{
    const auto got_messages = sent.at(0).get<double>(), got_bytes = sent.at(1).get<double>();
    if (got_messages == static_cast<double>(messages) && got_bytes == static_cast<double>(bytes)) return "";
    return fmt::format("{} messages with {} bytes were sent over group.{} in all, expected {} with {}",
                       got_messages, got_bytes, name, messages, bytes);
}

Messages compare_costs(const json& outputs, const TrainingCosts& expected)
{
    Messages messages;
    const json& memory = outputs.at("memory");
    messages.push_back(compare_memory(memory, 0, "parameters", expected.parameters));
    messages.push_back(compare_memory(memory, 2, "gradients", expected.gradients));
    messages.push_back(compare_memory(memory, 4, "optimizer states", expected.optimizer_states));
    messages.push_back(compare_sent(outputs.at("data"), "data", expected.messages, expected.sent));
    messages.push_back(
        compare_sent(outputs.at("control"), "control", expected.control_messages, expected.control_sent));
    const auto left = outputs.at("left").get<std::vector<double>>();
    for (std::size_t i = 0; i < left.size(); i += 2)
        if (left[i] > 0.0)
            messages.push_back("parameters, gradients or optimizer states are left when all is destroyed");
    return messages;
}

/// The first step whose loss is another than plain data parallelism's.
std::string compare_losses(const json& outputs, const std::vector<double>& expected)
{
    const auto got = outputs.at("losses").get<std::vector<double>>();
    for (std::size_t step = 0; step < expected.size(); ++step)
        if (got.at(step) != expected[step])
            return fmt::format(
                "the loss of step {} is {:.17g}, expected bitwise {:.17g}{}", step + 1, got[step],
                expected[step],
                step > 0 ? ": the passes compute with other values than the last update made" : "");
    return "";
}

Messages compare_values(const TrainingCase& one, const PlainRun& run, const json& outputs, int rank)
{
    Messages messages;
    for (std::size_t b = 0; b < run.buckets.size(); ++b) {
        const Chunk own =
            one.stage == 3 ? run.buckets[b].shard(one.degree, rank) : Chunk{0, run.buckets[b].padded};
        const auto held = outputs.at(fmt::format("held {}", b)).get<std::vector<double>>();
        if (held != std::vector<double>{static_cast<double>(own.offset), static_cast<double>(own.count)})
            messages.push_back(fmt::format("of bucket {} elements [{}, {}) are held, expected [{}, {})", b,
                                           held.at(0), held.at(0) + held.at(1), own.offset,
                                           own.offset + own.count));
        else
            messages.push_back(compare_bits(fmt::format("after {} steps the value", one.steps), run.buckets,
                                            b, outputs.at(fmt::format("values {}", b)), own,
                                            run.values.tensors[b], own));
    }
    return messages;
}

}  // namespace

CaseInput training_input(const TrainingCase& one, const std::string& operation)
{
    const json inputs{{"stage", one.stage},
                      {"layers", small_gpt.layers},
                      {"hidden", small_gpt.hidden},
                      {"heads", small_gpt.heads},
                      {"sequence", small_gpt.sequence},
                      {"vocabulary", small_gpt.vocabulary},
                      {"sequences", one.sequences()},
                      {"steps", one.steps},
                      {"recompute", one.recompute},
                      {"fetch", one.broadcast ? "broadcast" : "all_gather"},
                      {"gradient_buckets", one.gradient_buckets},
                      {"accumulate_in_shards", one.accumulate_in_shards},
                      {"max_norm", one.max_norm},
                      {"scaled", one.scaled()},
                      {"scale", one.first_scale()},
                      {"learning_rate", adamw.learning_rate},
                      {"beta1", adamw.beta1},
                      {"beta2", adamw.beta2},
                      {"epsilon", adamw.epsilon},
                      {"weight_decay", adamw.weight_decay}};
    Setup setup;
    setup.degree = one.degree;
    setup.dtype = one.dtype;
    setup.bucket_bytes = one.bucket_bytes;
    setup.micro_batches = one.micro_batches;
    setup.overlap = one.overlap;
    setup.seed = one.seed;
    return case_input(setup, operation, inputs);
}

NamedCase training_case(const TrainingCase& one)
{
    NamedCase named;
    named.name = one.name();
    named.if_stuck = "Every rank must take part in the same collectives in the same order.";
    named.input = training_input(one, "train");
    named.check = [=](const CaseResult& result) {
        const PlainRun run(one);
        Messages messages;
        const auto ranks = members(result, one.degree);
        for (int rank = 0; rank < one.degree; ++rank) {
            const json& outputs = ranks[static_cast<std::size_t>(rank)]->outputs;
            const auto add = [&](const Messages& found) {
                for (const std::string& message : found) messages.push_back(on_rank(rank, message));
            };
            add({compare_losses(outputs, run.losses[static_cast<std::size_t>(rank)])});
            add(compare_updates(outputs, run.updates));
            add(compare_values(one, run, outputs, rank));
            add(compare_states(outputs, run.buckets, one.degree, rank, *run.optimizer));
            add(compare_costs(outputs, training_costs(one, run, rank)));
        }
        return messages;
    };
    return named;
}

}  // namespace zero_test
