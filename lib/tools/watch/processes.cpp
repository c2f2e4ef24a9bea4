#include "lib/tools/watch/processes.hpp"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

namespace shardlings::watch {

namespace {

constexpr int rounds_of_killing = 500;
constexpr useconds_t between_rounds = 10'000;

pid_t parent_of(const std::filesystem::path& process)
{
    std::ifstream file(process / "stat");
    std::string text;
    std::getline(file, text);
    // "pid (name) state parent …"; the name may hold anything
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos || name_end + 4 >= text.size()) return 0;
    return static_cast<pid_t>(std::atoi(text.c_str() + name_end + 4));
}

bool is_number(const std::string& text)
{
    return !text.empty() &&
           std::ranges::all_of(text, [](unsigned char letter) { return std::isdigit(letter) != 0; });
}

bool is_of_mpi(std::string_view path)
{
    const std::string_view file = path.substr(path.rfind('/') + 1);
    return file.starts_with("vader_segment.") || file.starts_with("sm_segment.") ||
           path.starts_with("/dev/shm/mpich_") || path.starts_with("/dev/shm/ucx_shm_posix");
}

/// Descendants that are neither `except` nor below it.
std::vector<pid_t> below_this_one(pid_t except)
{
    std::map<pid_t, pid_t> parents;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored))
        if (const std::string name = entry.path().filename().string(); is_number(name))
            parents[std::atoi(name.c_str())] = parent_of(entry.path());
    std::vector<pid_t> found;
    for (const auto& [process, parent] : parents) {
        pid_t at = process;
        while (at > 1 && at != except && parents.contains(at) && parents[at] != getpid()) at = parents[at];
        if (at > 1 && at != except && parents.contains(at)) found.push_back(process);
    }
    return found;
}

}  // namespace

std::vector<pid_t> descendants()
{
    return below_this_one(0);
}

std::vector<pid_t> orphans(pid_t launcher)
{
    return below_this_one(launcher);
}

bool is_launcher_alone(pid_t launcher)
{
    std::ifstream file(fmt::format("/proc/{}/comm", launcher));
    std::string name;
    std::getline(file, name);
    const bool known = name.starts_with("mpi") || name.starts_with("orte") || name.starts_with("prte");
    return known && descendants() == std::vector<pid_t>{launcher};
}

void kill_descendants()
{
    for (int round = 0; round < rounds_of_killing; ++round) {
        for (const pid_t process : descendants()) kill(process, SIGKILL);
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (descendants().empty()) return;
        usleep(between_rounds);
    }
}

Running running_of(pid_t process)
{
    Running running;
    std::ifstream file(fmt::format("/proc/{}/schedstat", process));
    std::uint64_t waited = 0;
    running.known = static_cast<bool>(file >> running.nanoseconds >> waited >> running.times);
    return running;
}

bool has_memory(pid_t process)
{
    std::ifstream file(fmt::format("/proc/{}/statm", process));
    std::uint64_t pages = 0;
    return static_cast<bool>(file >> pages) && pages > 0;
}

std::set<std::string> shared_memory_of(pid_t process)
{
    std::set<std::string> files;
    std::ifstream maps(fmt::format("/proc/{}/maps", process));
    for (std::string line; std::getline(maps, line);) {
        const auto path = line.find('/');
        if (path != std::string::npos && is_of_mpi(line.substr(path)) && !line.ends_with(" (deleted)"))
            files.insert(line.substr(path));
    }
    return files;
}

void remove_leftovers(const std::set<std::string>& shared_memory, pid_t launcher)
{
    std::error_code ignored;
    std::set<std::string> jobs;  // "/dev/shm/vader_segment.HOST.USER.JOB."; the rank follows
    std::set<std::filesystem::path> folders;
    for (const std::string& file : shared_memory) {
        jobs.insert(file.substr(0, file.rfind('.') + 1));
        folders.insert(std::filesystem::path(file).parent_path());
        std::filesystem::remove(file, ignored);
    }
    for (const auto& folder : folders)
        for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
            const std::string file = entry.path().string();
            if (jobs.contains(file.substr(0, file.rfind('.') + 1))) std::filesystem::remove(file, ignored);
        }
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::temp_directory_path(), ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("prterun.") && name.find(fmt::format(".{}.", launcher)) != std::string::npos)
            std::filesystem::remove_all(entry.path(), ignored);
        if (!name.starts_with("ompi.") || !entry.is_directory(ignored)) continue;
        // A killed mpirun may have removed the one and not come to the other.
        std::filesystem::remove_all(entry.path() / fmt::format("pid.{}", launcher), ignored);
        std::filesystem::remove(entry.path(), ignored);  // unless another job's folder is in it
    }
}

}  // namespace shardlings::watch
