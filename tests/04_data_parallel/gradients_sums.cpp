#include "tests/04_data_parallel/gradients_local.hpp"

namespace data_parallel_test {

namespace {

std::vector<Tensor> sums_of(const GradientsRun& run, Local& local, std::int64_t step)
{
    std::vector<std::vector<Tensor>> ranks;
    for (int rank = 0; rank < run.ranks; ++rank) ranks.push_back(local.gradients(run, rank, step));
    return ring_sums(local.buckets, ranks);
}

/// Whose gradients a sum holds, when the ranks' are 1, 2, 4, … times `unit`.
std::string cause_of(const GradientsRun& run, int rank, double got, double expected)
{
    if (run.random || run.silent_rank >= 0) return "";
    const double all = std::exp2(run.ranks) - 1.0;
    const double held = got / (expected / all);
    if (held == std::exp2(rank)) return ": this rank's own gradients alone, never summed";
    if (held * run.ranks == all) return ": divided by the ranks; token_weight does that already";
    if (held == all * run.ranks) return ": times the number of ranks";
    if (held != std::floor(held) || held <= 0.0 || held > all) return "";
    std::string missing;
    for (int other = 0; other < run.ranks; ++other)
        if ((static_cast<std::int64_t>(held) >> other) % 2 == 0) missing += fmt::format(" {}", other);
    return fmt::format(": without the gradients of ranks{}", missing);
}

std::string sum_problem(const GradientsRun& run, const Local& local, int rank, const RankResult& result,
                        std::int64_t step, std::size_t b, const Tensor& sum)
{
    const std::vector<std::int64_t> part = indices(result, fmt::format("part {} {}", step, b));
    const data_parallel::Bucket& bucket = local.buckets[b];
    const data_parallel::Chunk own =
        run.all ? data_parallel::Chunk{0, bucket.padded} : bucket.shard(run.ranks, rank);
    if (part[0] != own.offset || part[1] != own.count)
        return fmt::format("bucket {}: says it holds the sums of elements [{}, {}), expected [{}, {})", b,
                           part[0], part[0] + part[1], own.offset, own.offset + own.count);
    const json& got = result.outputs.at(fmt::format("sum {} {}", step, b));
    const Tensor expected = sum.view(own.offset, {own.count});
    const std::string message = compare(fmt::format("step {}: bucket {}", step + 1, b), got, expected, {});
    if (message.empty()) return "";
    const auto values = got.at("values").get<std::vector<double>>();
    const std::vector<double> wanted = to_doubles(expected);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == wanted[i]) continue;
        if (own.offset + static_cast<std::int64_t>(i) >= bucket.elements)
            return message + ": that is padding, which stays 0";
        return message + cause_of(run, rank, values[i], wanted[i]);
    }
    return message;
}

/// After which calls how many bytes were sent.
std::string sent_problem(const GradientsRun& run, const Local& local, const RankResult& result)
{
    const auto bytes = result.outputs.at("bytes").get<std::vector<double>>();
    const std::size_t modules = run.model.modules.size();
    std::size_t call = 0;
    for (std::int64_t step = 0; step < run.steps; ++step) {
        for (std::int64_t m = 0; m < run.micro_batches; ++m)
            for (std::size_t i = modules; i-- > 0;) {
                std::int64_t expected = 0;
                std::string buckets;
                for (std::size_t b = 0; b < local.buckets.size(); ++b) {
                    if (local.buckets[b].first_module != i || m + 1 < run.micro_batches) continue;
                    expected += run.sent_bytes(local.buckets[b].padded);
                    buckets =
                        fmt::format(" (bucket {}, of modules [{}, {}))", b, i, local.buckets[b].last_module);
                }
                const auto got = static_cast<std::int64_t>(bytes.at(call++));
                if (got != expected)
                    return fmt::format(
                        "step {}: sent {} bytes after the backward pass of module {} over "
                        "micro-batch {} of {}, expected {}{}",
                        step + 1, got, i, m, run.micro_batches, expected, buckets);
            }
        if (bytes.at(call++) != 0.0)
            return fmt::format(
                "step {}: sent {} bytes in finish(): a bucket is to be summed as soon as the "
                "last of its modules is done",
                step + 1, bytes[call - 1]);
    }
    return "";
}

std::string memory_problem(const GradientsRun& run, const Local& local, const RankResult& result)
{
    std::int64_t gradients = 0, chunk = 0;
    for (const data_parallel::Bucket& bucket : local.buckets) {
        gradients += bucket.padded * run.size();
        chunk = std::max(chunk, bucket.padded / run.ranks * run.size());
    }
    const auto bytes = [&](const char* name, Category category) {
        return result.measured.at(name).at(static_cast<std::size_t>(category)).get<std::int64_t>();
    };
    if (bytes("current_by", Category::gradients) != gradients ||
        bytes("peak_by", Category::gradients) != gradients)
        return fmt::format(
            "holds {} bytes of gradients and held {} at most, expected {}: every bucket, padded, "
            "all the time",
            bytes("current_by", Category::gradients), bytes("peak_by", Category::gradients), gradients);
    if (bytes("current_by", Category::workspace) > 0)
        return fmt::format(
            "{} bytes of second gradients are left after the step: they are to be merged before "
            "their bucket is summed",
            bytes("current_by", Category::workspace));
    if (bytes("current_by", Category::communication) > 0 || bytes("peak_by", Category::communication) > chunk)
        return fmt::format("needed {} bytes of communication buffers, expected at most the {} of one chunk",
                           bytes("peak_by", Category::communication), chunk);
    return "";
}

std::vector<std::string> check_sums(const GradientsRun& run, const CaseResult& result)
{
    Local local(run);
    std::vector<std::string> messages;
    // The first rank that has a problem speaks for all.
    const auto each_rank = [&](const auto& problem) {
        for (int rank = 0; rank < run.ranks; ++rank) {
            messages.push_back(on_rank(rank, problem(rank, result.ranks[static_cast<std::size_t>(rank)])));
            if (!messages.back().empty()) return;
        }
    };
    each_rank([&](int, const RankResult& own) { return sent_problem(run, local, own); });
    each_rank([&](int, const RankResult& own) { return memory_problem(run, local, own); });
    for (std::int64_t step = 0; step < run.steps; ++step) {
        const std::vector<Tensor> sums = sums_of(run, local, step);
        if (step > 0 && !join(messages).empty()) break;
        for (std::size_t b = 0; b < local.buckets.size(); ++b)
            each_rank([&](int rank, const RankResult& own) {
                const std::string message = sum_problem(run, local, rank, own, step, b, sums[b]);
                return message.empty() || step == 0
                           ? message
                           : message + ": step 1 was right; do the gradients begin at zero again?";
            });
    }
    each_rank([&](int, const RankResult& own) {
        return own.outputs.at("control bytes").get<double>() > 0.0
                   ? std::string("sent gradients over group.control, expected group.data")
                   : "";
    });
    std::int64_t bytes = 0, messages_sent = 0;
    for (const data_parallel::Bucket& bucket : local.buckets) {
        bytes += run.steps * run.sent_bytes(bucket.padded);
        messages_sent += run.steps * (run.all ? 2 : 1) * (run.ranks - 1);
    }
    each_rank([&](int rank, const RankResult& own) {
        return compare_traffic(own, run.ranks == 1 ? -1 : (rank + 1) % run.ranks,
                               static_cast<std::uint64_t>(messages_sent), static_cast<std::uint64_t>(bytes));
    });
    return messages;
}

}  // namespace

NamedCase sums_case(const GradientsRun& run)
{
    return case_of(run, [=](const CaseResult& result) { return check_sums(run, result); });
}

}  // namespace data_parallel_test
