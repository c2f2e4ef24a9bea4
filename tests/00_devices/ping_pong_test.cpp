#include <cmath>

#include "tests/lib/run_and_check.hpp"

using namespace grade;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

std::vector<double> random_bytes(const std::string& name, std::size_t count)
{
    std::vector<double> bytes = random_values(name, static_cast<std::int64_t>(count), DType::fp64);
    for (double& byte : bytes) byte = std::floor(std::fmod(std::abs(byte) * 1e3, 256.0));
    return bytes;
}

std::string seconds_cause(double got, double expected, int rounds)
{
    const auto about = [got](double value) { return std::abs(got - value) < 1e-9 * std::abs(value); };
    if (about(expected / 2.0)) return "; that is one way, a round is there and back";
    if (rounds > 1 && about(expected * rounds)) return "; that is all rounds together";
    return "";
}

/// Of rank 0 and 1: the time of a round, its messages, and the message where it should be.
std::vector<std::string> check_player(const RankResult& rank, int own, const Link& link, int rounds,
                                      double start, const std::vector<double>& message)
{
    const auto bytes = static_cast<double>(message.size());
    const double expected = 2.0 * link.seconds(bytes);
    const auto seconds = rank.outputs.at("seconds").get<double>();
    // Each of the 2 · rounds arrivals, the difference and the quotient are rounded, by at most half an
    // epsilon of the largest clock reading; the sum of all is at most this.
    const double rounding = (2 * rounds + 2) * epsilon * (start + rounds * expected);
    std::string time = compare_number("the time of a round", seconds, expected, {0.0, rounding});
    if (!time.empty()) time += seconds_cause(seconds, expected, rounds);
    const auto count = static_cast<std::uint64_t>(rounds);
    std::vector<std::string> messages{
        on_rank(own, compare_traffic(rank, 1 - own, count, count * message.size())), on_rank(own, time)};
    if (rank.outputs.at("message").get<std::vector<double>>() != message)
        messages.push_back(on_rank(own, own == 0 ? "its message did not come back as it was"
                                                 : "its buffer does not hold rank 0's message afterwards"));
    return messages;
}

/// Of a rank that should do nothing.
std::vector<std::string> check_onlooker(const RankResult& rank, int own, const std::vector<double>& before)
{
    std::vector<std::string> messages{on_rank(own, compare_traffic(rank, -1, 0, 0))};
    if (rank.outputs.at("seconds") != 0.0)
        messages.push_back(on_rank(own, "returned a time, expected 0: it takes no part"));
    if (rank.outputs.at("message").get<std::vector<double>>() != before)
        messages.push_back(on_rank(own, "its buffer changed, though it takes no part"));
    return messages;
}

NamedCase ping_pong_case(int ranks, std::size_t bytes, int rounds, bool across_nodes, double start)
{
    NamedCase one;
    one.name = fmt::format("p = {}, b = {}, {} rounds, {}", ranks, bytes, rounds,
                           across_nodes ? "between nodes" : "inside a node");
    one.if_stuck =
        "When both ranks send before they receive, each waits for the other: rank 1 must receive first.";
    if (ranks > 2) one.if_stuck += " Ranks beyond 1 must neither send nor receive.";
    one.input.operation = "ping_pong";
    Topology& topology = one.input.topology;
    topology.nodes = across_nodes ? ranks : 1;
    topology.devices_per_node = across_nodes ? 1 : ranks;
    topology.intra = random_link("inside " + one.name);
    topology.inter = random_link("between " + one.name);
    const Link link = across_nodes ? topology.inter : topology.intra;
    std::vector<std::vector<double>> before;
    for (int rank = 0; rank < ranks; ++rank) {
        before.push_back(random_bytes(fmt::format("{} {}", one.name, rank), bytes));
        one.input.ranks.push_back({{"message", before.back()}, {"rounds", rounds}, {"start", start}});
    }
    one.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        for (int rank = 0; rank < ranks; ++rank) {
            const RankResult& own = result.ranks[static_cast<std::size_t>(rank)];
            const auto of_rank = rank < 2 ? check_player(own, rank, link, rounds, start, before[0])
                                          : check_onlooker(own, rank, before[static_cast<std::size_t>(rank)]);
            messages.insert(messages.end(), of_rank.begin(), of_rank.end());
        }
        return messages;
    };
    return one;
}

/// The links' α and β as rank 0 and 1 should read them, zeros elsewhere, and the memory given back.
std::vector<std::string> check_link(const RankResult& rank, int own, const Link& link)
{
    const auto alpha = rank.outputs.at("alpha").get<double>();
    const auto beta = rank.outputs.at("beta").get<double>();
    if (own > 1)
        return {alpha == 0.0 && beta == 0.0
                    ? ""
                    : on_rank(own, "returned a cost, expected zeros: it takes no part")};
    // A clock reading is off by at most a few roundings of the largest; β divides such an error by the
    // difference of the two lengths, which is at least one byte.
    const double rounding = 16.0 * epsilon * rank.outputs.at("end").get<double>();
    const double expected_beta = 1.0 / link.bandwidth;
    std::string cause;
    if (std::abs(beta * expected_beta - 1.0) < 1e-3) cause = "; β is seconds a byte, this is bytes a second";
    std::string beta_message = compare_number("beta", beta, expected_beta, {0.0, rounding});
    if (!beta_message.empty()) beta_message += cause;
    std::vector<std::string> messages{
        on_rank(own, compare_number("alpha", alpha, link.latency, {0.0, rounding})),
        on_rank(own, beta_message)};
    const auto peak = rank.measured.at("peak_by").at(static_cast<int>(Category::communication));
    if (peak == 0)
        messages.push_back(
            on_rank(own, "its messages were not on the device: no communication buffer was allocated"));
    if (rank.measured.at("messages").get<int>() < 2)
        messages.push_back(on_rank(own, "sent less than the two messages that a measurement takes"));
    if (rank.measured.at("current") != 0)
        messages.push_back(on_rank(own, "left memory allocated on the device"));
    return messages;
}

NamedCase link_case(int ranks, bool across_nodes, double start)
{
    NamedCase one;
    one.name = fmt::format("p = {}, {}", ranks, across_nodes ? "between nodes" : "inside a node");
    one.input.operation = "measure_link";
    Topology& topology = one.input.topology;
    topology.nodes = across_nodes ? ranks : 1;
    topology.devices_per_node = across_nodes ? 1 : ranks;
    topology.intra = random_link("inside " + one.name);
    topology.inter = random_link("between " + one.name);
    const Link link = across_nodes ? topology.inter : topology.intra;
    for (int rank = 0; rank < ranks; ++rank) one.input.ranks.push_back({{"start", start}});
    one.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        for (int rank = 0; rank < ranks; ++rank)
            for (std::string& message : check_link(result.ranks[static_cast<std::size_t>(rank)], rank, link))
                messages.push_back(std::move(message));
        return messages;
    };
    return one;
}

}  // namespace

TEST_CASE("00.2 ping_pong: the message goes there and back, and a round takes 2 (alpha + b beta)", "[00.2]")
{
    std::vector<NamedCase> cases;
    for (const bool across_nodes : {false, true}) {
        cases.push_back(ping_pong_case(2, 1000, 1, across_nodes, 0.0));
        cases.push_back(ping_pong_case(2, 0, 1, across_nodes, 0.0));
        cases.push_back(ping_pong_case(2, 6001, 3, across_nodes, 1e-3));
    }
    run_and_check("ping_pong", cases);
}

TEST_CASE("00.2 ping_pong: ranks beyond 1 take no part", "[00.2]")
{
    run_and_check("ping_pong", {ping_pong_case(3, 17, 2, false, 0.0), ping_pong_case(4, 1, 1, true, 0.0),
                                ping_pong_case(8, 100, 2, false, 0.0)});
}

TEST_CASE("00.3 measure_link: alpha and beta of the link between ranks 0 and 1", "[00.3]")
{
    run_and_check("link", {link_case(2, false, 0.0), link_case(2, true, 2e-3), link_case(3, false, 0.0),
                           link_case(4, true, 0.0), link_case(8, false, 1e-3)});
}
