#include "lib/tools/course/commands.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/compiler_output.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/generate.hpp"
#include "lib/tools/course/planted_bugs.hpp"
#include "lib/tools/course/points.hpp"
#include "lib/tools/course/progress.hpp"
#include "lib/tools/course/student.hpp"
#include "lib/tools/course/test_lesson.hpp"
#include "lib/tools/grade/compile.hpp"

namespace shardlings {

namespace {

/// What the command line says; one of it serves all subcommands.
struct Options {
    std::string build = "build";
    TestRequest test;
    bool verbose = false;
    bool check = false;
    bool solution = false;
    std::string bug;
    std::string headers;
    std::string source;
    std::string object;
    std::vector<std::string> compiler;

    Places places() const { return find_places(build); }
    Manifest manifest() const
    {
        Manifest manifest = read_manifest(places().manifest());
        apply_points(places().points(), manifest);
        return manifest;
    }
};

using Shared = std::shared_ptr<Options>;

void require(bool good)
{
    if (!good) throw CLI::RuntimeError(1);
}

void generate(const Options& o)
{
    const Places places = o.places();
    if (o.check) {
        const std::vector<std::string> found = differences(places, o.manifest());
        for (const std::string& line : found) fmt::print("{}\n", line);
        if (!found.empty())
            fmt::print("exercises/ is not what solutions/ gives: make exercises writes it anew\n");
        return require(found.empty());
    }
    for (const Lesson& lesson : o.manifest().lessons)
        for (const Skeleton& skeleton : skeletons_of(places, lesson))
            if (write_if_changed(skeleton.file, skeleton.text))
                fmt::print("wrote {}\n", places.shown(skeleton.file));
}

CLI::App* add_with_lesson(CLI::App& course, const char* name, const char* what, const Shared& o)
{
    CLI::App* command = course.add_subcommand(name, what);
    command->add_option("lesson", o->test.lesson, "its number, such as 01")->required();
    command->add_option("--part", o->test.part, "one part of it, such as 01.3");
    return command;
}

void add_student_commands(CLI::App& course, const Shared& o)
{
    CLI::App* test = add_with_lesson(course, "test", "run the tests of a lesson's exercises", o);
    test->add_option("--code", o->test.code, "whose code: exercise or solution")
        ->required()
        ->check(CLI::IsMember({"exercise", "solution"}));
    test->add_option("--build", o->build, "folder that make builds in");
    test->add_flag("--verbose", o->verbose, "show all failures in full");
    test->callback([o] {
        o->test.detail = o->verbose ? Detail::all : Detail::first_few;
        require(test_lesson(o->places(), o->manifest(), LocalRunner(), o->test));
    });

    CLI::App* hint = add_with_lesson(course, "hint", "show the next hint of a part", o);
    hint->add_flag("--solution", o->solution, "say where the reference is");
    hint->callback([o] { show_hint(o->places(), o->manifest(), o->test.lesson, o->test.part, o->solution); });

    CLI::App* reset =
        add_with_lesson(course, "reset", "put back the skeletons, keeping a copy of your code", o);
    reset->callback([o] { reset_exercises(o->places(), o->manifest(), o->test.lesson, o->test.part); });

    course.add_subcommand("watch", "rerun the exercise that is saved")->callback([o] {
        watch_exercises(o->places());
    });
    CLI::App* compile = course.add_subcommand("compile-apart", "compile a submission's file in a sandbox");
    compile->add_option("headers", o->headers, "the folder that they are staged in")->required();
    compile->add_option("source", o->source)->required();
    compile->add_option("object", o->object)->required();
    compile->add_option("compiler", o->compiler, "the command that does it")->required();
    compile->callback([o] {
        const grade::Compiled result =
            grade::compile_apart(".", o->source, o->object, o->headers, o->compiler);
        std::cerr << result.output;
        require(result.good);
    });
    course.add_subcommand("compiler-output", "shorten what make and the compiler print")->callback([] {
        filter_compiler_output(std::cin, std::cout);
    });
}

void add_author_commands(CLI::App& course, const Shared& o)
{
    CLI::App* write = course.add_subcommand("generate", "write exercises/ from solutions/");
    write->add_flag("--check", o->check, "compare instead, and name what differs");
    write->callback([o] { generate(*o); });

    const auto add = [&](const char* name, const char* what, auto&& run) {
        CLI::App* command = course.add_subcommand(name, what);
        command->add_option("--build", o->build, "folder that make builds in");
        command->callback(run);
    };
    add("plant", "write the solutions with one bug each under build/wrong",
        [o] { plant_bugs(o->places(), o->manifest()); });
    CLI::App* judge = course.add_subcommand("judge-wrong", "check that the tests find every planted bug");
    judge->add_option("--only", o->bug, "those of which LESSON/NAME begins like this");
    judge->add_option("--build", o->build, "folder that make builds in");
    judge->callback([o] { require(judge_planted_bugs(o->places(), o->manifest(), LocalRunner(), o->bug)); });
    CLI::App* show = course.add_subcommand("show-bug", "what the tests say about one planted bug");
    show->add_option("bug", o->bug, "LESSON/NAME of a tests/LESSON/wrong/NAME.toml")->required();
    show->add_option("--build", o->build, "folder that make builds in");
    show->callback([o] { require(show_bug(o->places(), o->manifest(), LocalRunner(), o->bug)); });
    add("judge-skeletons", "check that skeletons fail every test as not implemented, and solutions pass",
        [o] { require(judge_skeletons(o->places(), o->manifest(), LocalRunner())); });
}

}  // namespace

void add_course_commands(CLI::App& app)
{
    const auto options = std::make_shared<Options>();
    CLI::App* course = app.add_subcommand("course", "what make calls: tests, hints, exercises");
    course->require_subcommand(1);
    add_student_commands(*course, options);
    add_author_commands(*course, options);
    app.add_subcommand("progress", "all exercises: done, failing, not started")->callback([options] {
        show_progress(options->places(), options->manifest());
    });
}

}  // namespace shardlings
