#include "tests/04_data_parallel/gradients_local.hpp"

namespace data_parallel_test {

namespace {

/// The clock around every call, which is the same on every rank.
std::string time_problem(const GradientsRun& run, const Local& local, const RankResult& result)
{
    const auto before = result.outputs.at("before").get<std::vector<double>>();
    const auto after = result.outputs.at("after").get<std::vector<double>>();
    double now = 0.0, communication = 0.0;
    std::size_t call = 0;
    // Every message and every computation rounds the clock once, by at most half an epsilon of it.
    const double roundings =
        static_cast<double>(after.size() +
                            local.buckets.size() * static_cast<std::size_t>(run.steps * 2 * run.ranks)) +
        8.0;
    const Tolerance tolerance{roundings * unit_roundoff(DType::fp64), 0.0};
    for (std::int64_t step = 0; step < run.steps; ++step) {
        for (std::int64_t m = 0; m < run.micro_batches; ++m)
            for (std::size_t i = run.model.modules.size(); i-- > 0; ++call) {
                now += run.seconds_of(i);
                for (const data_parallel::Bucket& bucket : local.buckets) {
                    if (bucket.first_module != i || m + 1 < run.micro_batches) continue;
                    communication = std::max(communication, now) + run.duration(bucket.padded);
                    if (!run.overlap) now = communication;
                }
                const std::string where =
                    fmt::format("after_backward of module {} over micro-batch {} of step {}", i, m, step + 1);
                if (run.overlap && after.at(call) != before.at(call))
                    return fmt::format(
                        "{} took {:.4g} s of the compute stream, expected 0: the sum runs "
                        "beside the backward pass",
                        where, after[call] - before[call]);
                const std::string message =
                    compare_number("the clock after " + where, after.at(call), now, tolerance);
                if (!message.empty()) return message + ": without overlap, the backward pass waits";
            }
        now = std::max(now, communication);
        const std::string message = compare_number(
            fmt::format("the clock after finish() of step {}", step + 1), after.at(call++), now, tolerance);
        if (!message.empty())
            return message +
                   ": bucket k is summed when its gradients are there and bucket k − 1 is done, and "
                   "finish() idles until the last one is";
    }
    return "";
}

}  // namespace

NamedCase time_case(const GradientsRun& run)
{
    return case_of(run, [=](const CaseResult& result) {
        const Local local(run);
        std::vector<std::string> messages;
        for (int rank = 0; rank < run.ranks && join(messages).empty(); ++rank)
            messages.push_back(
                on_rank(rank, time_problem(run, local, result.ranks[static_cast<std::size_t>(rank)])));
        return messages;
    });
}

}  // namespace data_parallel_test
