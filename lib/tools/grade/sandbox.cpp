#include "lib/tools/grade/sandbox.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "lib/machine/base/error.hpp"
#include "lib/tools/grade/seccomp.hpp"
#include "lib/tools/launch/left_behind.hpp"

namespace grade {

namespace fs = std::filesystem;
using shardlings::check;

namespace {

/// Whom a sandbox that root starts runs as: no account, and nothing on the machine belongs to it.
constexpr uid_t nobody = 61000;
constexpr mode_t pass_through = 0711;

void give_away(const fs::path& path)
{
    if (geteuid() == 0)
        check(lchown(path.c_str(), nobody, nobody) == 0, "cannot hand {} to the sandbox: {}", path.string(),
              std::strerror(errno));
}

void set_mode(const fs::path& path, mode_t mode)
{
    check(chmod(path.c_str(), mode) == 0, "cannot set the mode of {}: {}", path.string(),
          std::strerror(errno));
}

/// Makes what was copied readable to whom the sandbox runs as.
void open_up(const fs::path& path)
{
    constexpr mode_t folder = 0755;
    constexpr mode_t file = 0644;
    constexpr mode_t executable = 0111;
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || S_ISLNK(status.st_mode)) return;
    set_mode(path, S_ISDIR(status.st_mode) ? folder : file | (status.st_mode & executable));
}

/// Whether everybody may pass through all folders of the path.
bool is_open_to_all(const fs::path& path)
{
    for (fs::path folder = fs::weakly_canonical(path); folder.has_relative_path();
         folder = folder.parent_path())
        if ((fs::status(folder).permissions() & fs::perms::others_exec) == fs::perms::none) return false;
    return true;
}

void append(Command& command, std::initializer_list<std::string> words)
{
    command.insert(command.end(), words);
}

/// The parts of the machine that compilers and MPI need.
void bind_system(Command& command)
{
    append(command, {"--ro-bind", "/usr", "/usr"});
    for (const std::string name : {"/bin", "/lib", "/lib64", "/sbin"}) {
        std::error_code ignored;
        if (fs::is_symlink(name, ignored))
            append(command, {"--symlink", fs::read_symlink(name).string(), name});
        else
            append(command, {"--ro-bind-try", name, name});
    }
    for (const std::string name :
         {"/etc/openmpi", "/etc/alternatives", "/etc/ld.so.cache", "/sys/devices/system"})
        append(command, {"--ro-bind-try", name, name});
}

}  // namespace

Staging::Staging()
{
    const fs::path usual = fs::temp_directory_path();
    const fs::path place = geteuid() == 0 && !is_open_to_all(usual) ? fs::path("/tmp") : usual;
    path_ = shardlings::new_folder(place);
    set_mode(path_, pass_through);
}

Staging::~Staging()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path Staging::add(const fs::path& outside, const std::string& name, const std::string& ending)
{
    fs::path copy = path_ / name;
    if (!fs::is_directory(outside)) {
        fs::copy_file(outside, copy);
    } else {
        fs::create_directory(copy);
        for (const auto& entry : fs::recursive_directory_iterator(outside)) {
            const fs::path to = copy / entry.path().lexically_relative(outside);
            if (entry.is_directory())
                fs::create_directory(to);
            else if (entry.is_regular_file() && (ending.empty() || entry.path().extension() == ending))
                fs::copy_file(entry.path(), to);
        }
        for (const auto& entry : fs::recursive_directory_iterator(copy)) open_up(entry.path());
    }
    open_up(copy);
    return copy;
}

Sandbox::Sandbox(const SandboxLimits& limits) : limits_(limits)
{
    std::ofstream(folder_.path() / "filter", std::ios::binary) << seccomp_program();
}

std::string Sandbox::new_name()
{
    return std::to_string(places_++);
}

void Sandbox::put(const fs::path& outside, const fs::path& inside)
{
    show(folder_.add(outside, new_name()), inside);
}

void Sandbox::show(const fs::path& staged, const fs::path& inside)
{
    binds_.insert(binds_.end(), {"--ro-bind", staged.string(), inside.string()});
}

fs::path Sandbox::lend(const fs::path& inside)
{
    fs::path folder = folder_.path() / new_name();
    fs::create_directory(folder);
    set_mode(folder, 0700);
    give_away(folder);
    binds_.insert(binds_.end(), {"--bind", folder.string(), inside.string()});
    return folder;
}

fs::path Sandbox::lend_pipes(const fs::path& inside)
{
    fs::path folder = lend(inside);
    binds_[binds_.size() - 3] = "--ro-bind";
    return folder;
}

void Sandbox::make_pipe(const fs::path& outside) const
{
    check(mkfifo(outside.c_str(), 0600) == 0, "cannot make the pipe {}: {}", outside.string(),
          std::strerror(errno));
    give_away(outside);
}

void Sandbox::set(const std::string& name, const std::string& value)
{
    environment_.emplace_back(name, value);
}

Command Sandbox::command(const Command& program, const fs::path& folder) const
{
    // The shell opens the filter before rights are given up, and hands it on as file descriptor 9.
    Command all{"sh", "-c", R"(exec "$@" 9<"$0")", folder_.path() / "filter"};
    if (geteuid() == 0)
        append(all, {"setpriv", fmt::format("--reuid={}", nobody), fmt::format("--regid={}", nobody),
                     "--clear-groups", "--no-new-privs", "--pdeathsig=KILL"});
    append(all, {"prlimit", fmt::format("--as={}", limits_.address_space),
                 fmt::format("--cpu={}", limits_.cpu_seconds), fmt::format("--fsize={}", limits_.file_size),
                 "--core=0", fmt::format("--nofile={}", limits_.open_files)});
    append(all, {"bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent",
                 "--new-session", "--clearenv", "--cap-drop", "ALL"});
    if (!seccomp_program().empty()) append(all, {"--seccomp", "9"});
    bind_system(all);
    append(all, {"--proc", "/proc", "--dev", "/dev"});
    append(all, {"--size", std::to_string(limits_.shared_memory), "--tmpfs", "/dev/shm"});
    append(all, {"--size", std::to_string(limits_.temporary), "--tmpfs", "/tmp"});
    all.insert(all.end(), binds_.begin(), binds_.end());
    append(all, {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", folder.string()});
    append(all, {"--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/tmp"});
    for (const auto& [name, value] : environment_) append(all, {"--setenv", name, value});
    append(all, {"prlimit", fmt::format("--nproc={}", limits_.processes)});
    all.insert(all.end(), program.begin(), program.end());
    return all;
}

std::string why_no_sandbox()
{
#ifndef __linux__
    return "it needs Linux";
#else
    constexpr double seconds = 20.0;
    Sandbox sandbox;
    sandbox.lend("/lent");
    const shardlings::ProcessResult result =
        shardlings::run_captured(sandbox.command({"touch", "/lent/x"}), {}, seconds);
    if (result.exit_code == 0) return {};
    return result.output.empty() ? fmt::format("the sandbox ends with status {}", result.exit_code)
                                 : result.output.substr(0, result.output.find('\n'));
#endif
}

}  // namespace grade
