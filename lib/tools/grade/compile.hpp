// Compiling in a sandbox a file that nobody trusts.
#pragma once

#include <filesystem>
#include <string>

#include "lib/tools/launch/launch.hpp"

namespace grade {

/// Runs `compiler`, a command that compiles `source` to `object`, both relative to `root`, in a sandbox that
/// holds /usr, the headers of lib/ and lessons/ and the source; nothing of solutions/, tests/ and the rest of
/// the machine. Returns what the compiler says, with an error of its own when it had to be stopped, at
/// 60 seconds, 3 GiB or an object of 32 MiB; `object` is there afterwards when it was successful.
struct Compiled {
    bool good = false;
    std::string output;
};
Compiled compile_apart(const std::filesystem::path& root, const std::filesystem::path& source,
                       const std::filesystem::path& object, const shardlings::Command& compiler);

}  // namespace grade
