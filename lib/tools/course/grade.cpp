#include "lib/tools/course/grade.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/generate.hpp"
#include "lib/tools/course/submission.hpp"
#include "lib/tools/course/test_lesson.hpp"
#include "lib/tools/grade/compile.hpp"
#include "lib/tools/grade/printable.hpp"
#include "lib/tools/grade/protocol.hpp"
#include "lib/tools/grade/sandbox.hpp"
#include "lib/tools/grade/verdict.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/launch/left_behind.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr double patience = 3.0;  // a machine that grades is busy, and no correct code may lose to that
// After which the build of a submission is stopped: longer than its compiler has, which cleans up when it is
// stopped.
constexpr double build_seconds_a_file = 75.0;
// Built before the first of them is judged: a time limit should leave points, and each time a core may be
// idle at the end.
constexpr std::size_t parts_at_once = 14;

/// The copy of a submission under the build folder, and all that is built of it; removed at the end.
class Copy {
  public:
    explicit Copy(const Places& places) : places_(places), name_(maker())
    {
        remove(name_);
        remove_abandoned();
    }
    ~Copy()
    {
        remove(name_);
        remove_abandoned();
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    const std::string& name() const { return name_; }
    std::string whose() const { return "submission/" + name_; }
    fs::path folder() const { return places_.build / whose(); }
    fs::path source(const Lesson& lesson, const Part& part) const
    {
        return folder() / lesson.name / part.file;
    }

    /// The text with the copy's file names as they are in the submission, and others without the place of the
    /// course on this machine.
    std::string original(std::string text) const
    {
        replace(text, places_.root.string() + "/", "");
        replace(text, places_.shown(folder()) + "/", "exercises/");
        return text;
    }

  private:
    static void replace(std::string& text, const std::string& what, const std::string& by)
    {
        for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
            text.replace(at, what.size(), by);
    }

    void remove(const std::string& name) const
    {
        std::error_code ignored;
        for (const fs::path& part : {fs::path(), fs::path("obj"), fs::path("drivers"), fs::path("reports")})
            fs::remove_all(places_.build / part / "submission" / name, ignored);
    }

    /// What graders of this machine that were killed left behind.
    void remove_abandoned() const
    {
        std::error_code none;
        std::vector<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(places_.build / "submission", none))
            names.push_back(entry.path().filename().string());
        for (const std::string& name : names)
            if (has_ended(name)) remove(name);
        remove_left_behind(fs::temp_directory_path());
        remove_left_behind("/tmp");  // where a sandbox's is when nobody else may enter the usual place
    }

    const Places& places_;
    std::string name_;
};

struct Entry {
    const Lesson* lesson;
    GradedPart graded;
};

/// The exercises as they are handed out, by their path. They need not be built: make check-skeletons promises
/// that all their tests fail as not implemented.
std::map<fs::path, std::string> handed_out(const Places& places, const Lesson& lesson)
{
    std::map<fs::path, std::string> files;
    for (Skeleton& skeleton : skeletons_of(places, lesson)) files[skeleton.file] = std::move(skeleton.text);
    return files;
}

std::vector<Entry> copy_files(const Places& places, const Manifest& manifest, const fs::path& from,
                              const Copy& copy)
{
    std::vector<Entry> entries;
    std::size_t found = 0;
    Submission submission(from, manifest);
    for (const Lesson& lesson : manifest.lessons) {
        const std::map<fs::path, std::string> skeletons = handed_out(places, lesson);
        for (const Part& part : lesson.parts) {
            Entry entry{&lesson, {part, submission.has(lesson, part), {}, true}};
            if (entry.graded.submitted) {
                ++found;
                const std::string text = submission.text_of(lesson, part);
                entry.graded.judged = text == skeletons.at(places.exercise(lesson, part));
                if (entry.graded.judged)
                    entry.graded.result = {
                        Status::not_implemented, {}, "the file is as it was handed out", {}};
                else
                    write_if_changed(copy.source(lesson, part), text);
            }
            entries.push_back(std::move(entry));
        }
    }
    for (const std::string& reason : submission.left_out())
        for (Entry& entry : entries)
            if (!entry.graded.submitted &&
                reason.starts_with(entry.lesson->name + "/" + entry.graded.part.file))
                entry.graded.result.note = reason;
    if (found == 0)
        throw SubmissionError(
            fmt::format("{} holds no exercise: expected files such as exercises/{}/{}{}", from.string(),
                        manifest.lessons.front().name, manifest.lessons.front().parts.front().file,
                        submission.left_out().empty() ? "" : "; " + joined(submission.left_out(), "; ")));
    return entries;
}

/// Builds the drivers of submitted files, in a sandbox when there is one.
class Builder {
  public:
    Builder(const Places& places, const Copy& copy, bool in_sandbox) : places_(places), copy_(copy)
    {
        if (!in_sandbox) return;
        headers_.emplace();
        grade::stage_headers(places.root, *headers_);
    }
    /// Two at a time, as tests are run: what the machine has may not be what a container may use.
    void build(const std::vector<Entry>& entries, std::span<const std::size_t> parts) const
    {
        Command command{"make", "-C", places_.root.string(), "-k", "-j2"};
        command.push_back("BUILD=" + places_.shown(places_.build));
        command.push_back("SUBMISSION=" + copy_.name());
        command.push_back("SANDBOX=" + (headers_ ? headers_->path().string() : ""));
        for (const std::size_t i : parts)
            command.push_back(places_.shown(places_.drivers(copy_.whose(), *entries[i].lesson) /
                                            entries[i].graded.part.stem()));
        run_captured(command, {}, build_seconds_a_file * static_cast<double>(parts.size()));
    }

  private:
    const Places& places_;
    const Copy& copy_;
    std::optional<grade::Staging> headers_;
};

/// What the grader says of a whole part, in place of its tests.
PartResult refused(const std::string& why)
{
    return {Status::failing, {}, why};
}

PartResult judge_object(const Places& places, const Runner& runner, const Copy& copy, const Lesson& lesson,
                        const Part& part, const Grade& grade, const grade::Trusted& trusted)
{
    const std::string errors = build_failure(places, lesson, part, copy.whose(), copy.source(lesson, part));
    if (!errors.empty()) return not_built(errors);
    const fs::path object = fs::path(lesson.name) / (part.stem() + ".o");
    const std::string found = grade::objections(places.build / "obj" / copy.whose() / object,
                                                places.build / "obj" / "solutions" / object, trusted);
    if (!found.empty()) return refused("not run, because of what its object file holds:\n" + found);
    TestRun run = test_run_of(places, lesson, part, copy.whose());
    run.seed = grade.seed;
    run.in_sandbox = grade.tamper_proof;
    run.seconds *= patience;
    PartResult result = judge_part(runner, run);
    for (const CaseReport& one : result.cases)
        for (const std::string& message : one.messages)
            for (const char* cheat : {grade::tampering, grade::hoarding})
                if (message.find(cheat) != message.npos) return refused(message);
    return result;
}

/// The result of one part. Nothing that its code does ends the grading of the others.
PartResult judge(const Places& places, const Runner& runner, const Copy& copy, const Lesson& lesson,
                 const Part& part, const Grade& grade, const grade::Trusted& trusted)
{
    PartResult result;
    try {
        result = judge_object(places, runner, copy, lesson, part, grade, trusted);
    } catch (const std::exception& error) {
        result = refused(fmt::format("cannot be judged: {}", error.what()));
    }
    result.note = grade::printable(copy.original(result.note));
    for (CaseReport& one : result.cases)
        for (std::string& message : one.messages) message = grade::printable(copy.original(message));
    return result;
}

}  // namespace

double GradedPart::earned() const
{
    if (!submitted || !judged) return 0.0;
    if (part.all_or_nothing) return result.status == Status::done ? part.points : 0.0;
    return result.earned(part.points);
}

std::string GradedPart::status() const
{
    if (!submitted) return "missing";
    return judged ? name_of(result.status) : "not graded";
}

double Grade::earned() const
{
    double sum = 0.0;
    for (const GradedPart& part : parts) sum += part.earned();
    return sum;
}

double Grade::max() const
{
    double sum = 0.0;
    for (const GradedPart& part : parts) sum += part.part.points;
    return sum;
}

Grade grade_submission(const Places& places, const Manifest& manifest, const Runner& runner,
                       const fs::path& folder, const std::string& seed, const GradeSoFar& so_far)
{
    const Copy copy(places);
    const std::vector<Entry> entries = copy_files(places, manifest, folder, copy);
    Grade grade;
    grade.seed = seed;
    grade.tamper_proof = grade::why_no_sandbox().empty();
    for (const Entry& entry : entries) grade.parts.push_back(entry.graded);
    if (so_far) so_far(grade);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!entries[i].graded.judged) open.push_back(i);
    const Builder builder(places, copy, grade.tamper_proof);
    std::optional<grade::Trusted> trusted;
    for (std::size_t first = 0; first < open.size(); first += parts_at_once) {
        const auto parts = std::span(open).subspan(first, std::min(parts_at_once, open.size() - first));
        builder.build(entries, parts);
        if (!trusted) trusted = grade::trusted_objects(places.build / "obj");
        std::vector<PartResult> results(parts.size());
        two_at_a_time(
            parts.size(),
            [&](std::size_t i) {
                const Entry& entry = entries[parts[i]];
                results[i] = judge(places, runner, copy, *entry.lesson, entry.graded.part, grade, *trusted);
            },
            [&](std::size_t i) {
                grade.parts[parts[i]].result = std::move(results[i]);
                grade.parts[parts[i]].judged = true;
                if (so_far) so_far(grade);
            });
    }
    return grade;
}

}  // namespace shardlings
