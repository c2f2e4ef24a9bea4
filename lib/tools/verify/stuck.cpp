#include "lib/tools/verify/stuck.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
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
    volatile Where where = Where::outside;
} state;

constexpr int frames_kept = 64;
constexpr unsigned seconds_for_the_stack = 5;
// All alarms go off at about the same time. Lines come out in the order of ranks, and after them all ends.
constexpr useconds_t until_lines = 800'000;
constexpr useconds_t between_lines = 30'000;
constexpr useconds_t until_end = 1'500'000;

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
    return !folder.empty() && file.starts_with(folder) ? file.substr(folder.size()) : file;
}

bool is_machinery(const std::string& file)
{
    return file.empty() || file.find("lib/machine/") != std::string::npos ||
           file.find("lib/tools/") != std::string::npos || file.starts_with("/usr/") ||
           file.starts_with("./") || file.starts_with("../");
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

void report(int)
{
    if (state.group_rank < 0) return;
    signal(SIGALRM, give_up);
    alarm(seconds_for_the_stack);
    std::string text;
    if (state.group_rank == 0)
        text = fmt::format(
            "WRONG: it hangs: {} did not end in {} s. A send ends only when its receiver asks for it, "
            "however "
            "short it is.\n",
            state.case_name, state.seconds);
    const bool inside = state.where == Where::inside;
    text += fmt::format("  rank {} {}\n", state.group_rank, inside ? place() : "has returned");
    usleep(until_lines + static_cast<useconds_t>(state.group_rank) * between_lines);
    say(text);
    usleep(until_end);
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

void StuckWatch::start(const std::string& case_name, int world_rank, int group_rank)
{
    state.case_name = case_name;
    state.group_rank = group_rank;
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
