#include "lib/tools/marks/kept_grade.hpp"

#include <nlohmann/json.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"

namespace shardlings {

using json = nlohmann::ordered_json;

void keep_grade(const std::filesystem::path& file, const std::string& key, const Marked& marked)
{
    const json all = {{"name", marked.name},
                      {"key", key},
                      {"seconds", marked.seconds},
                      {"error", marked.error},
                      {"grade", json::parse(grade_json(marked.grade))}};
    write_file(file, all.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<Marked> kept_grade(const std::filesystem::path& file, const std::string& key,
                                 const Manifest& manifest)
{
    if (!std::filesystem::exists(file)) return {};
    try {
        const json all = json::parse(read_file(file));
        if (all.at("key") != key) return {};
        return Marked{all.at("name"), grade_of_json(all.at("grade").dump(), manifest), all.at("error"),
                      all.at("seconds")};
    } catch (const json::exception&) {
        return {};
    } catch (const Error&) {
        return {};
    }
}

Grade no_grade(const Manifest& manifest, const std::string& seed)
{
    Grade grade;
    grade.seed = seed;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts) grade.parts.push_back({part, true, {}, false});
    return grade;
}

}  // namespace shardlings
