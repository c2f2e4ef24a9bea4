#include "tests/03_collectives/run.hpp"

#include <algorithm>
#include <numeric>

namespace collectives_test {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Digits large enough for what is added, small enough for the sum to be exact: n < 2^20 and sums below 2^53.
double base_for(std::size_t ranks)
{
    return ranks <= world_size ? 16.0 : 2.0;
}

std::string name_of_group(const Group& group)
{
    std::string text;
    for (const int rank : group) text += (text.empty() ? "" : " ") + std::to_string(rank);
    return text;
}

/// One group, of the world's first ranks in their order.
bool is_plain(const Run& run)
{
    return run.groups.size() == 1 && std::is_sorted(run.groups[0].begin(), run.groups[0].end()) &&
           run.groups[0].back() + 1 == static_cast<int>(run.groups[0].size());
}

std::string name_of_run(const Run& run)
{
    std::string text = fmt::format("{} of {} {}", run.function, run.n, name_of(run.dtype));
    if (run.function == "chain_broadcast") text += fmt::format(" in {} segments", run.segments);
    if (run.function.ends_with("broadcast")) text += fmt::format(" from {}", run.root);
    for (const Group& group : run.groups)
        text += fmt::format("{} p = {}", &group == &run.groups.front() ? "," : " and", group.size());
    if (!is_plain(run))
        for (const Group& group : run.groups)
            text += fmt::format("{} ranks {}", &group == &run.groups.front() ? " (the world's" : ";",
                                name_of_group(group)) +
                    (&group == &run.groups.back() ? ")" : "");
    if (run.grid_columns > 0) text += fmt::format(" in rows of {}, then in columns", run.grid_columns);
    if (run.topology.nodes > 1)
        text += fmt::format(" on {} x {}", run.topology.nodes, run.topology.devices_per_node);
    return text;
}

json inputs_of(const Run& run, int world_rank)
{
    json inputs{{"function", run.function},
                {"n", run.n},
                {"dtype", name_of(run.dtype)},
                {"base", run.pattern().base},
                {"seed", run.pattern().seed},
                {"pad", run.pad},
                {"repeat", run.repeat},
                {"root", run.root},
                {"segments", run.segments},
                {"start", run.starts.empty() ? 0.0 : run.starts[static_cast<std::size_t>(world_rank)]},
                {"takes_part", false},
                {"member", 0},
                {"colors", {run.groups.size()}},
                {"keys", {world_rank}}};
    for (std::size_t color = 0; color < run.groups.size(); ++color) {
        const Group& group = run.groups[color];
        const auto found = std::find(group.begin(), group.end(), world_rank);
        if (found == group.end()) continue;
        const auto member = found - group.begin();
        inputs["takes_part"] = true;
        inputs["member"] = member;
        inputs["colors"] = {color};
        inputs["keys"] = {member};
    }
    if (run.grid_columns > 0) {
        const int row = world_rank / run.grid_columns;
        const int column = world_rank % run.grid_columns;
        inputs["colors"] = {row, column};
        inputs["keys"] = {column, row};
    }
    return inputs;
}

/// The elements on both sides of the values, which the driver fills with 1, 2, …
std::string compare_neighbours(const Run& run, const std::vector<std::uint8_t>& got)
{
    std::vector<std::byte> before(static_cast<std::size_t>(run.n + 2 * run.pad) * size_of(run.dtype));
    fill({1.0, 0}, 0, {before.data(), run.n + 2 * run.pad, run.dtype});
    const auto size = static_cast<std::int64_t>(size_of(run.dtype));
    for (std::int64_t i = 0; i < run.pad * size; ++i) {
        const auto front = static_cast<std::size_t>(i);
        const std::size_t back = before.size() - 1 - front;
        if (got[front] != std::to_integer<std::uint8_t>(before[front]))
            return "changed memory in front of the values";
        if (got[back] != std::to_integer<std::uint8_t>(before[back]))
            return "changed memory behind the values";
    }
    return "";
}

std::string messages_text(std::uint64_t count)
{
    return fmt::format("{} message{}", count, count == 1 ? "" : "s");
}

std::string compare_sent(const Run& run, const Group& group, const Promise& promise, const json& measured)
{
    const auto repeat = static_cast<std::uint64_t>(run.repeat);
    const auto size = static_cast<std::uint64_t>(size_of(run.dtype));
    for (const auto& [to, count] : measured.at("to").items()) {
        const auto member = std::find(group.begin(), group.end(), std::stoi(to)) - group.begin();
        const auto peer = static_cast<int>(member);
        if (count.at(0).get<std::uint64_t>() > 0 && !promise.sent.contains(peer))
            return fmt::format("sent {} to rank {}, expected none to go there",
                               messages_text(count.at(0).get<std::uint64_t>()), peer);
    }
    for (const auto& [peer, sent] : promise.sent) {
        const json& to = measured.at("to");
        const std::string world = std::to_string(group[static_cast<std::size_t>(peer)]);
        const json count = to.contains(world) ? to.at(world) : json{0, 0};
        const auto messages = count.at(0).get<std::uint64_t>();
        const auto elements = count.at(1).get<std::uint64_t>() / size;
        const auto expected_elements = static_cast<std::uint64_t>(sent.elements) * repeat;
        const std::uint64_t expected = sent.messages * repeat;
        const bool too_few = messages < expected && !sent.fewer_messages;
        if (messages > expected || too_few || elements != expected_elements)
            return fmt::format("sent {} with {} elements to rank {}, expected {} with {}",
                               messages_text(messages), elements, peer, expected, expected_elements);
    }
    return "";
}

std::string compare_memory(const Run& run, const Promise& promise, const json& measured)
{
    const auto begin = measured.at("begin").get<std::uint64_t>();
    const std::uint64_t allowed = static_cast<std::uint64_t>(promise.memory) * size_of(run.dtype);
    const std::uint64_t peak = measured.at("peak").get<std::uint64_t>() - begin;
    const auto communication =
        measured.at("peak_by").at(static_cast<std::size_t>(Category::communication)).get<std::uint64_t>();
    if (measured.at("current").get<std::uint64_t>() != begin)
        return fmt::format("{} bytes of the device are still in use when it returns",
                           measured.at("current").get<std::uint64_t>() - begin);
    if (peak > allowed)
        return fmt::format("needed memory for {} elements besides the values, expected at most {}",
                           peak / size_of(run.dtype), promise.memory);
    if (communication != peak) return "its memory is not of the category communication";
    return "";
}

std::string compare_duration(const Run& run, const Group& group, const Duration& duration,
                             const CaseResult& result)
{
    double last = 0.0;
    double start = 0.0;
    for (const int rank : group) {
        last = std::max(last, result.ranks[static_cast<std::size_t>(rank)].outputs.at("clock").get<double>());
        if (!run.starts.empty()) start = std::max(start, run.starts[static_cast<std::size_t>(rank)]);
    }
    const double expected = start + duration.seconds;
    // Each rounding is off by at most half an epsilon of the largest reading; so is the expected time, which
    // is a sum of few terms.
    const double rounding = (duration.roundings + 4) * epsilon / 2.0 * expected;
    if (duration.at_most && last <= expected + rounding) return "";
    return compare_number(fmt::format("the last rank's clock{}", start > 0.0 ? " (starts included)" : ""),
                          last, expected, {0.0, rounding});
}

std::string compare_between_nodes(const Run& run, const Group& group, std::int64_t expected,
                                  const CaseResult& result)
{
    std::uint64_t bytes = 0;
    for (const int rank : group)
        bytes +=
            result.ranks[static_cast<std::size_t>(rank)].measured.at("inter_node_bytes").get<std::uint64_t>();
    const std::uint64_t elements = bytes / size_of(run.dtype);
    const auto wanted = static_cast<std::uint64_t>(expected * run.repeat);
    if (elements == wanted) return "";
    return fmt::format("{} elements were sent between nodes by all ranks together, expected {}", elements,
                       wanted);
}

std::vector<std::string> problems(const Run& run, const Group& group, const GroupPromise& promise,
                                  const CaseResult& result)
{
    std::vector<std::string> values, costs;
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
        const RankResult& own = result.ranks[static_cast<std::size_t>(group[rank])];
        const int member = static_cast<int>(rank);
        const json& got = own.outputs.at("values");
        values.push_back(on_rank(member, compare_values(run, group, promise, member, got)));
        values.push_back(on_rank(member, compare_neighbours(run, got.get_binary())));
        const Promise& of_rank = promise.ranks[rank];
        costs.push_back(on_rank(member, compare_sent(run, group, of_rank, own.measured)));
        costs.push_back(on_rank(member, compare_memory(run, of_rank, own.measured)));
    }
    values.insert(values.end(), costs.begin(), costs.end());
    if (promise.between_nodes)
        values.push_back(compare_between_nodes(run, group, *promise.between_nodes, result));
    if (promise.duration) values.push_back(compare_duration(run, group, *promise.duration, result));
    if (!promise.algorithm.empty())
        for (std::string& message : values)
            if (!message.empty()) message = fmt::format("if it took {}: {}", promise.algorithm, message);
    return values;
}

}  // namespace

Group ranks_from(int first, int last)
{
    Group group(static_cast<std::size_t>(last - first + 1));
    std::iota(group.begin(), group.end(), first);
    return group;
}

Pattern Run::pattern() const
{
    if (!random) {
        std::size_t largest = 0;
        for (const Group& group : groups) largest = std::max(largest, group.size());
        return {base_for(largest), 0};
    }
    const double number = random_values(function, 1, DType::fp64, 1e9)[0];
    return {0.0, static_cast<std::uint64_t>(std::abs(number))};
}

RankValues Run::values_before(const Group& group) const
{
    RankValues values(group.size());
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
        values[rank].resize(static_cast<std::size_t>(n) * size_of(dtype));
        fill(pattern(), static_cast<int>(rank), {values[rank].data(), n, dtype});
    }
    return values;
}

NamedCase case_of(const Run& run, const Promises& promises, const std::string& if_stuck)
{
    NamedCase one;
    one.name = name_of_run(run);
    one.if_stuck = if_stuck;
    if (!is_plain(run))
        one.if_stuck += " And who sends to whom goes by the ranks of comm, not by the world's.";
    one.input.operation = "collective";
    one.input.topology = run.topology;
    for (int rank = 0; rank < run.ranks; ++rank) one.input.ranks.push_back(inputs_of(run, rank));
    one.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        for (const Group& group : run.groups) {
            const GroupPromise promise = promises(run, group);
            const std::string prefix =
                run.groups.size() > 1 ? fmt::format("in the group of {}: ", group.size()) : "";
            for (const std::string& message : problems(run, group, promise, result))
                messages.push_back(message.empty() ? "" : prefix + message);
        }
        return messages;
    };
    return one;
}

}  // namespace collectives_test
