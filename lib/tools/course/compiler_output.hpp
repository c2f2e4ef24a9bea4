// What a student sees of the compiler, the linker and make: the first errors, short.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

/// An error of the compiler or linker: the line with the place and the message, then the source line and the
/// mark under it, and for an error inside a template where the student's code asked for it.
struct BuildError {
    std::string message;
    std::vector<std::string> context;
};

/// The errors in what compiler and linker printed, in their order, each once.
std::vector<BuildError> build_errors(std::string_view output);

/// Passes on what make says it compiles as it comes, then the first `shown` errors and how many more there
/// are. Everything else is dropped: commands, warnings, notes, make's own summary.
void filter_compiler_output(std::istream& in, std::ostream& out, std::size_t shown = 2);

}  // namespace shardlings
