// Programs that end in ways they should not, or leave something behind.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "tests/lib/watch/case.hpp"

namespace {

void crash(const World& world)
{
    volatile int* nowhere = nullptr;
    if (world.rank == 1) *nowhere = 1;
    MPI_Barrier(MPI_COMM_WORLD);
}

void abort_call(const World& world)
{
    if (world.rank == 1) std::abort();
    MPI_Barrier(MPI_COMM_WORLD);
}

int too_deep(int depth)
{
    volatile char room[4096] = {};
    return depth < 0 ? 0 : too_deep(depth + 1) + room[0];
}

void stack_overflow(const World& world)
{
    if (world.rank == 1) too_deep(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

void exit_early(const World& world)
{
    if (world.rank == 1) std::exit(3);
    MPI_Barrier(MPI_COMM_WORLD);
}

void killed(const World& world)
{
    usleep(200'000);
    if (world.rank == 1) std::raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
}

void mpi_abort(const World& world)
{
    if (world.rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Barrier(MPI_COMM_WORLD);
}

/// A process that no signal but one ends, out of the session and the group of its parent.
void leave_process()
{
    if (fork() != 0) return;
    setsid();
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    if (fork() != 0) _exit(0);
    for (;;) pause();
}

void daemon_stays(const World&)
{
    leave_process();
}

void daemon_and_deadlock(const World& world)
{
    leave_process();
    receive(world.previous(), 7);
}

void ignores_sigterm(const World& world)
{
    std::signal(SIGTERM, SIG_IGN);
    receive(world.previous(), 7);
}

/// Keeps a process that has called exit() from ending.
struct Endless {
    bool wanted = false;
    ~Endless()
    {
        while (wanted) pause();
    }
} endless;

/// The others are in MPI_Finalize by then, and mpirun sees nothing.
void late_exit(const World& world)
{
    if (world.rank != 0) return;
    usleep(500'000);
    endless.wanted = true;
    std::exit(3);
}

void computes(const World&)
{
    compute(20.0);
}

/// A hostile one: it takes away the file in which it is watched, or fills it with anything.
void spoil_record(const World& world, bool shorten)
{
    const char* folder = std::getenv("SHARDLINGS_WATCH_DIR");
    const char* job = std::getenv("PMIX_NAMESPACE");
    if (folder == nullptr) return;
    const std::string name =
        std::string(folder) + "/" + (job == nullptr ? "job" : job) + "." + std::to_string(world.rank);
    const int file = open(name.c_str(), O_RDWR);
    if (file < 0) return;
    struct stat info = {};
    fstat(file, &info);
    for (int round = 0; round < 40; ++round) {
        if (shorten) {
            if (ftruncate(file, 100) != 0) return;
        } else {
            auto* words = static_cast<unsigned*>(
                mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_WRITE, MAP_SHARED, file, 0));
            for (long i = 2 + round % 2; i < info.st_size / 4; ++i)
                words[i] = static_cast<unsigned>(round % 3 == 0 ? -1 : std::rand());
        }
        usleep(30'000);
    }
}

void shorten_record(const World& world)
{
    if (world.rank == 0) spoil_record(world, true);
    _exit(0);
}

void fill_record(const World& world)
{
    spoil_record(world, false);
    _exit(0);
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc > 1 && std::strcmp(argv[1], "before_init") == 0) {
        leave_process();
        return 0;
    }
    return run_case(argc, argv,
                    {{"crash", crash},
                     {"abort_call", abort_call},
                     {"stack_overflow", stack_overflow},
                     {"exit_early", exit_early},
                     {"killed", killed},
                     {"mpi_abort", mpi_abort},
                     {"daemon_stays", daemon_stays},
                     {"daemon_and_deadlock", daemon_and_deadlock},
                     {"ignores_sigterm", ignores_sigterm},
                     {"computes", computes},
                     {"late_exit", late_exit},
                     {"shorten_record", shorten_record},
                     {"fill_record", fill_record}});
}
