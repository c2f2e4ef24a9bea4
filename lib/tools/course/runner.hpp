// Running the tests of one part, and what they say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/tools/course/places.hpp"
#include "lib/tools/course/report.hpp"
#include "lib/tools/launch/launch.hpp"

namespace shardlings {

/// One run of a lesson's test program, on the cases of one part.
struct TestRun {
    std::filesystem::path judge;    // the program, which holds no student's code
    std::string part;               // its cases have the tag [01.3]
    std::filesystem::path drivers;  // the folder of the programs to be judged, named by file or "all"
    std::filesystem::path report;   // takes Catch2's XML
    double seconds = 0.0;           // the limit
    std::string seed;               // of the tests' random inputs; empty: the one that is always the same
    bool to_first_failure = false;  // the cases behind the first that fails are left out
    bool in_sandbox = false;        // the drivers, see lib/tools/grade/sandbox.hpp

    /// Takes the costs of the cases, a line each: bytes and seconds.
    std::filesystem::path costs() const { return report.string() + ".costs"; }
    /// Takes the timeline of the first case that fails, on several ranks in a sandbox.
    std::filesystem::path timeline() const { return report.string() + ".timeline"; }
};

/// How a test program is started: on this machine as it is, or in a sandbox.
class Runner {
  public:
    virtual ~Runner() = default;
    /// Called from several threads at once.
    virtual ProcessResult run(const TestRun& run) const = 0;
};

class LocalRunner : public Runner {
  public:
    ProcessResult run(const TestRun& run) const override;
};

enum class Status { done, failing, not_implemented, does_not_compile };

std::string name_of(Status status);
/// The inverse. Error for an unknown name.
Status status_named(const std::string& name);

/// What the code that was judged has cost, over all cases of a part.
struct Cost {
    double traffic_bytes = 0.0;    // sent, by all ranks together
    double virtual_seconds = 0.0;  // of the slowest rank of each case
};

struct PartResult {
    Status status = Status::failing;
    std::vector<CaseReport> cases;
    std::string note;  // what went wrong outside of all cases
    Cost cost{};
    std::string timeline{};  // of the first case that failed (grade/judge_timeline.hpp), if there is one

    int passed() const;
    /// The share of `points` that its test cases have earned.
    double earned(double points) const;
};

/// The run of a part of somebody's code: "exercise", "solution", "wrong/…", "submission/…".
TestRun test_run_of(const Places& places, const Lesson& lesson, const Part& part, const std::string& whose);

/// Runs the tests of one part. It is done when all of at least one case pass; not implemented when all that
/// failed says so.
PartResult judge_part(const Runner& runner, const TestRun& run);

/// The result of a part whose code could not be built.
PartResult not_built(std::string errors);

/// Calls work(i) for 0 <= i < count, two at a time on threads of their own, and finished(i) in ascending
/// order on the calling thread, each as soon as work(0) to work(i) have returned. What work throws is thrown
/// here.
void two_at_a_time(std::size_t count, const std::function<void(std::size_t)>& work,
                   const std::function<void(std::size_t)>& finished);

}  // namespace shardlings
