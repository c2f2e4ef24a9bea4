#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/progress.hpp"
#include "lib/tools/course/student.hpp"

namespace shardlings {

namespace {

void print_hint(const Part& part, int number)
{
    fmt::print("\nHint {} of {}\n", number, part.hints.size());
    for (const std::string& line : lines_of(trimmed(part.hints[static_cast<std::size_t>(number - 1)])))
        fmt::print("  {}\n", line);
}

}  // namespace

void show_hint(const Places& places, const Manifest& manifest, const std::string& lesson_word,
               const std::string& part_id, bool solution)
{
    const Lesson& lesson = find_lesson(manifest, lesson_word);
    Progress progress = Progress::load(places.progress());
    const Part* open = first_open_part(lesson, progress);
    if (part_id.empty() && open == nullptr) {
        fmt::print("All parts of lesson {} are done. The reference: solutions/{}\n", lesson.number(),
                   lesson.name);
        return;
    }
    const Part& part = part_id.empty() ? *open : find_part(lesson, part_id);
    Record& record = progress[part.id];
    if (record.done() || solution) {
        fmt::print("{} {}, the reference: {}\n", part.id, part.title,
                   places.shown(places.solution(lesson, part)));
        return;
    }
    const int count = static_cast<int>(part.hints.size());
    const bool was_last = record.hints >= count;
    record.hints = std::min(record.hints + 1, count);

    fmt::print("{} {}: {}\n", part.id, part.title, places.shown(places.exercise(lesson, part)));
    for (int number = 1; number <= record.hints; ++number) print_hint(part, number);
    if (was_last)
        fmt::print(
            "\nThere are no more hints. The reference is shown when the part is done, or with\n"
            "make hint-{} PART={} SOLUTION=1\n",
            lesson.number(), part.id);
    progress.save();
}

}  // namespace shardlings
