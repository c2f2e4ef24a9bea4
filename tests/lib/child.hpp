// Actions in a process of their own: what they say, and what limits they can be put under.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/lib/folder.hpp"

/// Starts `action` in a child process, which ends when it returns or throws.
inline pid_t start_child(const std::function<void()>& action)
{
    const pid_t child = fork();
    if (child != 0) return child;
    error_of(action);
    _exit(0);
}

/// What `action` returns, run in a child process; the message of its Error, or how the child ended.
inline std::string in_child(const std::function<std::string()>& action)
{
    int ends[2];
    shardlings::check(pipe(ends) == 0, "no pipe");
    const pid_t child = start_child([&] {
        std::string said;
        const std::string error = error_of([&] { said = action(); });
        if (error != "no error") said = error;
        const ssize_t written = write(ends[1], said.data(), said.size());
        _exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
    });
    close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fmt::format("the child ended with {}", status);
    return said;
}

/// From now on this process cannot make a file longer than `bytes`; going beyond sends SIGXFSZ.
inline void limit_file_size(rlim_t bytes)
{
    const rlimit limit{bytes, bytes};
    shardlings::check(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit on file sizes");
}

/// Puts an empty file system in memory over `folder`, for this process only. False where the system does not
/// let it.
inline bool mount_in_memory(const std::filesystem::path& folder, unsigned long flags, const char* options)
{
    const uid_t user = getuid();
    const gid_t group = getgid();
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
        // New files need an owner that the new user namespace knows.
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << "0 " << user << " 1\n";
        std::ofstream("/proc/self/gid_map") << "0 " << group << " 1\n";
    }
    return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("none", folder.c_str(), "tmpfs", flags, options) == 0;
}

/// The names in a folder, hidden ones too, in order, each followed by a space.
inline std::string names_in(const std::filesystem::path& folder)
{
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& name : names) all += name + " ";
    return all;
}
