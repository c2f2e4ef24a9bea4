#include "lib/tools/launch/launch.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>

#include "lib/machine/base/error.hpp"
#include "lib/tools/launch/left_behind.hpp"
#include "lib/tools/launch/notices.hpp"
#include "lib/tools/launch/rank_watch.hpp"

namespace shardlings {

namespace {

constexpr std::size_t kept_output = 256 * 1024;
constexpr int could_not_start = 127;

/// Forks; in the child, standard error to `error`; when `captured`, standard output too, no input, and its
/// own process group; then exec.
pid_t start(const Command& command, const Environment& environment, int error, bool captured)
{
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = fork();
    check(child >= 0, "cannot start {}: {}", command.front(), std::strerror(errno));
    if (child > 0) return child;
    // Nobody is left to stop it when this process is killed, by Ctrl-C for one, which its own group keeps
    // off.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(error, STDERR_FILENO);
    if (captured) {
        setpgid(0, 0);
        dup2(error, STDOUT_FILENO);
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
    }
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments.front(), arguments.data());
    _exit(could_not_start);
}

/// Both ends of a pipe, closed with this; a child has them only as what it duplicates.
class Pipe {
  public:
    Pipe() { check(pipe2(ends_.data(), O_CLOEXEC) == 0, "cannot make a pipe: {}", std::strerror(errno)); }
    ~Pipe()
    {
        close(ends_[0]);
        close_writer();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int reader() const { return ends_[0]; }
    int writer() const { return ends_[1]; }
    void close_writer()
    {
        if (ends_[1] >= 0) close(ends_[1]);
        ends_[1] = -1;
    }

  private:
    std::array<int, 2> ends_{-1, -1};
};

/// Many ranks on a busy machine take so long to start, at most.
constexpr std::chrono::seconds start_up{15};

/// The seconds that a process has left: `limit`; when there is a folder, anew whenever a file is written to
/// it, and more until the first.
class Deadline {
  public:
    Deadline(double limit, const std::string& folder)
        : limit_(limit), folder_(folder), begin_(Steady::now()), written_(last_written())
    {
        if (!folder.empty()) begin_ += start_up;
    }
    double left()
    {
        const auto written = last_written();
        if (written != written_) begin_ = Steady::now();
        written_ = written;
        return limit_ - std::chrono::duration<double>(Steady::now() - begin_).count();
    }

  private:
    using Steady = std::chrono::steady_clock;
    std::filesystem::file_time_type last_written() const
    {
        std::error_code ignored;
        return folder_.empty() ? std::filesystem::file_time_type{}
                               : std::filesystem::last_write_time(folder_, ignored);
    }

    double limit_;
    std::string folder_;
    Steady::time_point begin_;
    std::filesystem::file_time_type written_;
};

/// Gives what comes out of `pipe` to `take`, and calls `look` now and then, until it closes, the child ends,
/// or the time is up. True when it was the time.
bool read_until_end(
    int pipe, pid_t child, Deadline deadline, const std::function<void(std::string_view)>& take,
    const std::function<void()>& look = [] {})
{
    std::array<char, 65536> block{};
    while (true) {
        const double left = deadline.left();
        if (left <= 0.0) return true;
        look();
        pollfd waiting{pipe, POLLIN, 0};
        const int ready = poll(&waiting, 1, static_cast<int>(std::min(left, 0.1) * 1000.0) + 1);
        if (ready > 0) {
            const ssize_t count = read(pipe, block.data(), block.size());
            if (count <= 0) return false;
            take({block.data(), static_cast<std::size_t>(count)});
        } else {
            siginfo_t info{};
            if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                info.si_pid == child)
                return false;  // ended, though something it started still holds the pipe
        }
    }
}

/// In a job of Slurm's, mpirun takes the job's machines.
[[maybe_unused]] bool has_several_machines()
{
    const char* machines = std::getenv("SLURM_JOB_NUM_NODES");
    return machines != nullptr && std::atoi(machines) > 1;
}

volatile std::sig_atomic_t foreground_child = 0;

void pass_on(int signal)
{
    if (foreground_child > 0) kill(static_cast<pid_t>(foreground_child), signal);
}

}  // namespace

Command mpirun_command(int ranks, const Command& program, const std::string& hostfile)
{
#ifdef OPEN_MPI
    // Copies from process to process (single copy in OpenMPI 4, smsc in 5) are off: 5.0.7 writes a message
    // that is longer than the receiver's buffer past its end instead of reporting it. After a
    // crash OpenMPI 4 sleeps two seconds before it kills the other ranks, even when none is left: not here.
    Command command{"mpirun.openmpi", "-np", std::to_string(ranks), "--oversubscribe", "--bind-to", "none"};
    if (std::system("command -v mpirun.openmpi >/dev/null 2>&1") != 0) command[0] = "mpirun";
    Environment settings{{"mpi_yield_when_idle", "1"},
                         // OpenMPI 5 refuses -q; without it 4.1 crashes now and then at the end
                         {"orte_execute_quiet", "1"},
                         {"odls_base_sigkill_timeout", "0"},
                         {"btl_vader_single_copy_mechanism", "none"},
                         {"smsc", "^cma"}};
    // On one machine nothing but its memory carries messages, and no time is spent on looking for networks.
    if (hostfile.empty() && !has_several_machines())
        settings.insert(settings.end(), {{"pml", "ob1"}, {"btl", "self,vader"}});
    for (const auto& [name, value] : settings) command.insert(command.end(), {"--mca", name, value});
    if (!hostfile.empty()) command.insert(command.end(), {"--hostfile", hostfile});
#else
    Command command{"mpiexec.mpich", "-np", std::to_string(ranks)};
    if (std::system("command -v mpiexec.mpich >/dev/null 2>&1") != 0) command[0] = "mpiexec";
    if (!hostfile.empty()) command.insert(command.end(), {"-f", hostfile});
#endif
    command.insert(command.end(), program.begin(), program.end());
    return command;
}

std::string hostfile_text(const std::vector<Host>& hosts)
{
#ifdef OPEN_MPI
    constexpr const char* number = " slots=";
#else
    constexpr const char* number = ":";
#endif
    std::string text;
    for (const Host& host : hosts) text += host.name + number + std::to_string(host.slots) + "\n";
    return text;
}

Environment mpirun_environment()
{
    Environment environment{
        {"OPENBLAS_NUM_THREADS", "1"}, {"PMIX_MCA_gds", "hash"}, {"MPIR_CVAR_ENABLE_HEAVY_YIELD", "1"}};
    if (geteuid() == 0)  // OpenMPI refuses root otherwise; in a container there is often nobody else
        environment.insert(environment.end(),
                           {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
    return environment;
}

ProcessResult run_captured(const Command& command, const Environment& environment, double limit,
                           const std::string& folder)
{
    Pipe pipe;
    const pid_t child = start(command, environment, pipe.writer(), true);
    pipe.close_writer();
    ProcessResult result;
    NoticeFilter filter;
    result.timed_out =
        read_until_end(pipe.reader(), child, Deadline(limit, folder), [&](std::string_view text) {
            result.output += filter.pass(text);
            if (result.output.size() > 2 * kept_output)
                result.output.erase(0, result.output.size() - kept_output);
        });
    result.output += filter.finish();
    if (result.timed_out) {
        kill(-child, SIGTERM);  // mpirun passes it on to ranks that are in groups of their own
        // Within about a second it ends them and removes their shared memory; killed earlier it would not.
        siginfo_t info{};
        for (int i = 0; i < 30 && info.si_pid == 0; ++i) {
            usleep(100'000);
            waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
        }
    }
    int status = 0;
    if (result.timed_out && waitpid(child, &status, WNOHANG) == 0) {
        kill(-child, SIGKILL);
        waitpid(child, &status, 0);
    } else if (!result.timed_out) {
        waitpid(child, &status, 0);
        kill(-child, SIGKILL);
    }
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + result.signal;
    check(result.exit_code != could_not_start, "cannot start {}: is it installed? {}", command.front(),
          result.output);
    return result;
}

int run_foreground(const Command& command, const Environment& environment)
{
    const auto folder = std::ranges::find(environment, run_folder_variable, &Environment::value_type::first);
    Pipe pipe;
    const pid_t child = start(command, environment, pipe.writer(), false);
    pipe.close_writer();
    foreground_child = child;
    std::signal(SIGINT,
                SIG_IGN);  // a terminal's Ctrl-C reaches mpirun too; a second one would skip its clean-up
    std::signal(SIGTERM, pass_on);
    NoticeFilter filter;
    RankWatch ranks(folder == environment.end() ? "" : folder->second);
    const auto show = [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    };
    read_until_end(
        pipe.reader(), child, Deadline(std::numeric_limits<double>::infinity(), ""),
        [&](std::string_view text) { show(filter.pass(text)); }, [&] { ranks.look(); });
    show(filter.finish());
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    const int last_signal = 31;  // of those that end a process
    if (WEXITSTATUS(status) > 128 && WEXITSTATUS(status) <= 128 + last_signal)
        show(ranks.told(WEXITSTATUS(status) - 128) + "\n");
    check(WEXITSTATUS(status) != could_not_start, "cannot start {}: is it installed?", command.front());
    return WEXITSTATUS(status);
}

TemporaryFolder::TemporaryFolder()
{
    path_ = new_folder(std::filesystem::temp_directory_path()).string();
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace shardlings
