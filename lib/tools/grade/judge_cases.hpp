// Cases with a name each, run together, and what tests of several lessons say about them in one voice.
#pragma once

#include <concepts>
#include <functional>

#include "lib/tools/grade/judge.hpp"

namespace grade {

/// The messages about what came out of a case whose ranks all returned, empty ones included: a function of
/// its CaseResult, or, for a case on one rank, of its RankResult.
class Check {
  public:
    Check() = default;
    template <std::invocable<const CaseResult&> Function>
    Check(Function function) : check_(std::move(function))
    {
    }
    template <std::invocable<const RankResult&> Function>
    Check(Function function)
        : check_([=](const CaseResult& result) { return function(result.ranks.front()); })
    {
    }
    std::vector<std::string> operator()(const CaseResult& result) const { return check_(result); }

  private:
    std::function<std::vector<std::string>(const CaseResult&)> check_;
};

struct NamedCase {
    std::string name;  // "p = 3, b = 17": how a message calls the case
    CaseInput input;
    Check check;
    std::string if_stuck = {};  // what a case that had to be stopped is told besides
};

/// run_cases() and the checks. Empty when all is right; else one message about the first few cases that are
/// wrong.
std::string problems_of(const std::string& file, const std::vector<NamedCase>& cases, double limit);

/// "rank 2: " + message, or nothing when there is none.
std::string on_rank(int rank, const std::string& message);

/// The messages and bytes that a rank sent, against what it should have sent, and to whom (peer; -1: to
/// nobody).
std::string compare_traffic(const RankResult& rank, int peer, std::uint64_t messages, std::uint64_t bytes);

/// A link of random α (1 to 9 µs) and β (1 / (10 to 90 GB/s)), so that no constant is right by luck.
Link random_link(const std::string& name);

}  // namespace grade
