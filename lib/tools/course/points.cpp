#include "lib/tools/course/points.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/json_mistake.hpp"
#include "lib/tools/course/json_problem.hpp"

namespace shardlings {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr double seconds_per_day = 86400.0;
constexpr double most_points = 1e6;
const std::vector<std::string> credits{"per test", "all or nothing"};
const std::vector<std::string> visibilities{"visible", "hidden", "after_due_date", "after_published"};

/// An object of the file; errors name the file and the way to the value.
class Reader {
  public:
    Reader(const json& object, std::string where, const std::vector<std::string>& keys)
        : object_(object), where_(std::move(where))
    {
        require(object.is_object(), "", "expected {{…}} with any of the keys {}, not {}", joined(keys, ", "),
                object.dump());
        for (const auto& [key, value] : object.items())
            require(std::find(keys.begin(), keys.end(), key) != keys.end(), key,
                    "there is no such key; known are {}", joined(keys, ", "));
    }

    template <class... Args>
    void require(bool condition, const std::string& key, fmt::format_string<Args...> message,
                 Args&&... args) const
    {
        if (condition) return;
        throw Error(fmt::format("{}{}: {}", where_, key.empty() ? "" : " " + key,
                                fmt::format(message, std::forward<Args>(args)...)));
    }

    const json* find(const std::string& key) const
    {
        const auto found = object_.find(key);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }

    void number(const std::string& key, double most, double& value) const
    {
        const json* found = find(key);
        if (found == nullptr) return;
        require(found->is_number() && found->get<double>() >= 0.0 && found->get<double>() <= most, key,
                "expected a number from 0 to {}, not {}", most, found->dump());
        value = found->get<double>();
    }

    std::optional<std::string> word(const std::string& key, const std::vector<std::string>& known) const
    {
        const json* found = find(key);
        if (found == nullptr) return {};
        require(found->is_string() && std::find(known.begin(), known.end(),
                                                found->get_ref<const std::string&>()) != known.end(),
                key, "expected one of \"{}\", not {}", joined(known, "\", \""), found->dump());
        return found->get<std::string>();
    }

    const std::string& where() const { return where_; }

  private:
    const json& object_;
    std::string where_;
};

/// The text as JSON; Error also when an object has a key twice, of which JSON would keep the last.
json parse(const fs::path& file)
{
    std::vector<std::set<std::string>> open;
    const auto watch = [&](int, json::parse_event_t event, json& value) {
        if (event == json::parse_event_t::object_start) open.emplace_back();
        if (event == json::parse_event_t::object_end) open.pop_back();
        if (event == json::parse_event_t::key)
            check(open.back().insert(value.get<std::string>()).second, "{}: the key {} is there twice",
                  file.string(), value.dump());
        return true;
    };
    const std::string text = read_file(file);
    try {
        return json::parse(text, watch);
    } catch (const json::parse_error& error) {
        throw Error(
            fmt::format("{}:{}", file.string(), json_mistake(text, error.byte == 0 ? 0 : error.byte - 1)));
    } catch (const json::exception& error) {
        throw Error(fmt::format("{} is no JSON: {}", file.string(), problem_of(error)));
    }
}

void apply_rules(const Reader& read, Part& part)
{
    if (const auto credit = read.word("credit", credits)) part.all_or_nothing = *credit == credits.back();
    if (const auto visibility = read.word("visibility", visibilities)) part.visibility = *visibility;
}

/// `points` for a whole lesson: its parts keep their proportions.
void scale(Lesson& lesson, double points)
{
    double sum = 0.0;
    for (const Part& part : lesson.parts) sum += part.points;
    for (Part& part : lesson.parts) part.points *= points / sum;
}

LatePolicy read_late(const Reader& read)
{
    LatePolicy late;
    read.number("percent_per_day", 100.0, late.percent_per_day);
    read.number("at_most_percent", 100.0, late.at_most_percent);
    read.number("grace_minutes", 1e6, late.grace_minutes);
    if (const json* due = read.find("due")) {
        read.require(due->is_string(), "due", "expected a time such as \"2026-12-01T23:59+01:00\"");
        try {
            late.due = parse_time(due->get<std::string>());
        } catch (const Error& error) {
            read.require(false, "due", "{}", error.what());
        }
    }
    return late;
}

/// Lessons first, so that what is said of a part goes before what is said of its lesson.
void apply_entries(const Reader& all, const json& entries, Manifest& manifest)
{
    std::set<std::string> left;
    for (const auto& [key, value] : entries.items()) left.insert(key);
    const auto entry = [&](const std::string& key) {
        left.erase(key);
        return Reader(entries.at(key), all.where() + " points " + key, {"points", "credit", "visibility"});
    };
    for (Lesson& lesson : manifest.lessons) {
        if (left.count(lesson.number()) > 0) {
            const Reader read = entry(lesson.number());
            double points = -1.0;
            read.number("points", most_points, points);
            if (points >= 0.0) scale(lesson, points);
            for (Part& part : lesson.parts) apply_rules(read, part);
        }
        for (Part& part : lesson.parts)
            if (left.count(part.id) > 0) {
                const Reader read = entry(part.id);
                read.number("points", most_points, part.points);
                apply_rules(read, part);
            }
    }
    all.require(left.empty(), "points",
                "there is no lesson or part {}; write a lesson as \"03\", a part as \"03.2\"",
                left.empty() ? "" : *left.begin());
}

}  // namespace

Lateness lateness(const LatePolicy& policy, std::int64_t submitted, std::int64_t due)
{
    const double late = static_cast<double>(submitted - due);
    if (late <= policy.grace_minutes * 60.0) return {};
    const double days = std::ceil(late / seconds_per_day);
    return {static_cast<int>(days), std::min(days * policy.percent_per_day, policy.at_most_percent)};
}

std::int64_t parse_time(const std::string& text)
{
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, used = 0;
    const auto refuse = [&](bool bad) {
        check(!bad, "'{}' is no time: expected one such as 2026-12-01T23:59:00+01:00", text);
    };
    refuse(std::sscanf(text.c_str(), "%4d-%2d-%2d%*1[T ]%2d:%2d%n", &year, &month, &day, &hour, &minute,
                       &used) != 5 ||
           used == 0);
    std::size_t at = static_cast<std::size_t>(used);
    if (text.compare(at, 1, ":") == 0) {
        refuse(std::sscanf(text.c_str() + at, ":%2d%n", &second, &used) != 1);
        at += static_cast<std::size_t>(used);
        if (text.compare(at, 1, ".") == 0)
            at = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
    }
    int offset = 0;  // minutes
    if (text.substr(at) != "Z") {
        char sign = 0;
        int hours = 0, minutes = 0, end = 0;
        const std::string zone = text.substr(at);
        refuse(std::sscanf(zone.c_str(), "%c%2d:%2d%n", &sign, &hours, &minutes, &end) != 3 ||
               static_cast<std::size_t>(end) != zone.size() || (sign != '+' && sign != '-'));
        offset = (sign == '-' ? -1 : 1) * (hours * 60 + minutes);
    }
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    refuse(!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60);
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return ((days * 24 + hour) * 60 + minute - offset) * 60 + second;
}

LatePolicy apply_points(const fs::path& file, Manifest& manifest)
{
    if (!fs::exists(file)) return {};
    const json all = parse(file);
    const Reader read(all, file.string() + ":", {"about", "credit", "visibility", "late", "points"});
    for (Lesson& lesson : manifest.lessons)
        for (Part& part : lesson.parts) apply_rules(read, part);
    if (const json* entries = read.find("points")) {
        read.require(entries->is_object(), "points", "expected an object of lessons and parts");
        apply_entries(read, *entries, manifest);
    }
    const json* late = read.find("late");
    if (late == nullptr) return {};
    return read_late(Reader(*late, read.where() + " late",
                            {"about", "due", "percent_per_day", "at_most_percent", "grace_minutes"}));
}

void print_points(const Manifest& manifest, const LatePolicy& late)
{
    double sum = 0.0;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts) {
            fmt::print("{}  {:<44} {:>6.4g}  {:<14}  {}\n", part.id, part.title, part.points,
                       part.all_or_nothing ? credits.back() : credits.front(), part.visibility);
            sum += part.points;
        }
    fmt::print(
        "{:.6g} points; late: {:.4g} % off for each day begun, at most {:.4g} %, {:.4g} minutes' grace\n",
        sum, late.percent_per_day, late.at_most_percent, late.grace_minutes);
}

}  // namespace shardlings
