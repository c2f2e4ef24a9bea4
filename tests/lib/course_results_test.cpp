// The course's own machinery: reports of tests, verdicts, progress, grades.
#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/grade.hpp"
#include "lib/tools/course/planted_bugs.hpp"
#include "lib/tools/course/progress.hpp"
#include "lib/tools/course/show.hpp"
#include "lib/tools/course/student.hpp"
#include "lib/tools/course/test_lesson.hpp"
#include "lib/tools/launch/launch.hpp"
#include "tests/lib/catch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

using namespace shardlings;
namespace fs = std::filesystem;

namespace {

Part make_part(const std::string& id, const std::string& file)
{
    return {id, "Part " + id, file, {1}, 10.0, 5.0, 5, {"one", "two", "three"}};
}

Report report_of(const std::string& xml)
{
    const TemporaryFolder folder;
    write_file(folder.path() + "/r.xml", xml);
    return read_report(folder.path() + "/r.xml");
}

/// What Catch2 writes about test cases: name → message, empty when it passes.
std::string xml_of(const std::map<std::string, std::string>& cases)
{
    std::string xml = "<Catch2TestRun>";
    for (const auto& [name, message] : cases) {
        xml += "<TestCase name=\"" + name + "\">";
        if (!message.empty()) xml += "<Failure>\n " + message + "\n</Failure>";
        xml += std::string("<OverallResult success=\"") + (message.empty() ? "true" : "false") +
               "\"/></TestCase>";
    }
    return xml + "</Catch2TestRun>";
}

/// Instead of running tests, writes the report that is kept for "DRIVERS PART".
class FakeRunner : public Runner {
  public:
    std::map<std::string, std::string> reports;
    ProcessResult result;

    ProcessResult run(const TestRun& run) const override
    {
        const auto found = reports.find(run.drivers.parent_path().filename().string() + " " + run.part);
        if (found != reports.end()) write_file(run.report, found->second);
        return result;
    }
};

/// Reports one thing when the run ends with the first failure, and another when it goes through all cases.
class TwoRunner : public Runner {
  public:
    std::map<std::string, std::string> first;
    std::map<std::string, std::string> all;

    ProcessResult run(const TestRun& run) const override
    {
        write_file(run.report, xml_of(run.to_first_failure ? first : all));
        return {};
    }
};

/// What is printed while this lives goes nowhere.
class Quiet {
  public:
    Quiet() : before_((std::fflush(stdout), dup(STDOUT_FILENO)))
    {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    ~Quiet()
    {
        std::fflush(stdout);
        dup2(before_, STDOUT_FILENO);
        close(before_);
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    int before_;
};

/// A repository with one lesson of two parts, both built.
struct FakeCourse {
    TemporaryFolder folder;
    Places places{folder.path(), folder.path() + "/build"};
    Manifest manifest{{{"07_fake", "A lesson", {make_part("07.1", "a.cpp"), make_part("07.2", "b.cpp")}}}};
    FakeRunner runner;

    FakeCourse()
    {
        write_file(places.judge(lesson()), "");
        for (const Part& part : lesson().parts) {
            write_file(
                places.solution(lesson(), part),
                "#include \"lessons/07_fake/a.hpp\"\n// BEGIN SOLUTION " + part.id + " f\n// END SOLUTION\n");
            write_file(places.exercise(lesson(), part),
                       "#include \"lessons/07_fake/a.hpp\"\n#include "
                       "\"lib/machine/base/error.hpp\"\n// Your code: see "
                       "lessons/07_fake/a.hpp (hints: make hint-07 PART=" +
                           part.id + ")\nnot_implemented(\"" + part.id + " f\");\n");
            write_file(places.drivers("exercise", lesson()) / part.stem(), "");
            say("exercise", part.id, {{part.id + " f", "not implemented: " + part.id + " f (x.cpp:1)"}});
            say("solution", part.id, {{part.id + " f", ""}});
        }
    }
    const Lesson& lesson() const { return manifest.lessons.front(); }
    void say(const std::string& code, const std::string& part,
             const std::map<std::string, std::string>& cases)
    {
        runner.reports[code + " " + part] = xml_of(cases);
    }
    PartResult judge(const std::string& part) const
    {
        return judge_part(runner, test_run_of(places, lesson(), find_part(lesson(), part), "exercise"));
    }
    bool test(const TestRequest& request) const
    {
        const Quiet quiet;
        return test_lesson(places, manifest, runner, request);
    }
    void hint(const std::string& part, bool solution) const
    {
        const Quiet quiet;
        show_hint(places, manifest, "07", part, solution);
    }
    bool skeletons_are_good() const
    {
        const Quiet quiet;
        return judge_skeletons(places, manifest, runner);
    }
    Progress progress() const { return Progress::load(places.progress()); }
};

}  // namespace

TEST_CASE("report: Catch2 version 2 and 3 alike, the messages as the tests worded them")
{
    const std::string cases = R"(
      <TestCase name="07.1 good"><OverallResult success="true"/></TestCase>
      <TestCase name="07.1 fails"><Section name="s">
        <Failure filename="t.cpp" line="3">
   dx[0, 3] is 2, expected 1
   off by 2
        </Failure><OverallResults successes="0" failures="1"/></Section>
        <OverallResult success="false"/></TestCase>
      <TestCase name="07.1 checks">
        <Expression success="true"><Original>a</Original><Expanded>1</Expanded></Expression>
        <Info>the third row</Info>
        <Expression success="false"><Original>a == b</Original><Expanded>1 == 2</Expanded></Expression>
        <Expression success="false"><Original>c == d</Original><Expanded>3 == 4</Expanded></Expression>
        <Exception>thrown</Exception>
        <OverallResult success="false"/></TestCase>)";
    for (const auto& [begin, end] : {std::pair{"<Catch name=\"t\"><Group name=\"t\">", "</Group></Catch>"},
                                     std::pair{"<Catch2TestRun name=\"t\">", "</Catch2TestRun>"}}) {
        const Report report = report_of(std::string("<?xml version=\"1.0\"?>") + begin + cases + end);
        CHECK(report.complete);
        REQUIRE(report.cases.size() == 3);
        CHECK(report.cases[0].passed);
        CHECK(report.cases[1].name == "07.1 fails");
        CHECK(report.cases[1].messages == std::vector<std::string>{"dx[0, 3] is 2, expected 1\n   off by 2"});
        CHECK(report.cases[2].messages ==
              std::vector<std::string>{"the third row", "c == d, which is 3 == 4", "thrown"});
    }
}

TEST_CASE("report: one that was cut off keeps what it got to")
{
    const Report report = report_of(
        "<Catch2TestRun><TestCase name=\"a\"><OverallResult success=\"true\"/></TestCase>"
        "<TestCase name=\"b\">");
    CHECK_FALSE(report.complete);
    REQUIRE(report.cases.size() == 2);
    CHECK(report.cases[0].passed);
    CHECK(report.cases[1].messages == std::vector<std::string>{"did not come to an end"});
    CHECK_FALSE(report_of("").complete);
    const auto ended_by = [](const std::string& signal) {
        const Report ended = report_of(
            "<Catch2TestRun><TestCase name=\"a\"><FatalErrorCondition>\n " + signal +
            "\n</FatalErrorCondition><OverallResult success=\"false\"/></TestCase></Catch2TestRun>");
        return ended.cases.at(0).messages;
    };
    CHECK(ended_by("SIGTERM - Termination request signal") ==
          std::vector<std::string>{"was running when the tests were stopped"});
    CHECK(ended_by("SIGSEGV - Segmentation violation signal") ==
          std::vector<std::string>{"the tests themselves crashed: SIGSEGV - Segmentation violation signal"});
}

TEST_CASE("verdict: done, failing, not implemented")
{
    FakeCourse course;
    CHECK(course.judge("07.1").status == Status::not_implemented);
    course.say("exercise", "07.1", {{"a", ""}, {"b", "not implemented: 07.1 g (x.cpp:1)"}});
    CHECK(course.judge("07.1").status == Status::not_implemented);
    CHECK(course.judge("07.1").earned(10.0) == 5.0);
    course.say("exercise", "07.1", {{"a", "wrong"}, {"b", "not implemented: 07.1 g (x.cpp:1)"}});
    CHECK(course.judge("07.1").status == Status::failing);
    course.say("exercise", "07.1", {{"a", ""}, {"b", ""}});
    CHECK(course.judge("07.1").status == Status::done);
    course.say("exercise", "07.1", {});
    CHECK(course.judge("07.1").status == Status::failing);
    CHECK(course.judge("07.1").note.starts_with("no test has the tag [07.1]"));
    course.runner.reports["exercise 07.1"] =
        "<Catch2TestRun><TestCase name=\"a\"><OverallResult success=\"true\"/>";
    CHECK(course.judge("07.1").status == Status::failing);
    course.runner.reports.clear();
    course.runner.result.output = "cannot open shared object";
    CHECK(course.judge("07.1").note ==
          "the test program ended with status 0 before it had reported\n"
          "cannot open shared object");
    course.runner.result.signal = 11;
    CHECK(course.judge("07.1").note.starts_with("the test program was ended by signal 11"));
    course.runner.result.timed_out = true;
    CHECK(course.judge("07.1").note == "stopped: the tests took more than 5 s");
}

TEST_CASE("verdict: the test program gets the part, the drivers and the seed, and ends at the limit")
{
    const TemporaryFolder folder;
    const fs::path judge = folder.path() + "/judge";
    write_file(judge,
               "#!/bin/sh\necho \"$1 $2 $3 $4 $SHARDLINGS_DRIVERS $SHARDLINGS_TEST_SEED\" > $5\nsleep 60\n");
    fs::permissions(judge, fs::perms::owner_all);
    const fs::path report = folder.path() + "/report";
    const auto begin = std::chrono::steady_clock::now();
    const ProcessResult result = LocalRunner().run({judge, "07.1", "/drivers", report, 0.5, "77"});
    CHECK(result.timed_out);
    CHECK(std::chrono::steady_clock::now() - begin <
          std::chrono::seconds(30));  // half of the sleep it cuts short
    CHECK(read_file(report) == "[07.1] -r xml -o /drivers 77\n");
}

TEST_CASE("two at a time: never three, finished in order, errors come through")
{
    std::atomic<int> now{0}, most{0};
    std::vector<std::size_t> order;
    two_at_a_time(
        6,
        [&](std::size_t i) {
            const int running = ++now;
            for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(i % 2 == 0 ? 20 : 1));
            --now;
        },
        [&](std::size_t i) { order.push_back(i); });
    CHECK(most <= 2);
    CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
    CHECK_THROWS_AS(two_at_a_time(
                        3, [](std::size_t i) { check(i != 1, "one"); }, [](std::size_t) {}),
                    Error);
}

TEST_CASE("progress: kept in one whole file, and a foreign one is refused")
{
    FakeCourse course;
    CHECK_FALSE(course.progress().of("07.1").status.has_value());
    Progress progress = course.progress();
    progress["07.2"].hints = 2;
    progress.book("07.1", course.judge("07.1"), "abc");
    progress.save();
    const Record kept = course.progress().of("07.1");
    CHECK(kept.status == Status::not_implemented);
    CHECK(kept.tests == 1);
    CHECK(kept.hash == "abc");
    CHECK(course.progress().of("07.2").hints == 2);
    CHECK_FALSE(course.progress().of("07.2").status.has_value());
    for (const auto& entry : fs::directory_iterator(course.places.root))
        CHECK(entry.path().filename().string().find(".new") == std::string::npos);
    for (const char* text :
         {"{", "[]", R"({"version": 99, "parts": {}})", R"({"version": 1, "parts": {"07.1": {}}})"}) {
        write_file(course.places.progress(), text);
        CHECK_THROWS_AS(course.progress(), Error);
    }
}

TEST_CASE("test: results are kept, and the last open part is followed by all of the lesson")
{
    FakeCourse course;
    TestRequest request{"07", "07.2", "exercise"};
    course.say("exercise", "07.2", {{"f", ""}});
    CHECK(course.test(request));
    CHECK(course.progress().of("07.2").done());
    CHECK_FALSE(course.progress().of("07.1").status.has_value());
    // Broken meanwhile: the run of everything at the end finds it.
    course.say("exercise", "07.1", {{"f", ""}});
    course.say("exercise", "07.2", {{"f", "broken by now"}});
    request.part = "07.1";
    CHECK_FALSE(course.test(request));
    CHECK(course.progress().of("07.2").status == Status::failing);
    request = {"07", "", "solution"};
    CHECK(course.test(request));
    CHECK(course.progress().of("07.2").status == Status::failing);
}

TEST_CASE("test: a driver that is missing or older than its source is not run")
{
    FakeCourse course;
    const Part& part = course.lesson().parts.front();
    const fs::path source = course.places.exercise(course.lesson(), part);
    const auto failure = [&] {
        return build_failure(course.places, course.lesson(), part, "exercise", source);
    };
    CHECK(failure().empty());
    fs::last_write_time(source, fs::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(failure().starts_with(
        "build/drivers/exercise/07_fake/a is missing or older than exercises/07_fake/a.cpp"));
    write_file(course.places.build / "obj/exercises/07_fake/a.err", "a.cpp:1:1: error: no\n");
    CHECK(failure() == "a.cpp:1:1: error: no");
    course.say("exercise", "07.1", {{"f", ""}});
    CHECK_FALSE(course.test({"07", "07.1", "exercise"}));
    CHECK(course.progress().of("07.1").status == Status::does_not_compile);
    fs::remove(source);
    CHECK(failure() == "exercises/07_fake/a.cpp is missing");
}

TEST_CASE("hints: one more each time, at most all")
{
    FakeCourse course;
    for (const int shown : {1, 2, 3, 3}) {
        course.hint("", false);
        CHECK(course.progress().of("07.1").hints == shown);
    }
    course.hint("07.2", true);
    CHECK(course.progress().of("07.2").hints == 0);
}

TEST_CASE("planted bugs: the first failure is enough when it says what is wrong, else all are looked at")
{
    const FakeCourse course;
    write_file(course.places.root / "tests/07_fake/wrong/b.toml",
               "part = '07.1'\nfile = 'a.cpp'\nfind = 'f'\nreplace = 'g'\nsays = 'twice'\nwhy = 'w'\n");
    write_file(course.places.build / "drivers/wrong/07_fake/b/a", "");
    TwoRunner runner;
    const auto caught = [&] {
        const Quiet quiet;
        return judge_planted_bugs(course.places, course.manifest, runner, "");
    };
    runner.first = {{"one", "twice as large"}};
    runner.all = {{"one", ""}};
    CHECK(caught());
    runner.first = {{"one", "it is wrong"}};
    runner.all = {{"one", "it is wrong"}, {"two", "twice as large"}};
    CHECK(caught());
    runner.all = {{"one", "it is wrong"}, {"two", "half as large"}};
    CHECK_FALSE(caught());
    runner.first = runner.all = {{"one", ""}};
    CHECK_FALSE(caught());
}

TEST_CASE("skeletons must fail as open and solutions pass, and nothing else counts")
{
    FakeCourse course;
    const auto good = [&] { return course.skeletons_are_good(); };
    CHECK(good());
    course.say("exercise", "07.1", {{"a", "not implemented: 07.1 f (x.cpp:1)"}, {"b", ""}});
    CHECK_FALSE(good());
    course.say("exercise", "07.1", {{"a", "not implemented: 07.2 f (x.cpp:1)"}});
    CHECK_FALSE(good());
    course.say("exercise", "07.1", {{"a", "wrong"}});
    CHECK_FALSE(good());
    course.say("exercise", "07.1", {{"a", "not implemented: 07.1 f (x.cpp:1)"}});
    CHECK(good());
    course.say("solution", "07.2", {{"a", "wrong"}});
    CHECK_FALSE(good());
    write_file(course.places.exercise(course.lesson(), course.lesson().parts.front()), "edited");
    CHECK_THROWS_AS(good(), Error);
}

TEST_CASE("lines: what is wrong is short, said once, and whole when asked for")
{
    PartResult result;
    const Part part = make_part("07.1", "a.cpp");
    result.cases = {{"07.1 a", true, {}},        {"07.1 b", false, {"same"}},
                    {"07.1 c", false, {"same"}}, {"07.1 d", false, {"1"}},
                    {"07.1 e", false, {"2"}},    {"07.1 f", false, {std::string(500, 'x')}}};
    const auto lines = lines_for(part, result, Detail::first_few);
    CHECK(lines.front().find("failing") != std::string::npos);
    CHECK(lines.front().ends_with("1 of 6 tests pass"));
    CHECK(lines.at(1) == "      07.1 b (and 1 more test)");
    CHECK(lines.at(2) == "        same");
    CHECK(lines.back() == "      … 1 more failure (V=1 shows all)");
    CHECK(lines_for(part, result, Detail::all).back() == "        " + std::string(500, 'x'));
    CHECK(shortened("αβγ", 3) == "α…");

    std::string words = "  rank 1: αβγ";
    for (int i = 0; i < 40; ++i) words += " and more";
    result.cases = {{"07.1 a", false, {words + " the cause"}}};
    const auto long_lines = lines_for(part, result, Detail::first_few);
    CHECK(long_lines.at(2).starts_with("          rank 1: αβγ and more"));
    CHECK(long_lines.at(3).starts_with("              and more"));
    CHECK(long_lines.back().ends_with("the cause"));
    CHECK(std::ranges::all_of(long_lines, [](const std::string& line) { return line.size() <= 170; }));
}

TEST_CASE("grade: points by test case, nothing for what is missing or does not compile")
{
    Grade grade;
    grade.seed = "5";
    GradedPart half{make_part("07.1", "a.cpp"), true, {}};
    half.result.cases = {{"a", true, {}}, {"b", false, {"wrong"}}};
    grade.parts = {half,
                   {make_part("07.2", "b.cpp"), true, not_built("b.cpp:1:1: error: no")},
                   {make_part("07.3", "c.cpp"), false, {}},
                   {make_part("07.4", "d.cpp"), true, {Status::done, {{"a", true, {}}}, ""}}};
    CHECK(grade.score() == 15.0);
    CHECK(grade.max() == 40.0);
    const auto json = nlohmann::json::parse(grade_json(grade));
    CHECK(json.at("score") == 15.0);
    CHECK(json.at("max") == 40.0);
    const auto& exercises = json.at("exercises");
    CHECK(exercises.at(0).at("points") == 5.0);
    CHECK(exercises.at(0).at("tests").at(1) ==
          nlohmann::json({{"name", "b"}, {"passed", false}, {"messages", {"wrong"}}}));
    CHECK(exercises.at(1).at("status") == "does not compile");
    CHECK(exercises.at(1).at("note") == "b.cpp:1:1: error: no");
    CHECK(exercises.at(2).at("status") == "missing");
    CHECK(exercises.at(3).at("status") == "done");
}
