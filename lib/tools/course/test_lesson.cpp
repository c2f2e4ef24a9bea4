#include "lib/tools/course/test_lesson.hpp"

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/compiler_output.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/progress.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

bool is_newer(const fs::path& a, const fs::path& b)
{
    return fs::last_write_time(a) > fs::last_write_time(b);
}

/// The result of one part, without building anything.
PartResult result_of(const Places& places, const Runner& runner, const Lesson& lesson, const Part& part,
                     const std::string& code)
{
    if (code == "exercise") {
        const std::string errors = build_failure(places, lesson, part, code, places.exercise(lesson, part));
        if (!errors.empty()) return not_built(errors);
    }
    return judge_part(runner, test_run_of(places, lesson, part, code));
}

/// Judges the parts, prints and books the results; the number that are done.
std::size_t run_parts(const Places& places, const Runner& runner, const Lesson& lesson,
                      const std::vector<const Part*>& parts, const TestRequest& request)
{
    std::vector<PartResult> results(parts.size());
    std::vector<std::string> hashes;
    for (const Part* part : parts) hashes.push_back(exercise_hash(places, lesson, *part));
    std::size_t done = 0;
    two_at_a_time(
        parts.size(),
        [&](std::size_t i) { results[i] = result_of(places, runner, lesson, *parts[i], request.code); },
        [&](std::size_t i) {
            for (const std::string& line : lines_for(*parts[i], results[i], request.detail))
                fmt::print("{}\n", line);
            std::fflush(stdout);
            done += results[i].status == Status::done ? 1 : 0;
        });
    if (request.code == "exercise") {
        Progress progress = Progress::load(places.progress());
        for (std::size_t i = 0; i < parts.size(); ++i) progress.book(parts[i]->id, results[i], hashes[i]);
        progress.save();
    }
    return done;
}

void say_what_is_next(const Places& places, const Lesson& lesson)
{
    const Part* next = first_open_part(lesson, Progress::load(places.progress()));
    if (next == nullptr)
        fmt::print("\nLesson {} is done. Compare your code with solutions/{}.\n", lesson.number(),
                   lesson.name);
    else
        fmt::print("\nNext: {} {}, in {} (make hint-{} PART={})\n", next->id, next->title,
                   places.shown(places.exercise(lesson, *next)), lesson.number(), next->id);
}

}  // namespace

std::string build_failure(const Places& places, const Lesson& lesson, const Part& part,
                          const std::string& whose, const fs::path& source)
{
    const fs::path driver = places.drivers(whose, lesson) / part.stem();
    if (!fs::exists(source)) return places.shown(source) + " is missing";
    if (fs::exists(driver) && !is_newer(source, driver)) return {};
    const fs::path compiler_errors = places.build / "obj" / (whose == "exercise" ? "exercises" : whose) /
                                     lesson.name / (part.stem() + ".err");
    for (const fs::path& file : {compiler_errors, fs::path(driver.string() + ".err")}) {
        if (!fs::exists(file)) continue;
        const std::vector<BuildError> errors = build_errors(read_file(file));
        if (!errors.empty()) return errors.front().message;
    }
    return fmt::format("{} is missing or older than {}: run make exercise-{}", places.shown(driver),
                       places.shown(source), lesson.number());
}

bool test_lesson(const Places& places, const Manifest& manifest, const Runner& runner,
                 const TestRequest& request)
{
    check(request.code == "exercise" || request.code == "solution",
          "--code is 'exercise' or 'solution', not '{}'", request.code);
    const Lesson& lesson = find_lesson(manifest, request.lesson);
    std::vector<const Part*> all;
    for (const Part& part : lesson.parts) all.push_back(&part);
    if (request.part.empty()) {
        const bool passed = run_parts(places, runner, lesson, all, request) == all.size();
        if (request.code == "exercise") say_what_is_next(places, lesson);
        return passed;
    }
    const bool was_done = first_open_part(lesson, Progress::load(places.progress())) == nullptr;
    bool passed = run_parts(places, runner, lesson, {&find_part(lesson, request.part)}, request) == 1;
    if (request.code != "exercise") return passed;
    const bool is_done = first_open_part(lesson, Progress::load(places.progress())) == nullptr;
    if (is_done && !was_done && all.size() > 1) {
        fmt::print("\nThat was the last open part of lesson {}; all of it once more:\n", lesson.number());
        passed = run_parts(places, runner, lesson, all, request) == all.size();
    }
    if (passed) say_what_is_next(places, lesson);
    return passed;
}

}  // namespace shardlings
