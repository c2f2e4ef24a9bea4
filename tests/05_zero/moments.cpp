#include "tests/05_zero/moments.hpp"

#include <cmath>

namespace zero_test {

namespace {

/// The bucket whose bytes make the difference, if one does.
std::string culprit(std::uint64_t got, const ExpectedMoment& expected)
{
    const Geometry& geometry = *expected.geometry;
    for (std::size_t b = 0; b < geometry.buckets.size(); ++b) {
        const std::uint64_t bytes = geometry.bytes_of(b);
        const std::uint64_t shard = bytes / static_cast<std::uint64_t>(expected.degree);
        const std::string name = name_of(geometry, b);
        const bool due = expected.held.find(name) != std::string::npos;
        if (got == expected.most + bytes)
            return fmt::format("; as if {} were there {}", name, due ? "twice" : "too");
        if (got == expected.most + bytes - shard && !due)
            return fmt::format("; as if all of {} were kept instead of its shard", name);
        if (got + bytes == expected.least) return fmt::format("; as if {} were missing", name);
    }
    return "";
}

std::string compare_memory(const Moment& got, const ExpectedMoment& expected, const Words& words)
{
    if (got.bytes < expected.least || got.bytes > expected.most)
        return fmt::format("{} bytes of {} are held, expected {}{}: {}{}", got.bytes, words.category,
                           expected.most > expected.least ? "at most " : "", expected.most, expected.held,
                           culprit(got.bytes, expected));
    if (got.peak > expected.peak)
        return fmt::format("up to {} bytes of {} were held since the last pass, expected at most {}",
                           got.peak, words.category, expected.peak);
    return "";
}

std::string compare_messages(const Moment& got, const ExpectedMoment& expected, const Words& words)
{
    if (got.messages == expected.messages && got.sent == expected.sent &&
        got.communication > expected.communication)
        return fmt::format("{} bytes of the category communication were needed, expected at most {}",
                           got.communication, expected.communication);
    if (got.control > 0)
        return fmt::format("{} messages were sent over group.control, expected none", got.control);
    if (got.messages == expected.messages && got.sent == expected.sent) return "";
    return fmt::format(
        "{} messages with {} bytes were sent over group.data since the last pass, expected {} with {}: {}",
        got.messages, got.sent, expected.messages, expected.sent,
        got.sent > expected.sent ? words.more : words.fewer);
}

/// Both clocks are sums of the same times, of fewer than 1000 terms, each rounded by at most half an epsilon
/// of the clock.
std::string compare_clock(double got, double expected, const Words& words)
{
    if (std::abs(got - expected) <= 1000.0 * std::numeric_limits<double>::epsilon() * expected) return "";
    return fmt::format("the clock is at {:.6g} µs, expected {:.6g} µs: {}", 1e6 * got, 1e6 * expected,
                       got > expected ? words.late : words.early);
}

}  // namespace

std::string PassOf::name() const
{
    return fmt::format("the {} pass of module {}{}", pass == 'f' ? "forward" : "backward", module,
                       micro_batch > 0 ? fmt::format(", micro-batch {}", micro_batch) : "");
}

std::vector<PassOf> passes_of(std::size_t modules, std::int64_t micro_batch, bool backward)
{
    std::vector<PassOf> all;
    for (std::size_t i = 0; i < modules; ++i) all.push_back({'f', i, micro_batch});
    for (std::size_t i = modules; backward && i-- > 0;) all.push_back({'b', i, micro_batch});
    return all;
}

Moment moment_of(const RankResult& rank, const std::string& name)
{
    check(rank.outputs.contains(name), "there is no moment '{}'", name);
    const auto row = rank.outputs.at(name).get<std::vector<double>>();
    const auto count = [&](std::size_t i) { return static_cast<std::uint64_t>(row.at(i)); };
    return {count(0), count(1), count(2), row.at(3), count(4), count(5), count(6), count(7)};
}

std::string compare_moment(const Moment& got, const ExpectedMoment& expected, const Words& words)
{
    std::string message = compare_memory(got, expected, words);
    if (message.empty()) message = compare_messages(got, expected, words);
    if (message.empty()) message = compare_clock(got.clock, expected.clock, words);
    return message;
}

}  // namespace zero_test
