// A small course, and grades of it with whatever a student may have put into them.
#pragma once

#include "lib/tools/marks/marked.hpp"

namespace small {

using namespace shardlings;

inline const std::string hostile =
    "<script>alert(1)</script> & \"q\" \x1b[31m \xff \xc2\x9b \xe2\x80\xae \xef\xbf\xbf";

inline Part make_part(const std::string& id, const std::string& file)
{
    return {id, "Part " + id, file, {1}, 10.0, 5.0, 5, {"one", "two", "three"}};
}

/// Lesson 03 with two parts, lesson 04 with one; 10 points each.
inline Manifest small_manifest()
{
    return {{{"03_a", "A", {make_part("03.1", "x.cpp"), make_part("03.2", "y.cpp")}},
             {"04_b", "B", {make_part("04.1", "z.cpp")}}}};
}

/// One part done, one that fails a test of two with a hostile message, one that does not compile.
inline Marked mixed(const std::string& name = hostile)
{
    const Manifest manifest = small_manifest();
    Grade grade;
    grade.seed = "5";
    GradedPart done{manifest.lessons[0].parts[0], true, {Status::done, {{"a", true, {}}}, "", {48.0, 2e-6}}};
    GradedPart half{manifest.lessons[0].parts[1],
                    true,
                    {Status::failing, {{"b", true, {}}, {hostile, false, {hostile}}}, "", {}}};
    GradedPart broken{manifest.lessons[1].parts[0], true, not_built("z.cpp:1:1: error: " + hostile)};
    grade.parts = {done, half, broken};
    return {name, grade, "", 12.4};
}

}  // namespace small
