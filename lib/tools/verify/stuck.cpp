#include "lib/tools/verify/stuck.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#define BACKWARD_HAS_DW 1
#include <backward.hpp>

namespace shardlings::verify {

namespace {

enum class Where { outside, inside, returned };

/// What the alarm's handler needs; a handler has no other way to get at anything.
struct State {
    std::string case_name;
    double seconds = 0.0;
    int group_rank = -1;
    int group_size = 0;
    volatile Where where = Where::outside;
} state;

constexpr int frames_kept = 64;
constexpr unsigned seconds_for_the_stack = 10;
constexpr int polls = 100;  // until rank 0 does without the lines of ranks that have not come
constexpr useconds_t between_polls = 50'000;

void set_timer(double seconds)
{
    const double whole = std::floor(seconds);
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(whole);
    timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6);
    setitimer(ITIMER_REAL, &timer, nullptr);
}

void say(std::string_view text)
{
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

/// Relative to where the program runs, when it is below.
std::string short_name(const std::string& file)
{
    const char* here = std::getenv("PWD");
    const std::string folder = here == nullptr ? "" : std::string(here) + "/";
    if (!folder.empty() && file.starts_with(folder)) return file.substr(folder.size());
    return file.starts_with("./") ? file.substr(2) : file;
}

/// Not what the user wrote. Libraries were compiled elsewhere: their relative names lead nowhere here.
bool is_machinery(const std::string& file)
{
    return file.empty() || file.find("lib/machine/") != std::string::npos ||
           file.find("lib/tools/") != std::string::npos || file.starts_with("/usr/") ||
           access(file.c_str(), R_OK) != 0;
}

/// "waits in Comm::recv, called at FILE:LINE", or "is at FILE:LINE".
std::string place()
{
    backward::StackTrace stack;
    stack.load_here(frames_kept);
    backward::TraceResolver resolver;
    resolver.load_stacktrace(stack);
    std::string waiting;
    for (std::size_t i = 0; i < stack.size(); ++i) {
        const backward::ResolvedTrace frame = resolver.resolve(stack[i]);
        for (const std::string_view call :
             {"Comm::sendrecv", "Comm::send", "Comm::recv", "Comm::split", "Comm::barrier", "Request::wait"})
            if (frame.object_function.find(call) != std::string::npos) {
                waiting = call;
                break;
            }
        if (is_machinery(frame.source.filename)) continue;
        const std::string line = fmt::format("{}:{}", short_name(frame.source.filename), frame.source.line);
        return waiting.empty() ? "is at " + line : fmt::format("waits in {}, called at {}", waiting, line);
    }
    return waiting.empty() ? "is in the function" : "waits in " + waiting;
}

void give_up(int)
{
    say("  a rank is in the function, at a place that cannot be told\n");
    _exit(1);
}

std::string line_file(const std::string& folder, int rank)
{
    return fmt::format("{}/stuck.{}", folder, rank);
}

void leave_line(const std::string& folder, const std::string& line)
{
    const std::string file = line_file(folder, state.group_rank);
    std::ofstream(file + ".part") << line;
    std::rename((file + ".part").c_str(), file.c_str());
}

/// What the ranks of the group have left, in their order.
std::string collect_lines(const std::string& folder)
{
    std::string text;
    int left = polls;
    for (int rank = 0; rank < state.group_size; ++rank) {
        std::ifstream file(line_file(folder, rank));
        for (; !file && left > 0; --left) {
            usleep(between_polls);
            file.open(line_file(folder, rank));
        }
        std::string line;
        text += std::getline(file, line) ? line + "\n" : fmt::format("  rank {} does not answer\n", rank);
    }
    return text;
}

/// Rank 0 of the group speaks for all: it ends the job, and with it the others, when it has their lines.
void report(int)
{
    if (state.group_rank < 0) return;
    signal(SIGALRM, give_up);
    alarm(seconds_for_the_stack);
    const bool inside = state.where == Where::inside;
    const std::string line =
        fmt::format("  rank {} {}\n", state.group_rank, inside ? place() : "has returned");
    const std::string head = fmt::format(
        "WRONG: it hangs: {} did not end in {} s. A send ends only when its receiver asks for it, however "
        "short "
        "it is.\n",
        state.case_name, state.seconds);
    const char* folder = std::getenv("SHARDLINGS_RUN_DIR");
    if (folder != nullptr) leave_line(folder, line);
    if (state.group_rank == 0) say(head + (folder == nullptr ? line : collect_lines(folder)));
    if (state.group_rank == 0) _exit(1);
    if (folder == nullptr) say(line);
    sleep(seconds_for_the_stack / 2);
    _exit(1);
}

}  // namespace

StuckWatch::StuckWatch(double seconds) : seconds_(seconds)
{
    state.seconds = seconds;
    struct sigaction action = {};
    action.sa_handler = report;
    action.sa_flags = SA_NODEFER | SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
}

StuckWatch::~StuckWatch()
{
    stop();
    signal(SIGALRM, SIG_DFL);
}

void StuckWatch::start(const std::string& case_name, int world_rank, int group_rank, int group_size)
{
    state.case_name = case_name;
    state.group_rank = group_rank;
    state.group_size = group_size;
    state.where = Where::outside;
    const char* folder = std::getenv("SHARDLINGS_RUN_DIR");
    if (world_rank == 0 && folder != nullptr) std::ofstream(std::string(folder) + "/case") << case_name;
    set_timer(seconds_);
}

void StuckWatch::enter()
{
    state.where = Where::inside;
}

void StuckWatch::leave()
{
    state.where = Where::returned;
}

void StuckWatch::stop()
{
    set_timer(0.0);
}

}  // namespace shardlings::verify
