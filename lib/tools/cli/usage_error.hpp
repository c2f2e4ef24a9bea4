// A command line that cannot be understood.
#pragma once

#include <exception>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace shardlings {

/// The exit code for a command line that cannot be understood, as of shells and most programs.
inline constexpr int usage_exit_code = 2;

/// Prints what was asked for (--help), or says, once for all ranks, what is wrong with the command line,
/// which name may have been meant, and where help is. Returns the exit code.
int answer(const CLI::App& app, const CLI::ParseError& error);

/// Says, once for all ranks that find the same, what a command could not do. Returns the exit code.
int answer(const std::exception& error);

}  // namespace shardlings
