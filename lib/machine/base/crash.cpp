#include "lib/machine/base/crash.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#define BACKWARD_HAS_DW 1
#include <backward.hpp>

namespace shardlings {

namespace {

constexpr int frames_kept = 64;
constexpr unsigned seconds_for_the_stack = 3;

std::string own_rank()
{
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* rank = std::getenv(name)) return rank;
    return "0";
}

/// The source file as it was given to the compiler: relative to the root of the project.
std::string short_name(const std::string& file)
{
    for (const char* folder : {"/exercises/", "/solutions/", "/lessons/", "/lib/", "/tests/"})
        if (const auto at = file.rfind(folder); at != std::string::npos) return file.substr(at + 1);
    return file;
}

void print_stack()
{
    backward::StackTrace stack;
    stack.load_here(frames_kept);
    backward::TraceResolver resolver;
    resolver.load_stacktrace(stack);
    for (std::size_t i = 0; i < stack.size(); ++i) {
        const backward::ResolvedTrace frame = resolver.resolve(stack[i]);
        const std::string file = short_name(frame.source.filename);
        const bool ours = !file.empty() && file.front() != '/' && file.front() != '.' &&
                          file.find("crash.cpp") == std::string::npos;
        if (ours) fmt::print(stderr, "  {}:{} {}\n", file, frame.source.line, frame.source.function);
    }
}

/// The stack could not be printed: reading it needs the heap, which is damaged or locked.
void give_up(int)
{
    constexpr std::string_view reason =
        "  a place that cannot be told: the heap is damaged. Does a loop write past the end of a tensor?\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, reason.data(), reason.size());
    kill(getpid(), SIGKILL);
}

void report(int number)
{
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) signal(fault, give_up);
    alarm(seconds_for_the_stack);
    fmt::print(stderr, "rank {} crashed: {} (signal {}), at\n", own_rank(), strsignal(number), number);
    print_stack();
    std::fflush(stderr);
    signal(number, SIG_DFL);
    raise(number);
}

}  // namespace

void report_crashes()
{
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        struct sigaction action = {};
        action.sa_handler = report;
        action.sa_flags = SA_NODEFER;
        sigaction(number, &action, nullptr);
    }
}

}  // namespace shardlings
