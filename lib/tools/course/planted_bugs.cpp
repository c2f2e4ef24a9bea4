#include "lib/tools/course/planted_bugs.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/show.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t shown_columns = 100;

std::string name_of(const PlantedBug& bug)
{
    return bug.lesson + "/" + bug.name;
}

std::string file_of(const PlantedBug& bug)
{
    return fmt::format("tests/{}/wrong/{}.toml", bug.lesson, bug.name);
}

std::regex pattern_of(const PlantedBug& bug)
{
    try {
        return std::regex(bug.says);
    } catch (const std::regex_error& problem) {
        throw Error(fmt::format("{}: 'says' is no regular expression: {}", file_of(bug), problem.what()));
    }
}

/// The line of a message that `says` matches; empty when it matches across lines only.
std::string telling_line(const PlantedBug& bug, const PartResult& result)
{
    const std::regex pattern = pattern_of(bug);
    for (const CaseReport& one : result.cases)
        for (const std::string& message : one.messages)
            for (const std::string& line : lines_of(message))
                if (std::regex_search(line, pattern)) return line;
    return {};
}

std::string first_message(const PartResult& result)
{
    for (const CaseReport& one : result.cases)
        if (!one.messages.empty()) return one.messages.front();
    return result.note;
}

/// The run of a bug's part; its driver lies one folder deeper than a lesson's.
TestRun run_of(const Places& places, const Manifest& manifest, const PlantedBug& bug)
{
    const Lesson& lesson = find_lesson(manifest, bug.lesson);
    TestRun run = test_run_of(places, lesson, find_part(lesson, bug.part), "wrong");
    run.drivers /= bug.name;
    run.report.replace_filename(bug.name + ".xml");
    return run;
}

PartResult judge_bug(const Places& places, const Manifest& manifest, const Runner& runner,
                     const PlantedBug& bug, bool to_first_failure)
{
    TestRun run = run_of(places, manifest, bug);
    run.to_first_failure = to_first_failure;
    const fs::path driver = run.drivers / fs::path(bug.file).stem();
    if (!fs::exists(driver)) return not_built(places.shown(driver) + " is missing");
    return judge_part(runner, run);
}

}  // namespace

std::vector<PlantedBug> planted_bugs(const Places& places, const Manifest& manifest)
{
    std::vector<PlantedBug> bugs;
    for (const Lesson& lesson : manifest.lessons) {
        const fs::path folder = places.root / "tests" / lesson.name / "wrong";
        if (!fs::is_directory(folder)) continue;
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".toml")
                bugs.push_back(read_planted_bug(entry.path(), lesson.name));
    }
    std::sort(bugs.begin(), bugs.end(), [](const PlantedBug& a, const PlantedBug& b) {
        return std::tie(a.lesson, a.part, a.name) < std::tie(b.lesson, b.part, b.name);
    });
    for (const PlantedBug& bug : bugs) {
        const Part& part = find_part(find_lesson(manifest, bug.lesson), bug.part);
        check(part.file == bug.file, "{}: part {} is in {}, not in {}", file_of(bug), bug.part, part.file,
              bug.file);
        pattern_of(bug);
    }
    return bugs;
}

std::string with_bug(std::string_view solution, const PlantedBug& bug)
{
    std::string text(solution);
    const auto place = text.find(bug.find);
    check(place != text.npos, "{}: 'find' is not in solutions/{}/{}", file_of(bug), bug.lesson, bug.file);
    check(text.find(bug.find, place + 1) == text.npos,
          "{}: 'find' is more than once in solutions/{}/{}: take more of the text around it", file_of(bug),
          bug.lesson, bug.file);
    return text.replace(place, bug.find.size(), bug.replace);
}

std::string why_missed(const PlantedBug& bug, const PartResult& result)
{
    if (result.status == Status::done) return "all tests pass";
    if (result.status != Status::failing)
        return fmt::format("{}: {}", name_of(result.status), first_message(result));
    const std::regex pattern = pattern_of(bug);
    for (const CaseReport& one : result.cases)
        for (const std::string& message : one.messages)
            if (std::regex_search(message, pattern)) return {};
    return fmt::format("no message matches /{}/: {}", bug.says, first_message(result));
}

void plant_bugs(const Places& places, const Manifest& manifest)
{
    std::set<fs::path> planted;
    for (const PlantedBug& bug : planted_bugs(places, manifest)) {
        const fs::path folder = places.build / "wrong" / bug.lesson / bug.name;
        planted.insert(folder);
        write_if_changed(folder / bug.file,
                         with_bug(read_file(places.root / "solutions" / bug.lesson / bug.file), bug));
    }
    if (!fs::is_directory(places.build / "wrong")) return;
    for (const auto& lesson : fs::directory_iterator(places.build / "wrong"))
        for (const auto& folder : fs::directory_iterator(lesson))
            if (!planted.contains(folder.path())) fs::remove_all(folder.path());
}

bool judge_planted_bugs(const Places& places, const Manifest& manifest, const Runner& runner,
                        const std::string& only)
{
    std::vector<PlantedBug> bugs = planted_bugs(places, manifest);
    std::erase_if(bugs, [&](const PlantedBug& bug) { return !name_of(bug).starts_with(only); });
    check(!bugs.empty(), "there is no planted bug '{}…': expected the beginning of a LESSON/NAME", only);
    std::vector<PartResult> results(bugs.size());
    std::size_t missed = 0;
    two_at_a_time(
        bugs.size(),
        [&](std::size_t i) {
            // One message that says what is wrong is enough, and mostly it is the first.
            results[i] = judge_bug(places, manifest, runner, bugs[i], true);
            if (!why_missed(bugs[i], results[i]).empty())
                results[i] = judge_bug(places, manifest, runner, bugs[i], false);
        },
        [&](std::size_t i) {
            const std::string reason = why_missed(bugs[i], results[i]);
            missed += reason.empty() ? 0 : 1;
            fmt::print("{}  {}  {:<34} {}\n", reason.empty() ? "caught" : "MISSED", bugs[i].part,
                       bugs[i].name, bugs[i].why);
            if (reason.empty())
                fmt::print("              {}\n", shortened(telling_line(bugs[i], results[i]), shown_columns));
            for (const std::string& line : lines_of(reason)) fmt::print("              {}\n", line);
            std::fflush(stdout);
        });
    fmt::print("{} caught, {} missed\n", bugs.size() - missed, missed);
    return missed == 0;
}

bool show_bug(const Places& places, const Manifest& manifest, const Runner& runner, const std::string& name)
{
    const std::vector<PlantedBug> bugs = planted_bugs(places, manifest);
    const auto bug =
        std::find_if(bugs.begin(), bugs.end(), [&](const PlantedBug& one) { return name_of(one) == name; });
    check(bug != bugs.end(),
          "there is no planted bug '{}': expected LESSON/NAME of a tests/LESSON/wrong/NAME.toml", name);
    const PartResult result = judge_bug(places, manifest, runner, *bug, false);
    const Part& part = find_part(find_lesson(manifest, bug->lesson), bug->part);
    for (const std::string& line : lines_for(part, result, Detail::first_few)) fmt::print("{}\n", line);
    return why_missed(*bug, result).empty();
}

}  // namespace shardlings
