// The cross-entropy of 64 rows of GPT-2's 50257 logits, cut over 2, 4 and 8 ranks: what a rank has and sends,
// and the loss beside one process's.
#include <cmath>

#include "lessons/01_transformer/cross_entropy.hpp"
#include "lessons/08_tensor_parallel/run.hpp"
#include "lessons/08_tensor_parallel/vocabulary.hpp"

using namespace lesson;

namespace {

constexpr std::int64_t rows = 64;
constexpr std::int64_t vocabulary = 50257;

/// The entries' logits of every row: a row's number j is the same whoever draws it.
Tensor logits_of(Device& device, const collectives::Chunk& entries)
{
    const RandomStream stream(1, "logits");
    Tensor logits(device, {rows, entries.count}, DType::fp64, Category::activations);
    const std::span<double> values = logits.span<double>();
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t j = 0; j < entries.count; ++j)
            values[static_cast<std::size_t>(row * entries.count + j)] =
                3.0 * stream.normal(static_cast<std::uint64_t>(row * vocabulary + entries.offset + j));
    return logits;
}

struct Figures {
    std::int64_t entries;
    double messages;
    double bytes;
    double loss;
};

Figures measure(Comm& group)
{
    std::vector<std::int32_t> targets;
    for (std::int64_t row = 0; row < rows; ++row)
        targets.push_back(static_cast<std::int32_t>(row * 785 % vocabulary));
    const collectives::Chunk entries = collectives::chunk_of(vocabulary, group.size(), group.rank());
    const tensor_parallel::CrossEntropy out = tensor_parallel::cross_entropy_forward(
        group, entries, logits_of(group.device(), entries), targets, 1.0 / rows);
    const Traffic::Count sent = group.traffic().total;
    return {entries.count, static_cast<double>(sent.messages), static_cast<double>(sent.bytes),
            out.loss.span<const double>()[0]};
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print(
                "        entries of         sent by rank 0                  all logits by\n"
                "T    rank 0 last rank   messages  bytes  predicted       an all-gather   loss\n");
        for (const int degree : {1, 2, 4, 8})
            on_grid(session, tensor_run(degree), [&](Comm& group) {
                const Figures own = measure(group);
                const auto all = gather_numbers(group, {static_cast<double>(own.entries)});
                if (group.rank() != 0) return;
                const double predicted = 8.0 * (rows * (degree - 1) + std::log2(degree));
                // Rank 0 passes on every chunk but its right neighbour's.
                const double gathered = degree == 1 ? 0.0 : 8.0 * rows * (vocabulary - all[1][0]);
                fmt::print("{}{:>10}{:>10}{:>11}{:>7}{:>11}{:>20}   {:.10f}\n", degree, own.entries,
                           all.back()[0], own.messages, own.bytes, predicted, gathered, own.loss);
            });
        return 0;
    });
}
