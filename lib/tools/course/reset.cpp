#include <ctime>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/generate.hpp"
#include "lib/tools/course/progress.hpp"
#include "lib/tools/course/student.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

/// A folder that is not there yet: .backup-2026-01-31-174502, then …-2, …
fs::path new_backup_folder(const fs::path& exercises)
{
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::string stamp(20, '\0');
    stamp.resize(std::strftime(stamp.data(), stamp.size(), "%Y-%m-%d-%H%M%S", &local));
    fs::path folder = exercises / (".backup-" + stamp);
    for (int copy = 2; fs::exists(folder); ++copy)
        folder = exercises / fmt::format(".backup-{}-{}", stamp, copy);
    return folder;
}

}  // namespace

void reset_exercises(const Places& places, const Manifest& manifest, const std::string& lesson_word,
                     const std::string& part_id)
{
    const Lesson& lesson = find_lesson(manifest, lesson_word);
    const fs::path only = part_id.empty() ? fs::path() : places.exercise(lesson, find_part(lesson, part_id));
    std::vector<Skeleton> changed;
    for (Skeleton& skeleton : skeletons_of(places, lesson))
        if ((only.empty() || skeleton.file == only) &&
            (!fs::exists(skeleton.file) || read_file(skeleton.file) != skeleton.text))
            changed.push_back(std::move(skeleton));
    if (changed.empty()) {
        fmt::print("exercises/{}: nothing to put back, all is as it was given\n", lesson.name);
        return;
    }

    const fs::path backup = new_backup_folder(places.root / "exercises" / lesson.name);
    for (const Skeleton& skeleton : changed)
        if (fs::exists(skeleton.file))
            write_file(backup / skeleton.file.filename(), read_file(skeleton.file));
    Progress progress = Progress::load(places.progress());
    for (const Skeleton& skeleton : changed) {
        write_file(skeleton.file, skeleton.text);
        fmt::print("put back {}\n", places.shown(skeleton.file));
        for (const Part& part : lesson.parts)
            if (part.file == skeleton.file.filename()) {
                const int hints = progress.of(part.id).hints;
                progress[part.id] = Record{};
                progress[part.id].hints = hints;
            }
    }
    progress.save();
    if (fs::exists(backup)) fmt::print("your code is kept in {}\n", places.shown(backup));
}

}  // namespace shardlings
