// The command line of an instructor: shardlings grade, grade-all, points.
#pragma once

namespace CLI {
class App;
}

namespace shardlings {

/// Adds the subcommands `grade`, `grade-all` and `points`. Their callbacks throw Error for bad input.
void add_marks_commands(CLI::App& app);

}  // namespace shardlings
