#include "lib/tools/watch/preload/ends.hpp"

#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "lib/tools/watch/preload/own.hpp"

namespace shardlings::watch {

namespace {

constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int patience = 1500;                   // milliseconds for the supervisor to have seen a crash
constexpr std::size_t stack_bytes = 128 * 1024;  // for a handler whose own stack has run over

std::array<bool, faults.size()> handled_by_program{};
pid_t watched_process = 0;

void answer(int)
{
    write_stack();
}

void crashed(int number)
{
    signal(number, SIG_DFL);
    Header& header = own.record->header;
    if (getpid() == watched_process) {
        header.code = number;
        write_stack();
        publish(header.life, Life::crashed);
        for (int i = 0; i < patience && __atomic_load_n(&header.released, __ATOMIC_ACQUIRE) == 0; ++i)
            usleep(1000);
    }
    raise(number);
}

void exited(int code, void*)
{
    Header& header = own.record->header;
    if (getpid() != watched_process || header.life != Life::running) return;
    header.code = code;
    note_modules();
    write_stack();
    publish(header.life, Life::exited);
}

}  // namespace

void write_stack()
{
    void* frames[most_frames];
    const int count = backtrace(frames, most_frames);
    for (int i = 0; i < count; ++i) own.record->header.frames[i] = reinterpret_cast<std::uint64_t>(frames[i]);
    publish(own.record->header.frame_count, static_cast<std::uint32_t>(count < 0 ? 0 : count));
}

void note_handlers()
{
    for (std::size_t i = 0; i < faults.size(); ++i) {
        struct sigaction action = {};
        sigaction(faults[i], nullptr, &action);
        handled_by_program[i] = action.sa_handler != SIG_DFL;
    }
}

void watch_ends()
{
    watched_process = getpid();
    void* warm_up[2];
    backtrace(warm_up, 2);  // the first call loads a library, which a handler must not
    void* memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = stack_bytes;
    if (memory != MAP_FAILED) sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    action.sa_handler = crashed;
    for (std::size_t i = 0; i < faults.size(); ++i)
        if (!handled_by_program[i]) sigaction(faults[i], &action, nullptr);
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    action.sa_handler = answer;
    const int question = SIGRTMAX - 3;
    if (sigaction(question, &action, nullptr) == 0)
        own.record->header.stack_signal = static_cast<std::uint32_t>(question);
    on_exit(exited, nullptr);
}

}  // namespace shardlings::watch
