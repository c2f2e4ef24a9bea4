#include "lib/tools/course/runner.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/grade/judge_sandbox.hpp"
#include "lib/tools/grade/judge_timeline.hpp"
#include "lib/tools/grade/protocol.hpp"
#include "lib/tools/grade/sandbox.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::pair<Status, std::string_view>, 4> status_names{{
    {Status::done, "done"},
    {Status::failing, "failing"},
    {Status::not_implemented, "not implemented"},
    {Status::does_not_compile, "does not compile"},
}};

bool is_open(const CaseReport& result)
{
    return std::all_of(result.messages.begin(), result.messages.end(),
                       [](const std::string& message) { return message.starts_with("not implemented: "); });
}

/// The last lines of a text, which is where a program says why it ended.
std::string end_of(const std::string& text)
{
    constexpr std::size_t shown = 5;
    std::vector<std::string> lines = lines_of(text);
    if (lines.size() > shown) lines.erase(lines.begin(), lines.end() - shown);
    return joined(lines, "\n");
}

std::string what_happened(const ProcessResult& process, const TestRun& run, const Report& report)
{
    if (process.timed_out) return fmt::format("stopped: the tests took more than {} s", run.seconds);
    if (process.signal != 0)
        return fmt::format("the test program was ended by signal {}\n{}", process.signal,
                           end_of(process.output));
    if (!report.complete)
        return fmt::format("the test program ended with status {} before it had reported\n{}",
                           process.exit_code, end_of(process.output));
    if (report.cases.empty())
        return fmt::format("no test has the tag [{}] in {}", run.part, run.judge.string());
    return {};
}

Cost read_costs(const fs::path& file)
{
    Cost sum;
    std::ifstream in(file);
    for (Cost one; in >> one.traffic_bytes >> one.virtual_seconds;) {
        sum.traffic_bytes += one.traffic_bytes;
        sum.virtual_seconds += one.virtual_seconds;
    }
    return sum;
}

}  // namespace

ProcessResult LocalRunner::run(const TestRun& run) const
{
    Environment environment{{"SHARDLINGS_DRIVERS", run.drivers.string()},
                            {grade::costs_variable, run.costs().string()},
                            {grade::timeline_variable, run.timeline().string()}};
    if (!run.seed.empty()) environment.emplace_back("SHARDLINGS_TEST_SEED", run.seed);
    const grade::Staging temporary;  // a judge that is stopped at the limit leaves what it has made in there
    if (run.in_sandbox)
        environment.insert(environment.end(),
                           {{grade::sandbox_variable, "yes"}, {"TMPDIR", temporary.path().string()}});
    Command command{run.judge.string(), fmt::format("[{}]", run.part), "-r", "xml", "-o",
                    run.report.string()};
    if (run.to_first_failure) command.push_back("--abort");
    return run_captured(command, environment, run.seconds);
}

std::string name_of(Status status)
{
    for (const auto& [value, name] : status_names)
        if (value == status) return std::string(name);
    return {};
}

Status status_named(const std::string& name)
{
    for (const auto& [value, known] : status_names)
        if (known == name) return value;
    throw Error(fmt::format("'{}' is no status of an exercise", name));
}

int PartResult::passed() const
{
    return static_cast<int>(
        std::count_if(cases.begin(), cases.end(), [](const CaseReport& result) { return result.passed; }));
}

double PartResult::earned(double points) const
{
    if (status == Status::done) return points;
    return cases.empty() ? 0.0 : points * passed() / static_cast<double>(cases.size());
}

TestRun test_run_of(const Places& places, const Lesson& lesson, const Part& part, const std::string& whose)
{
    return {places.judge(lesson),
            part.id,
            places.drivers(whose, lesson),
            places.reports(whose, lesson) / (part.id + ".xml"),
            part.seconds,
            {},
            false};
}

PartResult judge_part(const Runner& runner, const TestRun& run)
{
    check(fs::exists(run.judge), "{} is missing: build it with make all", run.judge.string());
    fs::create_directories(run.report.parent_path());
    fs::remove(run.report);
    fs::remove(run.costs());
    fs::remove(run.timeline());
    const ProcessResult process = runner.run(run);
    Report report = fs::exists(run.report) ? read_report(run.report) : Report{};
    PartResult result;
    result.note = what_happened(process, run, report);
    result.cases = std::move(report.cases);
    result.cost = read_costs(run.costs());
    if (fs::exists(run.timeline())) result.timeline = read_file(run.timeline());
    const bool all_pass = result.passed() == static_cast<int>(result.cases.size());
    if (!result.note.empty())
        result.status = Status::failing;
    else if (all_pass)
        result.status = Status::done;
    else if (std::all_of(result.cases.begin(), result.cases.end(),
                         [](const CaseReport& c) { return c.passed || is_open(c); }))
        result.status = Status::not_implemented;
    return result;
}

PartResult not_built(std::string errors)
{
    return {Status::does_not_compile, {}, std::move(errors), {}};
}

void two_at_a_time(std::size_t count, const std::function<void(std::size_t)>& work,
                   const std::function<void(std::size_t)>& finished)
{
    std::vector<std::packaged_task<void()>> tasks;
    std::vector<std::future<void>> results;
    for (std::size_t i = 0; i < count; ++i) {
        tasks.emplace_back([&work, i] { work(i); });
        results.push_back(tasks.back().get_future());
    }
    std::mutex mutex;
    std::size_t next = 0;
    const auto run_tasks = [&] {
        for (;;) {
            std::size_t mine = 0;
            {
                const std::lock_guard lock(mutex);
                if (next == count) return;
                mine = next++;
            }
            tasks[mine]();
        }
    };
    const std::jthread first(run_tasks), second(run_tasks);
    for (std::size_t i = 0; i < count; ++i) {
        results[i].get();
        finished(i);
    }
}

}  // namespace shardlings
