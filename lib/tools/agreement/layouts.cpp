#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "lib/machine/base/error.hpp"
#include "lib/tools/agreement/sweep.hpp"

namespace shardlings::agreement {

namespace {

/// What else a grid can be combined with.
std::vector<std::string> zero_choices(int dp)
{
    if (dp == 1) return {""};
    return {"", " --zero 1", " --zero 2", " --zero 3"};
}

std::vector<std::string> schedule_choices(int pp)
{
    if (pp == 1) return {""};
    return {" --schedule naive", " --schedule gpipe", " --schedule 1f1b",
            " --schedule interleaved --virtual-stages 2"};
}

std::vector<std::string> sequence_choices(int tp)
{
    if (tp == 1) return {""};
    return {"", " --sequence-parallel"};
}

/// A batch with sequences for every data-parallel rank and micro-batch, two where that stays small.
std::string batch_of(int pp, int dp)
{
    const int micro_batches = std::max(2, pp);
    const int sequences = dp * micro_batches * (dp * micro_batches <= 8 ? 2 : 1);
    return fmt::format(" --batch {} --microbatches {}", sequences, micro_batches);
}

bool is_legal(const std::string& flags, const ParseFlags& parse)
{
    try {
        parse(flags);
        return true;
    } catch (const Error&) {
        return false;
    }
}

void append_layouts(int pp, int dp, int tp, const std::string& common, const ParseFlags& parse,
                    std::vector<LayoutCase>& cases)
{
    const std::string grid = fmt::format("--pp {} --dp {} --tp {}", pp, dp, tp);
    for (const std::string& sequence : sequence_choices(tp))
        for (const std::string& zero : zero_choices(dp))
            for (const std::string& schedule : schedule_choices(pp))
                for (const char* recompute : {"", " --recompute selective", " --recompute full"}) {
                    const std::string flags =
                        grid + sequence + zero + schedule + recompute + batch_of(pp, dp);
                    if (is_legal(common + " " + flags, parse)) cases.push_back({pp * dp * tp, flags});
                }
}

}  // namespace

std::vector<LayoutCase> legal_layouts(int most_ranks, const std::string& common, const ParseFlags& parse)
{
    std::vector<LayoutCase> cases;
    for (int tp = 1; tp <= most_ranks; ++tp)
        for (int dp = 1; tp * dp <= most_ranks; ++dp)
            for (int pp = 1; tp * dp * pp <= most_ranks; ++pp)
                append_layouts(pp, dp, tp, common, parse, cases);
    std::ranges::stable_sort(cases, {}, &LayoutCase::ranks);
    return cases;
}

std::vector<LayoutCase> sample(std::vector<LayoutCase> cases, std::size_t count, std::uint64_t seed)
{
    std::vector<LayoutCase> chosen;
    std::mt19937_64 generator(seed);
    std::ranges::sample(cases, std::back_inserter(chosen), static_cast<std::ptrdiff_t>(count), generator);
    return chosen;
}

}  // namespace shardlings::agreement
