// The command line of the course: shardlings course …, progress.
#pragma once

namespace CLI {
class App;
}

namespace shardlings {

/// Adds the subcommands `course` and `progress`. Their callbacks throw Error for bad input and
/// CLI::RuntimeError(1) when what was asked for was found wanting (a test fails, an exercise differs).
void add_course_commands(CLI::App& app);

}  // namespace shardlings
