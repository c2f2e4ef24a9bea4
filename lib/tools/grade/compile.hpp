// Compiling in a sandbox a file that nobody trusts.
#pragma once

#include <filesystem>
#include <string>

#include "lib/tools/grade/sandbox.hpp"
#include "lib/tools/launch/launch.hpp"

namespace grade {

/// Copies the headers that exercises may include, those of lib/ and lessons/, for compilations apart.
void stage_headers(const std::filesystem::path& root, Staging& staging);

/// Runs `compiler`, a command that compiles `source` to `object`, both relative to `root`, in a sandbox that
/// holds /usr, the staged `headers` and the source; nothing of solutions/, tests/ and the rest of the
/// machine. Returns what the compiler says, with an error of its own when it had to be stopped, at 60
/// seconds, 3 GiB or an object of 32 MiB; `object` is there afterwards when it was successful.
struct Compiled {
    bool good = false;
    std::string output;
};
Compiled compile_apart(const std::filesystem::path& root, const std::filesystem::path& source,
                       const std::filesystem::path& object, const std::filesystem::path& headers,
                       const shardlings::Command& compiler);

}  // namespace grade
