#include "lib/tools/course/generate.hpp"

#include <algorithm>
#include <set>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view begin_mark = "// BEGIN SOLUTION";
constexpr std::string_view end_mark = "// END SOLUTION";
constexpr std::string_view error_include = "#include \"lib/machine/base/error.hpp\"";

bool is_quoted_include(const std::string& line)
{
    return line.starts_with("#include \"");
}

/// Adds the include that declares not_implemented to the last block of quoted includes, in alphabetical
/// order.
void add_error_include(std::vector<std::string>& lines, const std::string& file)
{
    if (std::find(lines.begin(), lines.end(), error_include) != lines.end()) return;
    const auto last = std::find_if(lines.rbegin(), lines.rend(), is_quoted_include);
    check(last != lines.rend(), "{}: expected an #include of the lesson's header", file);
    auto place = last.base();
    while (place != lines.begin() && is_quoted_include(*(place - 1)) && *(place - 1) > error_include) --place;
    lines.insert(place, std::string(error_include));
}

/// The lesson's header that the file includes first: it declares what is to be written.
std::string header_of(const std::vector<std::string>& lines, const Lesson& lesson, const std::string& file)
{
    const std::string include = "#include \"lessons/" + lesson.name + "/";
    const auto line = std::find_if(lines.begin(), lines.end(),
                                   [&](const std::string& l) { return l.starts_with(include); });
    check(line != lines.end(), "{}: expected an #include of a header of lessons/{}", file, lesson.name);
    const auto begin = line->find('"') + 1;
    return line->substr(begin, line->find('"', begin) - begin);
}

/// What follows the mark: "01.3 layer_norm_forward", whose part must be one of this file.
std::string marked_name(const std::string& line, const std::string& where, const std::string& file,
                        const Lesson& lesson)
{
    std::string name = trimmed(line.substr(line.find(begin_mark) + begin_mark.size()));
    const auto space = name.find(' ');
    check(space != name.npos, "{}: expected '{} PART FUNCTION'", where, begin_mark);
    const std::string id = name.substr(0, space);
    const auto part = std::find_if(lesson.parts.begin(), lesson.parts.end(), [&](const Part& p) {
        return p.id == id && p.file == fs::path(file).filename();
    });
    check(part != lesson.parts.end(), "{}: the manifest has no part {} in this file", where, id);
    return name;
}

}  // namespace

std::string make_skeleton(std::string_view source, const std::string& file, const Lesson& lesson)
{
    const std::vector<std::string> lines = lines_of(source);
    const std::string header = header_of(lines, lesson, file);
    std::vector<std::string> skeleton;
    bool within = false;
    std::size_t taken_out = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& line = lines[i];
        const std::string where = fmt::format("{}:{}", file, i + 1);
        const auto mark = line.find(begin_mark);
        if (mark != line.npos) {
            check(!within, "{}: a second '{}' before '{}'", where, begin_mark, end_mark);
            within = true;
            ++taken_out;
            const std::string name = marked_name(line, where, file, lesson);
            const std::string indent = line.substr(0, mark);
            skeleton.push_back(fmt::format("{}// Your code: see {} (hints: make hint-{} PART={})", indent,
                                           header, lesson.number(), name.substr(0, name.find(' '))));
            skeleton.push_back(fmt::format("{}not_implemented(\"{}\");", indent, name));
        } else if (line.find(end_mark) != line.npos) {
            check(within, "{}: '{}' without '{}'", where, end_mark, begin_mark);
            within = false;
        } else if (!within) {
            skeleton.push_back(line);
        }
    }
    check(!within, "{}: '{}' is missing at the end", file, end_mark);
    check(taken_out > 0, "{}: there is no '{}', so the exercise would be the solution", file, begin_mark);
    add_error_include(skeleton, file);
    return joined(skeleton, "\n") + "\n";
}

std::vector<Skeleton> skeletons_of(const Places& places, const Lesson& lesson)
{
    std::set<std::string> named;
    for (const Part& part : lesson.parts) named.insert(part.file);
    const fs::path folder = places.root / "solutions" / lesson.name;
    check(fs::is_directory(folder), "{} is missing: the manifest names lesson {}", places.shown(folder),
          lesson.name);
    for (const auto& entry : fs::directory_iterator(folder))
        check(entry.path().extension() != ".cpp" || named.contains(entry.path().filename().string()),
              "{}: the manifest names no part in this file", places.shown(entry.path()));

    std::vector<Skeleton> skeletons;
    for (const std::string& name : named) {
        const fs::path solution = folder / name;
        skeletons.push_back({places.root / "exercises" / lesson.name / name,
                             make_skeleton(read_file(solution), places.shown(solution), lesson)});
    }
    return skeletons;
}

std::vector<std::string> differences(const Places& places, const Manifest& manifest)
{
    std::vector<std::string> found;
    std::set<fs::path> known;
    for (const Lesson& lesson : manifest.lessons)
        for (const Skeleton& skeleton : skeletons_of(places, lesson)) {
            known.insert(skeleton.file);
            if (!fs::exists(skeleton.file))
                found.push_back(places.shown(skeleton.file) + ": is missing");
            else if (read_file(skeleton.file) != skeleton.text)
                found.push_back(places.shown(skeleton.file) + ": differs");
        }
    if (!fs::exists(places.root / "exercises")) return found;
    for (const auto& folder : fs::directory_iterator(places.root / "exercises"))
        if (folder.is_directory())
            for (const auto& entry : fs::directory_iterator(folder))
                if (entry.path().extension() == ".cpp" && !known.contains(entry.path()))
                    found.push_back(places.shown(entry.path()) + ": no solution gives it");
    return found;
}

}  // namespace shardlings
