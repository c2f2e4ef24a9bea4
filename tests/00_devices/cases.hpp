// Cases of lesson 00 with a name each, run together, and what all their tests say in one voice.
#pragma once

#include <functional>

#include "lib/tools/grade/judge.hpp"
#include "tests/lib/catch.hpp"

namespace devices_test {

using namespace grade;

struct NamedCase {
    std::string name;  // "p = 3, b = 17": how a message calls the case
    CaseInput input;
    /// The messages about what came out, empty ones included; called when every rank returned.
    std::function<std::vector<std::string>(const CaseResult&)> check;
    std::string if_stuck;  // what a case that had to be stopped is told besides
};

/// A link of random α (1 to 9 µs) and β (1 / (10 to 90 GB/s)), so that no constant is right by luck.
Link random_link(const std::string& name);

/// "rank 2: " + message, or nothing when there is none.
std::string on_rank(int rank, const std::string& message);

/// The messages and bytes that a rank sent, against what it should have sent, and to whom (peer; -1: to
/// nobody).
std::string compare_traffic(const RankResult& rank, int peer, std::uint64_t messages, std::uint64_t bytes);

/// Runs the cases on the driver of `file` and fails with one message for the first few that are wrong.
void run_and_check(const std::string& file, const std::vector<NamedCase>& cases);

}  // namespace devices_test
