#include "lib/tools/watch/supervise.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "lib/machine/base/error.hpp"
#include "lib/tools/watch/observer.hpp"
#include "lib/tools/watch/report.hpp"

namespace shardlings::watch {

namespace {

constexpr int could_not_start = 127;
constexpr useconds_t between_looks = 25'000;
constexpr int looks_for_stacks =
    80;  // at most: two seconds, for ranks of a busy machine to write where they are
constexpr int looks_for_the_end = 80;  // after SIGTERM; mpirun takes a second
// When a rank has failed, mpirun ends the others; only when it does not, they wait for ever.
constexpr std::chrono::milliseconds for_the_launcher{2500};
// What has lost its parents while no rank is there is no rank itself.
constexpr std::chrono::milliseconds for_orphans{1500};
// After a failure mpirun without ranks or any other process below it takes 2 s at most to end; on a busy
// machine longer.
constexpr std::chrono::seconds for_a_hung_launcher{10};

volatile std::sig_atomic_t asked_to_end = 0;

void pass_on(int signal)
{
    asked_to_end = signal;
}

/// One run from its start to its end.
class Run {
  public:
    Run(const Command& command, const Environment& environment, const Options& options)
        : observer_(folder_.path(), options.period),
          only_deadlocks_(options.only_deadlocks),
          leave_nothing_(options.leave_nothing),
          about_(options.about),
          for_others_(options.period / 2)
    {
        const std::string library =
            options.library.empty()
                ? (std::filesystem::canonical("/proc/self/exe").parent_path() / "libmpiwatch.so").string()
                : options.library;
        check(access(library.c_str(), R_OK) == 0, "there is no {}: make it with `make watch-library`",
              library);
        const char* before = std::getenv("LD_PRELOAD");
        Environment all = environment;
        all.insert(all.end(), {{"LD_PRELOAD", before == nullptr ? library : library + ":" + before},
                               {folder_variable, folder_.path()},
                               {synchronous_variable, options.synchronous ? "1" : "0"},
                               {checksums_variable, options.checksums ? "1" : "0"}});
        // UCX, which MPICH may use, would keep a crash to itself and lets nobody else handle it.
        all.emplace_back("UCX_HANDLE_ERRORS", "none");
        start(command, all);
    }

    ~Run()
    {
        if (launcher_file_ >= 0) close(launcher_file_);
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    int wait()
    {
        while (!ended()) {
            await_end_or_look();
            if (asked_to_end != 0) return stop(128 + asked_to_end);
            observer_.look();
            if (const auto code = look_at_jobs()) return stop(*code);
            end_orphans();
            end_hung_launcher();
        }
        return finish();
    }

  private:
    void start(const Command& command, const Environment& environment)
    {
        std::vector<char*> arguments;
        for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        launcher_ = fork();
        check(launcher_ >= 0, "cannot start {}: {}", command.front(), std::strerror(errno));
        if (launcher_ > 0) {
            launcher_file_ = static_cast<int>(syscall(SYS_pidfd_open, launcher_, 0));
            return;
        }
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        std::signal(SIGINT, SIG_DFL);
        for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
        execvp(arguments.front(), arguments.data());
        unsetenv("LD_PRELOAD");
        fmt::print(stderr, "shardlings: cannot start {}: {}\n", command.front(), std::strerror(errno));
        _exit(could_not_start);
    }

    void await_end_or_look() const
    {
        pollfd launcher{launcher_file_, POLLIN, 0};
        poll(&launcher, 1, between_looks / 1000);
    }

    /// Takes up every child that has ended; true when the launcher has.
    bool ended()
    {
        int status = 0;
        for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;)
            if (child == launcher_) {
                launcher_ended_ = true;
                code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            }
        return launcher_ended_;
    }

    std::optional<int> look_at_jobs()
    {
        for (auto& [name, job] : observer_.jobs()) {
            for (auto& [number, rank] : job) {
                const Header& header = rank.record->header;
                if (header.life == Life::crashed || header.life == Life::exited ||
                    header.life == Life::aborted)
                    look_at_end(name, job, number);
                for (std::uint32_t i = 0; i < std::min(header.finding_count, most_findings); ++i)
                    if (header.findings[i].fault == Fault::mismatch) return tell_mismatch(job, number, i);
            }
            if (observer_.first_ended(name) >= 0) look_at_end(name, job, observer_.first_ended(name));
            if (failed_ != Clock::time_point{} && Clock::now() - failed_ > for_the_launcher) {
                if (const std::string text = finalize_report(Graph(observer_.load(job))); !text.empty()) {
                    say(text);
                    return deadlock_code;
                }
            }
            if (Clock::now() - failed_ > for_the_launcher)
                if (const auto code = look_at_waits(name, job)) return code;
        }
        return {};
    }

    /// Two looks in turn have to find the same; others whose waits have begun meanwhile are given a little
    /// time to be part of what is told.
    std::optional<int> look_at_waits(const std::string& name, Job& job)
    {
        const bool suspected = suspected_since_.contains(name);
        if (!suspected && !observer_.has_news(name)) return {};
        if (Graph(observer_.load(job)).stuck().empty()) {
            suspected_since_.erase(name);
            return {};
        }
        const auto since = suspected_since_.emplace(name, Clock::now()).first->second;
        if (!suspected || (observer_.has_beginning_waits(job) && Clock::now() - since < for_others_))
            return {};
        suspected_since_.erase(name);
        observer_.expect_news(name);
        return tell_deadlock(job);
    }

    std::optional<int> tell_mismatch(Job& job, int rank, std::uint32_t index)
    {
        const Graph graph(observer_.load(job));
        const std::string text =
            mismatch_report(graph, rank, graph.rank(rank).record->header.findings[index]);
        if (text.empty()) return {};
        say(text);
        return mismatch_code;
    }

    std::optional<int> tell_deadlock(Job& job)
    {
        Graph graph(observer_.load(job));
        if (graph.stuck().empty()) return {};  // somebody went on after all
        ask_for_stacks(job, graph.stuck());
        ask_for_stacks(job, Graph(observer_.load(job)).stuck());  // others may have come to a halt meanwhile
        graph = Graph(observer_.load(job));
        if (graph.stuck().empty()) return {};
        say(about_.empty() ? deadlock_report(graph) : brief_deadlock_report(graph, about_));
        return deadlock_code;
    }

    /// Makes those of the ranks that have not yet done it write where they are.
    void ask_for_stacks(Job& job, const std::vector<int>& ranks)
    {
        for (const int rank : ranks) {
            const Header& header = job[rank].record->header;
            const auto question = static_cast<int>(header.stack_signal);
            if (header.frame_count == 0 && header.pid > 0 && question >= SIGRTMIN && question <= SIGRTMAX)
                kill(header.pid, question);
        }
        for (int look = 0; look < looks_for_stacks && !have_stacks(job, ranks); ++look) usleep(between_looks);
    }

    bool have_stacks(Job& job, const std::vector<int>& ranks)
    {
        observer_.look();
        for (const int rank : ranks)
            if (job[rank].record->header.frame_count == 0) return false;
        return true;
    }

    /// Says once how a rank ended, and lets a crashed one go.
    void look_at_end(const std::string& name, Job& job, int number)
    {
        if (!told_.insert({name, number}).second) return;
        failed_ = Clock::now();
        const Graph graph(observer_.load(job));
        if (asked_to_end == 0 && !only_deadlocks_) say(end_report(graph, number));
        const int file = open(job[number].path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) return;
        const std::uint32_t yes = 1;
        [[maybe_unused]] const ssize_t written = pwrite(file, &yes, sizeof yes, offsetof(Header, released));
        close(file);
    }

    /// A process that the ranks have left behind may keep mpirun, which waits for its output, from ending.
    void end_orphans()
    {
        if (observer_.has_living_ranks()) ranks_seen_ = Clock::now();
        if (Clock::now() - ranks_seen_ < for_orphans) return;
        for (const pid_t process : orphans(launcher_)) kill(process, SIGKILL);
    }

    /// OpenMPI 4's mpirun at times waits for a thread of its own for ever after it has ended a job whose
    /// ranks were at MPI_Finalize.
    void end_hung_launcher()
    {
        if (launcher_hung_ || failed_ == Clock::time_point{} ||
            Clock::now() - ranks_seen_ < for_a_hung_launcher || !is_launcher_alone(launcher_))
            return;
        launcher_hung_ = true;
        say("watch: all ranks have ended and mpirun has not: it is killed\n");
        kill(launcher_, SIGKILL);
    }

    /// Ends the run: asks the launcher, which cleans up, and then kills what is left.
    int stop(int code)
    {
        if (!leave_nothing_) return code;
        observer_.note_shared_memory();
        kill(launcher_, SIGTERM);
        for (int look = 0; look < looks_for_the_end && !ended(); ++look) usleep(between_looks);
        clean_up();
        return code;
    }

    int finish()
    {
        if (launcher_hung_) code_ = observer_.code_of_ranks();
        observer_.note_shared_memory();  // of ranks that outlive a killed launcher, by some milliseconds
        observer_.look();
        for (auto& [name, job] : observer_.jobs()) {
            for (auto& [number, rank] : job) {
                const Life life = rank.record->header.life;
                if (life == Life::crashed || life == Life::exited || life == Life::aborted)
                    look_at_end(name, job, number);
            }
            if (observer_.first_ended(name) >= 0) look_at_end(name, job, observer_.first_ended(name));
            if (const auto code = late_mismatch(job)) code_ = *code;
            if (!only_deadlocks_) say(closing_report(Graph(observer_.load(job))));
        }
        clean_up();
        return code_;
    }

    /// A short program may have ended between two looks.
    std::optional<int> late_mismatch(Job& job)
    {
        for (auto& [number, rank] : job)
            for (std::uint32_t i = 0; i < std::min(rank.record->header.finding_count, most_findings); ++i)
                if (rank.record->header.findings[i].fault == Fault::mismatch)
                    return tell_mismatch(job, number, i);
        return {};
    }

    void clean_up()
    {
        if (!leave_nothing_) return;
        kill_descendants();
        remove_leftovers(observer_.shared_memory(), launcher_);
    }

    static void say(const std::string& text)
    {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    }

    TemporaryFolder folder_;
    Observer observer_;
    bool only_deadlocks_;
    bool leave_nothing_;
    std::string about_;
    std::chrono::duration<double> for_others_;
    std::map<std::string, Clock::time_point> suspected_since_;  // by job
    pid_t launcher_ = 0;
    int launcher_file_ = -1;  // its pidfd
    bool launcher_ended_ = false;
    bool launcher_hung_ = false;
    int code_ = 0;
    Clock::time_point failed_{};  // when a rank last did
    Clock::time_point ranks_seen_ = Clock::now();
    std::set<std::pair<std::string, int>> told_;
};

}  // namespace

int supervise(const Command& command, const Environment& environment, const Options& options)
{
    check(options.period > 0.0, "the period is {} s: expected more than 0", options.period);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::signal(SIGINT, SIG_IGN);  // a terminal's Ctrl-C reaches the launcher too
    std::signal(SIGTERM, pass_on);
    Run run(command, environment, options);
    const int code = run.wait();
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    return code;
}

}  // namespace shardlings::watch
