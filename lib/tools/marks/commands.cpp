#include "lib/tools/marks/commands.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/points.hpp"
#include "lib/tools/course/submission.hpp"
#include "lib/tools/marks/grade_all.hpp"
#include "lib/tools/marks/gradescope.hpp"
#include "lib/tools/marks/html.hpp"
#include "lib/tools/marks/junit.hpp"
#include "lib/tools/marks/kept_grade.hpp"
#include "lib/tools/marks/terminal.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr double build_seconds_a_file = 75.0;  // as in grade.cpp
constexpr int cannot_be_graded = 3;            // exit code: the submission is the reason

constexpr std::string_view program_says = "shardlings: ";

/// What the command line says; one of it serves all subcommands.
struct Options {
    std::string build = "build";
    std::string folder;
    std::string seed;
    std::string points;
    std::string due;
    // of one submission
    std::string json;
    std::string gradescope;
    std::string junit;
    std::string html;
    std::string submitted;
    std::string metadata;
    // of a class
    std::string out;
    std::string times;
    std::string slice;
    int jobs = 2;

    Places places() const { return find_places(build); }
};

using Shared = std::shared_ptr<Options>;

/// The lessons with the points that are given for them.
struct Worth {
    Manifest manifest;
    LatePolicy late;
};

Worth worth_of(const Options& o)
{
    const Places places = o.places();
    Worth worth{read_manifest(places.manifest()), {}};
    worth.late = apply_points(o.points.empty() ? places.points() : fs::path(o.points), worth.manifest);
    if (!o.due.empty()) worth.late.due = parse_time(o.due);
    return worth;
}

Lateness lateness_of(const Options& o, const LatePolicy& late)
{
    if (!o.metadata.empty()) {
        const SubmissionTimes times = read_submission_metadata(o.metadata);
        return lateness(late, times.submitted, times.due);
    }
    if (o.submitted.empty()) return {};
    check(late.due.has_value(),
          "--submitted is given, but no time when the work is due: --due TIME, or \"due\" in "
          "tests/points.json");
    return lateness(late, parse_time(o.submitted), *late.due);
}

void write_reports(const Options& o, const Marked& marked)
{
    if (!o.json.empty()) write_file(o.json, grade_json(marked.grade));
    if (!o.gradescope.empty()) write_file(o.gradescope, gradescope_json(marked));
    if (!o.junit.empty()) write_file(o.junit, junit_xml(marked));
    if (!o.html.empty()) write_file(o.html, student_html(marked));
}

std::string fresh_seed()
{
    return std::to_string(std::random_device{}());
}

/// The name of the last folder or file of a path, which may end in a slash.
std::string last_name(const std::string& path)
{
    const fs::path normal = fs::absolute(path).lexically_normal();
    return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

void grade_one(const Options& o)
{
    const Worth worth = worth_of(o);
    const Lateness late = lateness_of(o, worth.late);
    Marked marked{last_name(o.folder), {}, "", 0.0};
    const auto begin = std::chrono::steady_clock::now();
    const auto write = [&](const Grade& grade) {
        marked.grade = grade;
        marked.grade.days_late = late.days;
        marked.grade.percent_off = late.percent_off;
        marked.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        write_reports(o, marked);
    };
    const std::string seed = o.seed.empty() ? fresh_seed() : o.seed;
    try {
        write(no_grade(worth.manifest, seed));
        write(grade_submission(o.places(), worth.manifest, LocalRunner(), o.folder, seed, write));
    } catch (const SubmissionError& error) {
        marked.error = error.what();
        write_reports(o, marked);
        fmt::print(stderr, "{}{}\n", program_says, error.what());
        throw CLI::RuntimeError(cannot_be_graded);
    } catch (const Error& error) {
        marked.error = error.what();
        write_reports(o, marked);
        throw;
    }
    print_grade(marked.grade);
}

/// Grades a submission with this program in a process of its own, so that whatever happens there stays there.
GradingProblem grade_in_process(const Options& o, const Manifest& manifest, const fs::path& submission,
                                const std::string& seed, const fs::path& json)
{
    double limit = 60.0;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts) limit += part.seconds + build_seconds_a_file;
    const ProcessResult process =
        run_captured({fs::read_symlink("/proc/self/exe").string(), "grade", submission.string(), "--json",
                      json.string(), "--seed", seed, "--build", o.build},
                     {}, limit);
    if (process.timed_out) return {fmt::format("the grader was stopped after {:.0f} s", limit)};
    if (process.exit_code == 0) return {};
    const bool of_machine = process.exit_code != cannot_be_graded;
    const std::vector<std::string> lines = lines_of(trimmed(process.output));
    if (lines.empty() || process.signal != 0)
        return {fmt::format("the grader ended with status {}", process.exit_code), of_machine};
    std::string says = lines.back().substr(lines.back().starts_with(program_says) ? program_says.size() : 0);
    // In a class's table its name stands beside it.
    if (const std::string folder = submission.parent_path().string() + "/"; says.starts_with(folder))
        says.erase(0, folder.size());
    return {std::move(says), of_machine};
}

void read_slice(const std::string& text, ClassRequest& request)
{
    int used = 0;
    const int found = std::sscanf(text.c_str(), "%d/%d%n", &request.slice, &request.slices, &used);
    check(found == 2 && static_cast<std::size_t>(used) == text.size(),
          "--slice {}: expected K/N, such as 3/10", text);
}

void grade_class_of(const Options& o)
{
    const Worth worth = worth_of(o);
    ClassRequest request;
    request.folder = fs::absolute(o.folder).lexically_normal();
    if (!request.folder.has_filename()) request.folder = request.folder.parent_path();
    check(fs::is_directory(request.folder), "{} is no folder: expected one with a class's submissions in it",
          request.folder.string());
    request.out = o.out.empty() ? request.folder.string() + ".marks" : o.out;
    request.seed = o.seed;
    request.jobs = o.jobs;
    request.times = o.times;
    request.late = worth.late;
    request.writes_to = {o.places().build, fs::temp_directory_path()};
    if (!o.slice.empty()) read_slice(o.slice, request);
    grade_class(o.places(), worth.manifest, request,
                [&](const fs::path& submission, const std::string& seed, const fs::path& json) {
                    return grade_in_process(o, worth.manifest, submission, seed, json);
                });
}

CLI::App* add_command(CLI::App& app, const char* name, const char* what, const Shared& o)
{
    CLI::App* command = app.add_subcommand(name, what);
    command->add_option("--points", o->points, "file that says what exercises are worth (tests/points.json)")
        ->check(CLI::ExistingFile);
    command->add_option("--build", o->build, "folder that make builds in");
    return command;
}

CLI::App* add_grading(CLI::App& app, const char* name, const char* what, const Shared& o)
{
    CLI::App* command = add_command(app, name, what, o);
    command->add_option("--seed", o->seed, "of the tests' random inputs; without it a new one");
    command->add_option("--due", o->due, "when the work was due, as 2026-12-01T23:59:00+01:00");
    return command;
}

void add_grade(CLI::App& app, const Shared& o)
{
    CLI::App* command = add_grading(app, "grade", "score a submission", o);
    command->add_option("submission", o->folder, "folder or archive with exercises/NN_name/*.cpp")
        ->required();
    command->add_option("--json", o->json, "write the score and all results to this file");
    command->add_option("--gradescope", o->gradescope, "the same as Gradescope's results.json");
    command->add_option("--junit", o->junit, "the same as JUnit's XML");
    command->add_option("--html", o->html, "the same as a page to look at");
    CLI::Option* submitted = command->add_option("--submitted", o->submitted, "when it was handed in");
    command
        ->add_option("--metadata", o->metadata,
                     "Gradescope's submission_metadata.json, which knows both times")
        ->excludes(submitted);
    command->callback([o] { grade_one(*o); });
}

void add_grade_all(CLI::App& app, const Shared& o)
{
    CLI::App* command =
        add_grading(app, "grade-all", "score a class of submissions; go on where a run was stopped", o);
    command->add_option("folder", o->folder, "its folders, .zip and .tar.gz files are the submissions")
        ->required();
    command->add_option("--out", o->out, "folder for grades and reports (default: FOLDER.marks)");
    command->add_option("--jobs", o->jobs, "submissions at a time")->capture_default_str();
    command->add_option("--times", o->times, "file with a line NAME,TIME for each submission")
        ->check(CLI::ExistingFile);
    command->add_option("--slice", o->slice, "K/N: only the K-th of N parts of the class, and no reports");
    command->callback([o] { grade_class_of(*o); });
}

}  // namespace

void add_marks_commands(CLI::App& app)
{
    const auto options = std::make_shared<Options>();
    add_grade(app, options);
    add_grade_all(app, options);
    add_command(app, "points", "what every exercise is worth", options)->callback([options] {
        const Worth worth = worth_of(*options);
        print_points(worth.manifest, worth.late);
    });
}

}  // namespace shardlings
