// mpiwatch FILE mpirun …: a run of an untrusted program under watch, from inside the sandbox that it runs in.
// A program of its own, with nothing of the course in it. FILE is the source file that a deadlock is told
// about.
#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "lib/machine/base/error.hpp"
#include "lib/tools/watch/supervise.hpp"

int main(int argc, char** argv)
{
    using namespace shardlings;
    try {
        check(argc > 2, "usage: mpiwatch FILE mpirun …");
        watch::Options options;
        options.checksums = false;
        options.only_deadlocks = true;
        options.leave_nothing = false;  // it goes with the sandbox
        options.about = argv[1];
        return watch::supervise(Command(argv + 2, argv + argc), {}, options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "mpiwatch: {}\n", error.what());
        return 1;
    }
}
