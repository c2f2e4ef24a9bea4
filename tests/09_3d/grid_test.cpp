#include "lessons/09_3d/grid.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "tests/lib/run_and_check.hpp"

using namespace grade;
using grid::Coordinates;
using grid::Grid;

namespace {

std::string name_of(const Grid& grid)
{
    return fmt::format("pp {} x dp {} x tp {}", grid.pp, grid.dp, grid.tp);
}

json inputs_of(const Grid& grid)
{
    return {{"pp", grid.pp}, {"dp", grid.dp}, {"tp", grid.tp}};
}

/// Counts through the grid as a number of three digits, tp the last.
std::vector<Coordinates> all_coordinates(const Grid& grid)
{
    std::vector<Coordinates> all;
    for (int pp = 0; pp < grid.pp; ++pp)
        for (int dp = 0; dp < grid.dp; ++dp)
            for (int tp = 0; tp < grid.tp; ++tp) all.push_back({pp, dp, tp});
    return all;
}

std::string text_of(const Coordinates& at)
{
    return fmt::format("(pp {}, dp {}, tp {})", at.pp, at.dp, at.tp);
}

std::string compare_coordinates(const Grid& grid, const json& out)
{
    const auto got = out.at("coordinates").get<std::vector<double>>();
    const std::vector<Coordinates> expected = all_coordinates(grid);
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
        const Coordinates at{static_cast<int>(got.at(3 * rank)), static_cast<int>(got.at(3 * rank + 1)),
                             static_cast<int>(got.at(3 * rank + 2))};
        if (!(at == expected[rank]))
            return fmt::format(
                "coordinates_of({}) is {}, expected {}: from one rank to the next tp changes first, then dp, "
                "then pp",
                rank, text_of(at), text_of(expected[rank]));
    }
    return "";
}

std::string compare_ranks(const Grid& grid, const json& out)
{
    const auto got = out.at("ranks").get<std::vector<double>>();
    const std::vector<Coordinates> all = all_coordinates(grid);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (got.at(rank) != static_cast<double>(rank))
            return fmt::format("rank_of({}) is {}, expected {} = (pp · DP + dp) · TP + tp",
                               text_of(all[rank]), got[rank], rank);
    return "";
}

/// Every call of these must have ended with an Error that names the degrees.
std::vector<std::string> compare_refusals(const Grid& grid, const json& out)
{
    std::vector<std::string> messages;
    for (const auto& [call, message] : out.items()) {
        if (!message.is_string()) continue;
        const auto text = message.get<std::string>();
        if (text.empty())
            messages.push_back(fmt::format("{} is accepted, expected an Error: it is not in the grid", call));
        else if (text.find(fmt::format("pp {}", grid.pp)) == std::string::npos)
            messages.push_back(
                fmt::format("{} is refused with '{}', which does not say how large the grid is", call, text));
    }
    return messages;
}

NamedCase coordinates_case(const Grid& grid)
{
    json inputs = inputs_of(grid);
    inputs["bad_ranks"] = {-1, grid.ranks(), grid.ranks() + 1};
    inputs["bad_coordinates"] = {grid.pp, 0, 0, 0, grid.dp, 0, 0, 0, grid.tp, -1, 0, 0, 0, -1, 0, 0, 0, -1};
    return {name_of(grid), one_rank("coordinates", inputs), [grid](const RankResult& result) {
                std::vector<std::string> messages = compare_refusals(grid, result.outputs);
                messages.insert(messages.begin(), {compare_coordinates(grid, result.outputs),
                                                   compare_ranks(grid, result.outputs)});
                return messages;
            }};
}

// --- groups ---------------------------------------------------------------------------------------------

/// A grid over a world whose rank r is the job's rank r, or with `reversed` the other way round.
struct GroupsRun {
    Grid grid;
    bool reversed = false;

    int job_rank(int rank) const { return reversed ? grid.ranks() - 1 - rank : rank; }
};

std::string list_of(const std::vector<double>& members)
{
    return fmt::format("[{}]", fmt::join(members, ", "));
}

/// The ranks whose powers of two add up to `sum`.
std::string members_of_sum(double sum)
{
    std::vector<double> members;
    for (int rank = 0; sum >= 1.0 && rank < 53; ++rank, sum = std::floor(sum / 2.0))
        if (std::fmod(sum, 2.0) != 0.0) members.push_back(rank);
    return list_of(members);
}

/// What the group called `name` is on one rank; `line`: its members' coordinates, in order; `own`: which of
/// them this rank is.
std::vector<std::string> compare_group(const GroupsRun& run, const std::string& name,
                                       const std::vector<Coordinates>& line, int own, const json& out)
{
    std::vector<double> expected;
    double sum = 0.0;
    for (const Coordinates& at : line) {
        const int rank = run.job_rank((at.pp * run.grid.dp + at.dp) * run.grid.tp + at.tp);
        expected.push_back(rank);
        sum += std::ldexp(1.0, rank);
    }
    const auto members = out.at(name + " members").get<std::vector<double>>();
    if (members != expected)
        return {fmt::format("the {} group has the ranks {}, expected {} in this order", name,
                            list_of(members), list_of(expected))};
    const auto rank = out.at(name + " rank").get<double>();
    if (rank != own) return {fmt::format("its rank in the {} group is {}, expected {}", name, rank, own)};
    const auto got = out.at(name + " sum").get<double>();
    if (got != sum)
        return {fmt::format("2^rank summed over the {} group is {}, that is over the ranks {}, expected {}",
                            name, got, members_of_sum(got), list_of(expected))};
    return {};
}

std::vector<std::string> compare_groups(const GroupsRun& run, const Coordinates& at, const json& out)
{
    const Grid& grid = run.grid;
    std::vector<Coordinates> pipeline, data, tensor;
    for (int i = 0; i < grid.pp; ++i) pipeline.push_back({i, at.dp, at.tp});
    for (int i = 0; i < grid.dp; ++i) data.push_back({at.pp, i, at.tp});
    for (int i = 0; i < grid.tp; ++i) tensor.push_back({at.pp, at.dp, i});
    const int rank = (at.pp * grid.dp + at.dp) * grid.tp + at.tp;
    std::vector<std::string> messages;
    const auto compare = [&](const char* name, const std::vector<Coordinates>& line, int own) {
        for (const std::string& message : compare_group(run, name, line, own, out))
            messages.push_back(fmt::format("at {}: {}", text_of(at), message));
    };
    compare("everyone", all_coordinates(grid), rank);
    compare("pipeline", pipeline, at.pp);
    compare("data", data, at.dp);
    compare("control", data, at.dp);
    compare("tensor", tensor, at.tp);
    return messages;
}

NamedCase groups_case(const GroupsRun& run)
{
    CaseInput input{"groups", std::vector<json>(static_cast<std::size_t>(run.grid.ranks()))};
    for (int rank = 0; rank < run.grid.ranks(); ++rank) {
        json& own = input.ranks[static_cast<std::size_t>(run.job_rank(rank))];
        own = inputs_of(run.grid);
        own["key"] = rank;
    }
    return {name_of(run.grid) + (run.reversed ? ", a world in reverse order" : ""), input,
            [run](const CaseResult& result) {
                std::vector<std::string> messages;
                const std::vector<Coordinates> all = all_coordinates(run.grid);
                for (std::size_t rank = 0; rank < all.size(); ++rank) {
                    const int job_rank = run.job_rank(static_cast<int>(rank));
                    const RankResult& own = result.ranks[static_cast<std::size_t>(job_rank)];
                    for (const std::string& message : compare_groups(run, all[rank], own.outputs))
                        messages.push_back(on_rank(job_rank, message));
                    if (own.measured.at("messages").get<int>() > 0)
                        messages.push_back(on_rank(job_rank, "make_groups sends messages, expected none"));
                }
                return messages;
            },
            "every rank must call every split, in the same order"};
}

/// Another number of ranks than the grid's.
NamedCase refused_case(const Grid& grid, int ranks)
{
    CaseInput input{"groups_refused", std::vector<json>(static_cast<std::size_t>(ranks), inputs_of(grid))};
    return {fmt::format("{} on {} ranks", name_of(grid), ranks), input,
            [=](const CaseResult& result) {
                std::vector<std::string> messages;
                for (int rank = 0; rank < ranks; ++rank) {
                    const auto text = result.ranks[static_cast<std::size_t>(rank)].outputs.at("refusal");
                    if (text.get<std::string>().empty())
                        messages.push_back(on_rank(
                            rank, fmt::format("make_groups accepts {} ranks for a grid of {}, expected an "
                                              "Error on every rank",
                                              ranks, grid.ranks())));
                }
                return messages;
            },
            "all ranks must be refused before the first split"};
}

}  // namespace

TEST_CASE("09.1 coordinates_of and rank_of: the order of the ranks, and what is not in the grid", "[09.1]")
{
    std::vector<NamedCase> cases;
    for (const Grid& grid : {Grid{2, 3, 4}, Grid{4, 3, 2}, Grid{1, 2, 3}, Grid{3, 2, 1}, Grid{2, 1, 3},
                             Grid{5, 7, 3}, Grid{16, 8, 8}, Grid{1, 1, 1}, Grid{1, 6, 1}})
        cases.push_back(coordinates_case(grid));
    run_and_check("grid", cases);
}

TEST_CASE("09.1 make_groups: who is in which group, in which order", "[09.1]")
{
    run_and_check("grid",
                  {groups_case({{1, 1, 1}}), groups_case({{1, 2, 3}}), groups_case({{3, 1, 2}}),
                   groups_case({{3, 2, 1}}), groups_case({{2, 3, 2}, true}), refused_case({1, 2, 3}, 5),
                   refused_case({1, 2, 2}, 6), groups_case({{2, 3, 4}}), groups_case({{4, 3, 2}})},
                  20.0);
}
