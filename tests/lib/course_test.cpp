// The course's own machinery: manifest, generation of exercises, what the compiler says, planted bugs.
#include "lib/machine/base/error.hpp"
#include "lib/tools/course/compiler_output.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/generate.hpp"
#include "lib/tools/course/planted_bugs.hpp"
#include "lib/tools/launch/launch.hpp"
#include "tests/lib/catch.hpp"

#include <filesystem>
#include <functional>
#include <sstream>

using namespace shardlings;
namespace fs = std::filesystem;

namespace {

const std::string good_part = R"([[lesson]]
name = "07_fake"
title = "A lesson"
[[lesson.part]]
id = "07.1"
title = "A part"
file = "a.cpp"
ranks = [1, 3]
points = 2.5
seconds = 60
minutes = 5
hints = ["one", "two", "three"]
)";

/// The text with `old` (which must be in it) replaced once.
std::string with(std::string text, const std::string& old, const std::string& fresh)
{
    const auto place = text.find(old);
    REQUIRE(place != text.npos);
    return text.replace(place, old.size(), fresh);
}

/// The message of the Error that `run` throws.
std::string error_of(const std::function<void()>& run)
{
    try {
        run();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

std::string manifest_error(const std::string& text)
{
    const TemporaryFolder folder;
    write_file(folder.path() + "/m.toml", text);
    const std::string message = error_of([&] { read_manifest(folder.path() + "/m.toml"); });
    const auto name = message.rfind("m.toml");
    return name == message.npos ? message : message.substr(name);
}

Lesson fake_lesson()
{
    const TemporaryFolder folder;
    write_file(folder.path() + "/m.toml", good_part);
    return read_manifest(folder.path() + "/m.toml").lessons.front();
}

constexpr const char* solution = R"(#include "lessons/07_fake/a.hpp"

#include <cmath>

#include "lib/machine/zebra.hpp"

int fake::twice(int x)
{
    int y = 0;
    if (x != 0) {
        // BEGIN SOLUTION 07.1 twice
        y = x;
        y += x;
        // END SOLUTION
    }
    return y;
}
)";

constexpr const char* skeleton = R"(#include "lessons/07_fake/a.hpp"

#include <cmath>

#include "lib/machine/base/error.hpp"
#include "lib/machine/zebra.hpp"

int fake::twice(int x)
{
    int y = 0;
    if (x != 0) {
        // Your code: see lessons/07_fake/a.hpp (hints: make hint-07 PART=07.1)
        not_implemented("07.1 twice");
    }
    return y;
}
)";

std::string skeleton_error(const std::string& source)
{
    const Lesson lesson = fake_lesson();
    return error_of([&] { make_skeleton(source, "a.cpp", lesson); });
}

}  // namespace

TEST_CASE("manifest: what it says arrives")
{
    const Lesson lesson = fake_lesson();
    CHECK(lesson.number() == "07");
    REQUIRE(lesson.parts.size() == 1);
    const Part& part = lesson.parts.front();
    CHECK(part.id == "07.1");
    CHECK(part.stem() == "a");
    CHECK(part.ranks == std::vector<int>{1, 3});
    CHECK(part.points == 2.5);
    CHECK(part.seconds == 60.0);
    CHECK(part.hints.at(2) == "three");
}

TEST_CASE("manifest: an error names the line and what was expected")
{
    CHECK(manifest_error("[[lesson]\n").starts_with("m.toml:1: "));
    CHECK(manifest_error(with(good_part, "points = 2.5", "point = 2.5"))
              .starts_with("m.toml:9: unknown key 'point'"));
    CHECK(manifest_error(with(good_part, "points = 2.5\n", "")) ==
          "m.toml:4: the key 'points' is missing in the table that begins here");
    CHECK(manifest_error(with(good_part, "2.5", "-1")) == "m.toml:9: 'points' must be a number above 0");
    CHECK(manifest_error(with(good_part, "2.5", "'many'")) == "m.toml:9: 'points' must be a number above 0");
    CHECK(manifest_error(with(good_part, "[1, 3]", "[1, 0]")) ==
          "m.toml:8: 'ranks' must be a list of rank counts, 1 or more");
    CHECK(manifest_error(with(good_part, "[1, 3]", "[]")) ==
          "m.toml:8: 'ranks' must be a list that is not empty");
    CHECK(manifest_error(with(good_part, ", \"three\"", "")).starts_with("m.toml:12: part 07.1 has 2 hints"));
    CHECK(manifest_error(with(good_part, "\"07.1\"", "\"08.1\""))
              .starts_with("m.toml:5: part '08.1' stands in lesson 07_fake"));
    CHECK(manifest_error(with(good_part, "a.cpp", "../a.cpp"))
              .starts_with("m.toml:7: '../a.cpp' must be the name"));
    CHECK(manifest_error(with(good_part, "07_fake", "fake")).starts_with("m.toml:2: 'fake' must look like"));
    CHECK(manifest_error(good_part + good_part).starts_with("m.toml:13: lesson 07 is there twice"));
    const std::string part = good_part.substr(good_part.find("[[lesson.part]]"));
    CHECK(manifest_error(good_part + part).starts_with("m.toml:13: part 07.1 is there twice"));
    CHECK(manifest_error("lesson = 3").starts_with("m.toml:1: 'lesson' must be a list"));
    CHECK(error_of([] { read_manifest("/nowhere/m.toml"); }) == "cannot read /nowhere/m.toml");
}

TEST_CASE("manifest: the course's own is sound, and a lesson is found by number or name")
{
    const Manifest manifest = read_manifest("lessons/manifest.toml");
    CHECK(find_lesson(manifest, "01").name == "01_transformer");
    CHECK(find_lesson(manifest, "1").name == "01_transformer");
    CHECK(find_lesson(manifest, "01_transformer").name == "01_transformer");
    CHECK(error_of([&] {
              find_lesson(manifest, "77");
          }).starts_with("there is no lesson '77'; the lessons are 00_"));
    CHECK(error_of([&] {
              find_part(find_lesson(manifest, "00"), "00.9");
          }).ends_with("00.1, 00.2, 00.3, 00.4"));
}

TEST_CASE("generate: a skeleton is the solution without what is marked")
{
    CHECK(make_skeleton(solution, "a.cpp", fake_lesson()) == skeleton);
    const std::string includes_it =
        with(solution, "#include \"lib/machine/zebra.hpp\"", "#include \"lib/machine/base/error.hpp\"");
    CHECK(make_skeleton(includes_it, "a.cpp", fake_lesson()) ==
          with(skeleton, "\n#include \"lib/machine/zebra.hpp\"", ""));
}

TEST_CASE("generate: marks that do not pair up are errors")
{
    CHECK(skeleton_error(with(solution, "        // END SOLUTION\n", "")) ==
          "a.cpp: '// END SOLUTION' is missing at the end");
    CHECK(skeleton_error(with(solution, "y = x;", "// BEGIN SOLUTION 07.1 twice"))
              .starts_with("a.cpp:12: a second '// BEGIN SOLUTION'"));
    CHECK(skeleton_error(with(solution, "int y = 0;", "// END SOLUTION"))
              .starts_with("a.cpp:9: '// END SOLUTION' without"));
    CHECK(skeleton_error(with(solution, "07.1 twice", "07.2 twice")) ==
          "a.cpp:11: the manifest has no part 07.2 in this file");
    CHECK(skeleton_error(with(solution, "07.1 twice", "twice"))
              .starts_with("a.cpp:11: expected '// BEGIN SOLUTION PART"));
    CHECK(skeleton_error("#include \"lessons/07_fake/a.hpp\"\n")
              .starts_with("a.cpp: there is no '// BEGIN SOLUTION'"));
    CHECK(
        skeleton_error("int x;\n").starts_with("a.cpp: expected an #include of a header of lessons/07_fake"));
}

TEST_CASE("generate: exercises that differ, are missing, or have no solution are named")
{
    const TemporaryFolder folder;
    const Places places{folder.path(), folder.path() + "/build"};
    write_file(places.root / "solutions/07_fake/a.cpp", solution);
    const Manifest manifest{{fake_lesson()}};
    const fs::path exercise = places.root / "exercises/07_fake/a.cpp";
    CHECK(differences(places, manifest) == std::vector<std::string>{"exercises/07_fake/a.cpp: is missing"});
    write_file(exercise, skeleton);
    write_file(places.root / "exercises/07_fake/.backup-1/a.cpp", "mine");
    CHECK(differences(places, manifest).empty());
    write_file(exercise, "edited");
    write_file(places.root / "exercises/07_fake/b.cpp", skeleton);
    CHECK(differences(places, manifest) ==
          std::vector<std::string>{"exercises/07_fake/a.cpp: differs",
                                   "exercises/07_fake/b.cpp: no solution gives it"});
    write_file(places.root / "solutions/07_fake/b.cpp", solution);
    CHECK(error_of([&] { differences(places, manifest); }) ==
          "solutions/07_fake/b.cpp: the manifest names no part in this file");
}

TEST_CASE("compiler output: the first errors with their source line, and nothing else")
{
    std::istringstream in(R"(make[1]: Entering directory '/somewhere'
  compile exercises/07_fake/a.cpp
In file included from exercises/07_fake/a.cpp:3:
exercises/07_fake/a.cpp:5:1: warning: unused
    5 | int unused;
      | ^~~
exercises/07_fake/a.cpp: In function 'int twice(int)':
exercises/07_fake/a.cpp:9:5: error: 'z' was not declared in this scope
    9 |     z = 1;
      |     ^
exercises/07_fake/a.cpp:9:5: note: suggested alternative
lib/x.hpp: In instantiation of 'void f(T)':
exercises/07_fake/a.cpp:12:7:   required from here
lib/x.hpp:3:9: error: no match for 'operator+'
    3 |     t + t;
      |     ~~^~~
exercises/07_fake/a.cpp:20:1: error: third
exercises/07_fake/a.cpp:9:5: error: 'z' was not declared in this scope
make: *** [Makefile:80: build/obj/exercises/07_fake/a.o] Error 1
)");
    std::ostringstream out;
    filter_compiler_output(in, out, 2);
    CHECK(out.str() == R"(  compile exercises/07_fake/a.cpp
exercises/07_fake/a.cpp:9:5: error: 'z' was not declared in this scope
    9 |     z = 1;
      |     ^
lib/x.hpp:3:9: error: no match for 'operator+'
  exercises/07_fake/a.cpp:12:7:   required from here
    3 |     t + t;
      |     ~~^~~
and 1 more errors
)");
}

TEST_CASE("compiler output: what the linker misses")
{
    const auto errors = build_errors(
        "/usr/bin/ld: build/a.o: in function `main':\n"
        "a.cpp:(.text+0x5): undefined reference to `fake::twice(int)'\n"
        "collect2: error: ld returned 1 exit status\n");
    REQUIRE(errors.size() == 1);
    CHECK(errors.front().message == "link error: undefined reference to `fake::twice(int)'");
}

TEST_CASE("planted bugs: the text to be replaced must be there exactly once")
{
    PlantedBug bug{"07_fake", "b", "07.1", "a.cpp", "y += x;", "y += 2 * x;", "twice", "why"};
    CHECK(with_bug(solution, bug) == with(solution, "y += x;", "y += 2 * x;"));
    bug.find = "y += z;";
    CHECK(error_of([&] { with_bug(solution, bug); }) ==
          "tests/07_fake/wrong/b.toml: 'find' is not in solutions/07_fake/a.cpp");
    bug.find = "int";
    CHECK(error_of([&] {
              with_bug(solution, bug);
          }).starts_with("tests/07_fake/wrong/b.toml: 'find' is more than once"));
}

TEST_CASE("planted bugs: caught is a failure whose message says which")
{
    const PlantedBug bug{"07_fake", "b", "07.1", "a.cpp", "y", "z", "twice (as|too) large", "why"};
    PartResult result;
    result.status = Status::failing;
    result.cases = {{"one", true, {}}, {"two", false, {"it is wrong", "it is twice as large"}}};
    CHECK(why_missed(bug, result).empty());
    result.cases.back().messages.pop_back();
    CHECK(why_missed(bug, result) == "no message matches /twice (as|too) large/: it is wrong");
    result.status = Status::done;
    CHECK(why_missed(bug, result) == "all tests pass");
    CHECK(why_missed(bug, not_built("it is twice as large")) == "does not compile: it is twice as large");
}

TEST_CASE("planted bugs: a source is written only when it changes, and goes with its bug")
{
    const TemporaryFolder folder;
    const Places places{folder.path(), folder.path() + "/build"};
    const Manifest manifest{{fake_lesson()}};
    const fs::path bug = places.root / "tests/07_fake/wrong/b.toml";
    const fs::path planted = places.build / "wrong/07_fake/b/a.cpp";
    write_file(places.root / "solutions/07_fake/a.cpp", solution);
    const std::string text =
        "part = '07.1'\nfile = 'a.cpp'\nfind = 'y += x;'\nreplace = ''\nsays = 'x'\nwhy = 'w'\n";
    write_file(bug, text);
    plant_bugs(places, manifest);
    CHECK(read_file(planted) == with(solution, "y += x;", ""));
    const auto long_ago = fs::last_write_time(planted) - std::chrono::hours(1);
    fs::last_write_time(planted, long_ago);
    plant_bugs(places, manifest);
    CHECK(fs::last_write_time(planted) == long_ago);
    write_file(bug, with(text, "07.1", "07.2"));
    CHECK(error_of([&] { plant_bugs(places, manifest); }).starts_with("lesson 07_fake has no part '07.2'"));
    write_file(bug, with(text, "says = 'x'", "says = '(x'"));
    CHECK(error_of([&] {
              plant_bugs(places, manifest);
          }).starts_with("tests/07_fake/wrong/b.toml: 'says' is no regular expression"));
    fs::remove(bug);
    plant_bugs(places, manifest);
    CHECK_FALSE(fs::exists(planted));
}
