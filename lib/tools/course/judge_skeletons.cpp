#include <algorithm>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/generate.hpp"
#include "lib/tools/course/planted_bugs.hpp"
#include "lib/tools/course/show.hpp"
#include "lib/tools/course/test_lesson.hpp"

namespace shardlings {

namespace {

struct Expectation {
    const Lesson* lesson;
    const Part* part;
    bool skeleton;  // else the solution
    PartResult result;
};

/// Every case of a skeleton fails, and with nothing but this part's "not implemented".
bool fails_as_open(const PartResult& result, const Part& part)
{
    const std::string expected = "not implemented: " + part.id + " ";
    return result.note.empty() && !result.cases.empty() &&
           std::all_of(result.cases.begin(), result.cases.end(), [&](const CaseReport& one) {
               return !one.messages.empty() &&
                      std::all_of(one.messages.begin(), one.messages.end(),
                                  [&](const std::string& message) { return message.starts_with(expected); });
           });
}

void judge(const Places& places, const Runner& runner, Expectation& one)
{
    const std::string whose = one.skeleton ? "exercise" : "solution";
    if (one.skeleton) {
        const std::string errors =
            build_failure(places, *one.lesson, *one.part, whose, places.exercise(*one.lesson, *one.part));
        if (!errors.empty()) {
            one.result = not_built(errors);
            return;
        }
    }
    one.result = judge_part(runner, test_run_of(places, *one.lesson, *one.part, whose));
}

}  // namespace

bool judge_skeletons(const Places& places, const Manifest& manifest, const Runner& runner)
{
    const std::vector<std::string> edited = differences(places, manifest);
    check(edited.empty(), "exercises/ must be as generated for this check:\n  {}", joined(edited, "\n  "));
    std::vector<Expectation> all;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts)
            for (const bool skeleton : {true, false}) all.push_back({&lesson, &part, skeleton, {}});
    std::size_t wrong = 0;
    two_at_a_time(
        all.size(), [&](std::size_t i) { judge(places, runner, all[i]); },
        [&](std::size_t i) {
            const Expectation& one = all[i];
            const bool good =
                one.skeleton ? fails_as_open(one.result, *one.part) : one.result.status == Status::done;
            wrong += good ? 0 : 1;
            fmt::print("{}  {} {:<9} {}\n", good ? "as it should" : "WRONG       ", one.part->id,
                       one.skeleton ? "skeleton" : "solution",
                       good ? fmt::format("{} tests", one.result.cases.size()) : name_of(one.result.status));
            if (good) return;
            for (const CaseReport& report : one.result.cases)
                if (one.skeleton && report.passed) fmt::print("    {}: passes\n", report.name);
            for (const std::string& line : failure_lines(one.result, Detail::all))
                fmt::print("    {}\n", line);
        });
    fmt::print("{} passed, {} failed\n", all.size() - wrong, wrong);
    return wrong == 0;
}

}  // namespace shardlings
