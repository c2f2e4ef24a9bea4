#include "lib/tools/launch/left_behind.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "shardlings-";
constexpr std::string_view unique = ".XXXXXX";

std::string machine()
{
    std::array<char, 65> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// One that has ended stays a zombie for as long as nobody asks for its exit code: in a container whose first
/// process does not, for good.
bool runs(int process)
{
    if (kill(process, 0) != 0 && errno == ESRCH) return false;
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string stat;
    std::getline(file, stat);
    const auto end_of_name = stat.rfind(')');
    return end_of_name == stat.npos || !stat.substr(end_of_name).starts_with(") Z");
}

bool is_ours(const fs::path& folder)
{
    struct stat status {};
    return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

}  // namespace

std::string maker()
{
    return fmt::format("{}-{}", machine(), getpid());
}

bool has_ended(const std::string& name)
{
    const std::string here = machine() + "-";
    if (!name.starts_with(here)) return false;
    const int process = std::atoi(name.c_str() + here.size());
    return process > 0 && name == here + std::to_string(process) && !runs(process);
}

fs::path new_folder(const fs::path& place)
{
    std::string path = (place / fmt::format("{}{}{}", prefix, maker(), unique)).string();
    check(mkdtemp(path.data()) != nullptr, "cannot make a folder in {}: {}", place.string(),
          std::strerror(errno));
    return path;
}

void remove_left_behind(const fs::path& place)
{
    std::error_code ignored;
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix) || name.size() <= prefix.size() + unique.size()) continue;
        const auto length = name.size() - prefix.size() - unique.size();
        if (has_ended(name.substr(prefix.size(), length)) && is_ours(entry.path()))
            folders.push_back(entry.path());
    }
    for (const fs::path& folder : folders) fs::remove_all(folder, ignored);
}

}  // namespace shardlings
