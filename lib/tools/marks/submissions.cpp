#include "lib/tools/marks/submissions.hpp"

#include <algorithm>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/points.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t largest_hashed = 64u << 20;  // bytes; of a larger file only the size counts

bool is_archive(const std::string& name)
{
    return name.ends_with(".zip") || name.ends_with(".tar.gz") || name.ends_with(".tgz") ||
           name.ends_with(".tar");
}

std::string hash_of_file(const fs::path& file)
{
    std::error_code problem;
    if (fs::symlink_status(file, problem).type() != fs::file_type::regular) return "-";
    const std::uintmax_t size = fs::file_size(file, problem);
    if (problem || size > largest_hashed) return std::to_string(size);
    try {
        return hash_of(read_file(file));
    } catch (const Error&) {
        return "not readable";
    }
}

}  // namespace

Submissions find_submissions(const fs::path& folder)
{
    check(fs::is_directory(folder), "{} is no folder", folder.string());
    Submissions all;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const fs::file_type type = entry.symlink_status().type();
        if (name.starts_with('.')) continue;
        if (type == fs::file_type::directory || (type == fs::file_type::regular && is_archive(name)))
            all.found.push_back(entry.path());
        else
            all.left_out.push_back(name);
    }
    check(!all.found.empty(), "{} holds no submission: expected folders, .zip or .tar.gz files",
          folder.string());
    std::sort(all.found.begin(), all.found.end());
    std::sort(all.left_out.begin(), all.left_out.end());
    return all;
}

std::string hash_of_submission(const Manifest& manifest, const fs::path& submission)
{
    std::error_code ignored;
    if (!fs::is_directory(submission, ignored)) return hash_of_file(submission);
    std::string all;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts)
            for (const fs::path& folder : {submission / "exercises", submission})
                all += hash_of_file(folder / lesson.name / part.file) + "\n";
    return hash_of(all);
}

std::string hash_of_tests(const Places& places, const Manifest& manifest)
{
    std::string all;
    for (const Lesson& lesson : manifest.lessons) {
        const fs::path judge = places.judge(lesson);
        check(fs::exists(judge), "{} is missing: build it with make grader", judge.string());
        all += hash_of(read_file(judge)) + "\n";
        all += hash_of_file(places.build / "obj" / "tests" / lesson.name / "driver.o") + "\n";
        for (const Part& part : lesson.parts)
            all += fmt::format("{} {} {}\n", part.id, part.file, part.seconds);
    }
    return hash_of(all);
}

std::map<std::string, std::int64_t> read_times(const fs::path& file)
{
    std::map<std::string, std::int64_t> times;
    int number = 0;
    std::string text = read_file(file);
    if (constexpr std::string_view mark = "\xef\xbb\xbf"; text.starts_with(mark))  // spreadsheets' UTF-8
        text.erase(0, mark.size());
    for (const std::string& line : lines_of(text)) {
        ++number;
        if (trimmed(line).empty()) continue;
        const auto comma = line.rfind(',');
        check(comma != line.npos, "{}:{}: expected name,time", file.string(), number);
        try {
            times[trimmed(line.substr(0, comma))] = parse_time(trimmed(line.substr(comma + 1)));
        } catch (const Error& error) {
            throw Error(fmt::format("{}:{}: {}", file.string(), number, error.what()));
        }
    }
    return times;
}

}  // namespace shardlings
