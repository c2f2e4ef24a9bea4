#include "lib/tools/grade/judge_cases.hpp"

#include <cmath>

#include "lib/tools/grade/judge_timeline.hpp"

namespace grade {

namespace {

constexpr std::size_t shown_cases = 3;
constexpr std::size_t shown_messages = 2;  // of each
constexpr std::size_t long_name = 95;      // columns

/// A reproducible number in [0, 1).
double random_fraction(const std::string& name)
{
    const double value = random_values(name, 1, DType::fp64)[0];
    return std::abs(value) - std::floor(std::abs(value));
}

/// The first messages, and how many more there are.
std::string shortened(std::vector<std::string> messages)
{
    std::erase(messages, "");
    const std::size_t all = messages.size();
    if (all > shown_messages) {
        messages.resize(shown_messages);
        messages.push_back(fmt::format("and {} more like these", all - shown_messages));
    }
    return join(messages);
}

/// The name and what is wrong, which stands below a long name, a little to the right.
std::string told(const std::string& name, const std::string& message)
{
    if (name.size() < long_name) return name + ": " + message;
    std::string text = name + ":\n  ";
    for (const char c : message) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
    return text;
}

std::string verdict(const NamedCase& one, const CaseResult& result)
{
    if (result.failure.empty()) return shortened(one.check(result));
    return result.failure + (result.stopped && !one.if_stuck.empty() ? "\n" + one.if_stuck : "");
}

}  // namespace

std::string problems_of(const std::string& file, const std::vector<NamedCase>& cases, double limit)
{
    std::vector<CaseInput> inputs;
    for (const NamedCase& one : cases) inputs.push_back(one.input);
    const std::vector<CaseResult> results = run_cases(file, inputs, limit);
    for (const CaseResult& result : results)
        for (const RankResult& rank : result.ranks)
            if (rank.not_implemented) return rank.error;
    std::vector<std::string> messages;
    for (const bool started : {true, false}) {
        if (!messages.empty()) break;
        for (std::size_t i = 0; i < cases.size() && messages.size() < shown_cases; ++i) {
            if (results[i].started != started) continue;
            const std::string message = verdict(cases[i], results[i]);
            if (message.empty()) continue;
            note_timeline(cases[i].name, results[i]);
            messages.push_back(told(cases[i].name, message));
        }
    }
    return join(messages);
}

std::string on_rank(int rank, const std::string& message)
{
    return message.empty() ? "" : fmt::format("rank {}: {}", rank, message);
}

std::string compare_traffic(const RankResult& rank, int peer, std::uint64_t messages, std::uint64_t bytes)
{
    const auto sent = rank.measured.at("messages").get<std::uint64_t>();
    const auto sent_bytes = rank.measured.at("bytes").get<std::uint64_t>();
    if (sent != messages || sent_bytes != bytes)
        return fmt::format("sent {} messages with {} bytes in all, expected {} with {}", sent, sent_bytes,
                           messages, bytes);
    for (const auto& [to, count] : rank.measured.at("to").items())
        if (count.at(0).get<std::uint64_t>() > 0 && to != std::to_string(peer))
            return fmt::format("sent messages to rank {}, expected all of them to go to rank {}", to, peer);
    return "";
}

Link random_link(const std::string& name)
{
    return {1e-6 + 8e-6 * random_fraction(name + " alpha"), 10e9 + 80e9 * random_fraction(name + " beta")};
}

}  // namespace grade
