#include "lib/tools/course/progress.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/json_problem.hpp"

namespace shardlings {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int format_version = 1;
constexpr int bar_columns = 20;

json to_json(const Record& record)
{
    json stored = {{"hints", record.hints}};
    if (record.status)
        stored.update({{"status", name_of(*record.status)},
                       {"passed", record.passed},
                       {"tests", record.tests},
                       {"hash", record.hash}});
    return stored;
}

Record from_json(const json& stored)
{
    Record record;
    record.hints = stored.at("hints").get<int>();
    if (!stored.contains("status")) return record;
    record.status = status_named(stored.at("status").get<std::string>());
    record.passed = stored.at("passed").get<int>();
    record.tests = stored.at("tests").get<int>();
    record.hash = stored.at("hash").get<std::string>();
    return record;
}

std::string bar(double share)
{
    const int full = static_cast<int>(std::floor(share * bar_columns));
    return fmt::format("[{:#<{}}{:.<{}}]", "", full, "", bar_columns - full);
}

std::string state_of(const Record& record)
{
    const bool untouched = !record.status || (record.status == Status::not_implemented && record.passed == 0);
    return untouched ? "not started" : name_of(*record.status);
}

}  // namespace

Progress Progress::load(const fs::path& file)
{
    Progress progress;
    progress.file_ = file;
    if (!fs::exists(file)) return progress;
    try {
        const json stored = json::parse(read_file(file));
        check(stored.at("version") == format_version, "its version is not {}", format_version);
        for (const auto& [part, record] : stored.at("parts").items())
            progress.records_[part] = from_json(record);
    } catch (const std::exception& problem) {
        throw Error(fmt::format("{} cannot be read ({}); remove it to start anew: your code is not in it",
                                file.string(), problem_of(problem)));
    }
    return progress;
}

void Progress::save() const
{
    json parts = json::object();
    for (const auto& [part, record] : records_) parts[part] = to_json(record);
    write_file(file_, json{{"version", format_version}, {"parts", parts}}.dump(2) + "\n");
}

Record Progress::of(const std::string& part) const
{
    const auto found = records_.find(part);
    return found == records_.end() ? Record{} : found->second;
}

void Progress::book(const std::string& part, const PartResult& result, const std::string& hash)
{
    Record& record = records_[part];
    record.status = result.status;
    record.passed = result.passed();
    record.tests = static_cast<int>(result.cases.size());
    record.hash = hash;
}

const Part* first_open_part(const Lesson& lesson, const Progress& progress)
{
    for (const Part& part : lesson.parts)
        if (!progress.of(part.id).done()) return &part;
    return nullptr;
}

std::string exercise_hash(const Places& places, const Lesson& lesson, const Part& part)
{
    const fs::path file = places.exercise(lesson, part);
    return fs::is_regular_file(file) ? hash_of(read_file(file)) : std::string();
}

void show_progress(const Places& places, const Manifest& manifest)
{
    const Progress progress = Progress::load(places.progress());
    double all_points = 0.0, all_earned = 0.0;
    std::size_t parts = 0, done = 0;
    for (const Lesson& lesson : manifest.lessons) {
        double points = 0.0, earned = 0.0;
        std::size_t lesson_done = 0;
        for (const Part& part : lesson.parts) {
            points += part.points;
            earned += progress.of(part.id).earned(part.points);
            lesson_done += progress.of(part.id).done() ? 1 : 0;
        }
        fmt::print("{} {:<40} {} {} of {} done, {:.4g} of {:.4g} points\n", lesson.number(), lesson.title,
                   bar(earned / points), lesson_done, lesson.parts.size(), earned, points);
        for (const Part& part : lesson.parts) {
            const Record record = progress.of(part.id);
            std::string line = fmt::format("   {}  {:<36} {}", part.id, part.title, state_of(record));
            if (record.tests > 0 && !record.done())
                line += fmt::format(", {} of {} tests pass", record.passed, record.tests);
            if (record.status && record.hash != exercise_hash(places, lesson, part))
                line += ", changed since it was run";
            fmt::print("{}\n", line);
        }
        all_points += points;
        all_earned += earned;
        parts += lesson.parts.size();
        done += lesson_done;
    }
    fmt::print("{:<43} {} {} of {} done, {:.4g} of {:.4g} points\n", "all", bar(all_earned / all_points),
               done, parts, all_earned, all_points);
}

}  // namespace shardlings
