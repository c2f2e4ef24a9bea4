// Where the course's files lie.
#pragma once

#include <filesystem>

#include "lib/tools/course/manifest.hpp"

namespace shardlings {

/// The repository, and the folder that make builds in.
struct Places {
    std::filesystem::path root;
    std::filesystem::path build;

    std::filesystem::path manifest() const { return root / "lessons" / "manifest.toml"; }
    std::filesystem::path points() const { return root / "tests" / "points.json"; }
    std::filesystem::path solution(const Lesson& lesson, const Part& part) const
    {
        return root / "solutions" / lesson.name / part.file;
    }
    std::filesystem::path exercise(const Lesson& lesson, const Part& part) const
    {
        return root / "exercises" / lesson.name / part.file;
    }
    std::filesystem::path progress() const { return root / ".progress.json"; }
    /// The program that judges a lesson.
    std::filesystem::path judge(const Lesson& lesson) const { return build / "tests" / lesson.name / "test"; }
    /// The drivers of somebody's code of a lesson; `whose` is "exercise", "solution" or "submission/NAME".
    std::filesystem::path drivers(const std::string& whose, const Lesson& lesson) const
    {
        return build / "drivers" / whose / lesson.name;
    }
    std::filesystem::path reports(const std::string& whose, const Lesson& lesson) const
    {
        return build / "reports" / whose / lesson.name;
    }
    /// A path as it reads from the repository's folder.
    std::string shown(const std::filesystem::path& path) const
    {
        return path.lexically_proximate(root).string();
    }
};

/// The repository that the current folder is in, found by its manifest. A relative `build` is taken from the
/// repository's folder. Error when there is none.
Places find_places(const std::filesystem::path& build);

}  // namespace shardlings
