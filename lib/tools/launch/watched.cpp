#include "lib/tools/launch/watched.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace shardlings {

namespace {

namespace fs = std::filesystem;

/// The folder of the build, seen from this process's program; empty when there is none.
fs::path folder_of_watch()
{
    constexpr int most_levels = 3;  // build/tests/NN_name/test
    std::error_code ignored;
    fs::path folder = fs::canonical("/proc/self/exe", ignored).parent_path();
    for (int level = 0; level < most_levels; ++level, folder = folder.parent_path())
        if (fs::is_regular_file(folder / "shardlings", ignored) &&
            fs::exists(folder / "libmpiwatch.so", ignored))
            return folder;
    return {};
}

}  // namespace

Command watched(const Command& command, const std::string& file)
{
#ifdef __SANITIZE_ADDRESS__
    return command;  // its library must be the first of a program
#endif
    const char* wanted = std::getenv("SHARDLINGS_WATCH");
    const fs::path folder = folder_of_watch();
    if ((wanted != nullptr && std::string_view(wanted) == "no") || folder.empty()) return command;
    // A rank of this program that fails says why itself.
    Command all{folder / "shardlings", "diagnose", "--no-checksums", "--only-deadlocks"};
    if (!file.empty()) all.insert(all.end(), {"--about", file});
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

}  // namespace shardlings
