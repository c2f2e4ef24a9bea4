#include "lib/tools/course/manifest.hpp"

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

/// A table of a TOML file whose keys are read one by one; errors name the file and the line.
class Reader {
  public:
    Reader(const toml::table& table, const fs::path& file, std::initializer_list<std::string_view> keys)
        : table_(table), file_(file)
    {
        for (const auto& [key, node] : table)
            require(std::find(keys.begin(), keys.end(), key.str()) != keys.end(), node,
                    "unknown key '{}'; known are {}", key.str(), joined({keys.begin(), keys.end()}, ", "));
    }

    template <class... Args>
    void require(bool condition, const toml::node& node, fmt::format_string<Args...> message,
                 Args&&... args) const
    {
        if (condition) return;
        throw Error(fmt::format("{}:{}: {}", file_.string(), node.source().begin.line,
                                fmt::format(message, std::forward<Args>(args)...)));
    }

    const toml::node& node(std::string_view key) const
    {
        const toml::node* node = table_.get(key);
        require(node != nullptr, table_, "the key '{}' is missing in the table that begins here", key);
        return *node;
    }

    std::string text(std::string_view key) const
    {
        const auto value = node(key).value<std::string>();
        require(value && !value->empty(), node(key), "'{}' must be a string that is not empty", key);
        return *value;
    }

    /// A string that may be empty.
    std::string any_text(std::string_view key) const
    {
        const auto value = node(key).value<std::string>();
        require(value.has_value(), node(key), "'{}' must be a string", key);
        return *value;
    }

    double positive(std::string_view key) const
    {
        const auto value = node(key).value<double>();
        require(value && *value > 0.0, node(key), "'{}' must be a number above 0", key);
        return *value;
    }

    const toml::array& array(std::string_view key) const
    {
        const toml::array* array = node(key).as_array();
        require(array != nullptr && !array->empty(), node(key), "'{}' must be a list that is not empty", key);
        return *array;
    }

    /// A list of values of one type that all satisfy `valid`.
    template <class T, class Valid>
    std::vector<T> list(std::string_view key, std::string_view of, Valid&& valid) const
    {
        std::vector<T> values;
        for (const toml::node& element : array(key)) {
            const auto value = element.value<T>();
            require(value && valid(*value), element, "'{}' must be a list of {}", key, of);
            values.push_back(*value);
        }
        return values;
    }

    const toml::table& table_in(std::string_view key, const toml::node& element) const
    {
        require(element.is_table(), element, "'{}' must be a list of tables: write [[{}]]", key, key);
        return *element.as_table();
    }

  private:
    const toml::table& table_;
    const fs::path& file_;
};

toml::table parse(const fs::path& file)
{
    try {
        return toml::parse(read_file(file), file.string());
    } catch (const toml::parse_error& error) {
        throw Error(fmt::format("{}:{}: {}", file.string(), error.source().begin.line, error.description()));
    }
}

Part read_part(const toml::table& table, const fs::path& file, const Lesson& lesson)
{
    const Reader read(table, file, {"id", "title", "file", "ranks", "points", "seconds", "minutes", "hints"});
    Part part;
    part.id = read.text("id");
    part.title = read.text("title");
    part.file = read.text("file");
    part.ranks = read.list<int>("ranks", "rank counts, 1 or more", [](int ranks) { return ranks >= 1; });
    part.points = read.positive("points");
    part.seconds = read.positive("seconds");
    part.minutes = static_cast<int>(read.positive("minutes"));
    part.hints =
        read.list<std::string>("hints", "texts", [](const std::string& hint) { return !hint.empty(); });
    read.require(part.id.starts_with(lesson.number() + "."), read.node("id"),
                 "part '{}' stands in lesson {}: its id must begin with '{}.'", part.id, lesson.name,
                 lesson.number());
    read.require(fs::path(part.file).extension() == ".cpp" && !fs::path(part.file).has_parent_path(),
                 read.node("file"), "'{}' must be the name of a .cpp file without a folder", part.file);
    read.require(part.hints.size() == 3, read.node("hints"),
                 "part {} has {} hints, expected three: a question, an invariant, pseudocode", part.id,
                 part.hints.size());
    return part;
}

bool is_lesson_name(const std::string& name)
{
    return name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) &&
           std::isdigit(static_cast<unsigned char>(name[1])) && name[2] == '_' && name.find('/') == name.npos;
}

Lesson read_lesson(const toml::table& table, const fs::path& file)
{
    const Reader read(table, file, {"name", "title", "part"});
    Lesson lesson;
    lesson.name = read.text("name");
    lesson.title = read.text("title");
    read.require(is_lesson_name(lesson.name), read.node("name"), "'{}' must look like 01_transformer",
                 lesson.name);
    std::set<std::string> seen;
    for (const toml::node& element : read.array("part")) {
        lesson.parts.push_back(read_part(read.table_in("lesson.part", element), file, lesson));
        read.require(seen.insert(lesson.parts.back().id).second, element, "part {} is there twice",
                     lesson.parts.back().id);
    }
    return lesson;
}

}  // namespace

Manifest read_manifest(const fs::path& file)
{
    const toml::table table = parse(file);
    const Reader read(table, file, {"lesson"});
    Manifest manifest;
    std::set<std::string> seen;
    for (const toml::node& element : read.array("lesson")) {
        manifest.lessons.push_back(read_lesson(read.table_in("lesson", element), file));
        read.require(seen.insert(manifest.lessons.back().number()).second, element,
                     "lesson {} is there twice", manifest.lessons.back().number());
    }
    return manifest;
}

const Lesson& find_lesson(const Manifest& manifest, std::string_view word)
{
    std::vector<std::string> names;
    for (const Lesson& lesson : manifest.lessons) {
        const std::string number = lesson.number();
        if (word == lesson.name || word == number || (number.starts_with('0') && word == number.substr(1)))
            return lesson;
        names.push_back(lesson.name);
    }
    throw Error(fmt::format("there is no lesson '{}'; the lessons are {}", word, joined(names, ", ")));
}

const Part& find_part(const Lesson& lesson, std::string_view id)
{
    std::vector<std::string> ids;
    for (const Part& part : lesson.parts) {
        if (part.id == id) return part;
        ids.push_back(part.id);
    }
    throw Error(
        fmt::format("lesson {} has no part '{}'; its parts are {}", lesson.name, id, joined(ids, ", ")));
}

PlantedBug read_planted_bug(const fs::path& file, const std::string& lesson)
{
    const toml::table table = parse(file);
    const Reader read(table, file, {"part", "file", "find", "replace", "says", "why"});
    PlantedBug bug{lesson,
                   file.stem().string(),
                   read.text("part"),
                   read.text("file"),
                   read.text("find"),
                   read.any_text("replace"),
                   read.text("says"),
                   read.text("why")};
    read.require(bug.find != bug.replace, read.node("replace"), "'replace' is the same as 'find'");
    return bug;
}

}  // namespace shardlings
