#include "tests/05_zero/whole_parts.hpp"

#include "tests/05_zero/bits.hpp"

namespace zero_test {

std::vector<std::string> compare_updates(const json& outputs, const Updates& expected)
{
    std::vector<std::string> messages;
    const auto compare_steps = [&](const char* name, const std::string& what,
                                   const std::vector<double>& wanted, const std::string& cause) {
        const auto got = outputs.at(name).get<std::vector<double>>();
        for (std::size_t step = 0; step < wanted.size(); ++step)
            if (got.at(step) != wanted[step]) {
                messages.push_back(fmt::format("{} of step {} is {:.17g}, expected {:.17g}: {}", what,
                                               step + 1, got[step], wanted[step], cause));
                return;
            }
    };
    compare_steps("skipped", "whether the update is skipped (1) or not (0)", expected.skipped,
                  "an overflow on any rank makes all ranks skip the step");
    compare_steps("norms", "the norm", expected.norms,
                  "it is that of the whole model: the terms of all ranks, added in the order of norm_terms");
    compare_steps("scales", "the loss scale after the update", expected.scales,
                  "every rank changes it alike, once a step");
    return messages;
}

std::uint64_t state_bytes_of_element(DType dtype)
{
    return is_sixteen_bit(dtype) ? 12 : 2 * size_of(dtype);
}

std::vector<std::string> compare_states(const json& outputs, const std::vector<Bucket>& buckets, int degree,
                                        int rank, data_parallel::Optimizer& expected)
{
    std::vector<std::string> messages;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const auto part = outputs.at(fmt::format("part {}", b)).get<std::vector<double>>();
        const Chunk own = buckets[b].shard(degree, rank);
        if (part != std::vector<double>{static_cast<double>(own.offset), static_cast<double>(own.count)}) {
            messages.push_back(fmt::format("part({}) is elements [{}, {}), expected [{}, {})", b, part.at(0),
                                           part.at(0) + part.at(1), own.offset, own.offset + own.count));
            continue;
        }
        const training::OptimizerStates& states = expected.states(b);
        const auto step = outputs.at(fmt::format("step {}", b)).get<double>();
        if (step != static_cast<double>(states.step))
            messages.push_back(
                fmt::format("the step count of bucket {} is {}, expected {}: it is the same for all shards",
                            b, step, states.step));
        const auto compare_state = [&](const std::string& name, const Tensor& whole) {
            if (whole.empty()) return;
            const std::string key = fmt::format("{} {}", name, b);
            messages.push_back(outputs.contains(key)
                                   ? compare_bits(name, buckets, b, outputs.at(key), own, whole, own)
                                   : fmt::format("{} of bucket {} is missing", name, b));
        };
        compare_state("m", states.m);
        compare_state("v", states.v);
        compare_state("master", states.master);
    }
    return messages;
}

}  // namespace zero_test
