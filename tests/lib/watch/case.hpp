// Programs of few lines, each in a function, chosen by name: plain MPI, nothing of the project's.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

struct World {
    int rank;
    int size;
    int next() const { return (rank + 1) % size; }
    int previous() const { return (rank + size - 1) % size; }
};

struct Case {
    const char* name;
    void (*run)(const World&);
};

[[gnu::noinline]] inline void send(int to, int tag, MPI_Comm on = MPI_COMM_WORLD)
{
    int value = 1;
    MPI_Send(&value, 1, MPI_INT, to, tag, on);
}

[[gnu::noinline]] inline void receive(int from, int tag, MPI_Comm on = MPI_COMM_WORLD)
{
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, from, tag, on, MPI_STATUS_IGNORE);
}

/// A message that no MPI buffers.
inline std::vector<double> long_message()
{
    return std::vector<double>(1U << 20U, 1.0);
}

inline void compute(double seconds)
{
    volatile double sum = 0.0;
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        for (int i = 0; i < 10000; ++i) sum = sum + i;
}

/// argv[1] names the case.
inline int run_case(int argc, char** argv, std::initializer_list<Case> cases)
{
    MPI_Init(&argc, &argv);
    World world{};
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    for (const Case& one : cases)
        if (argc > 1 && std::strcmp(argv[1], one.name) == 0) {
            one.run(world);
            MPI_Finalize();
            return 0;
        }
    std::fprintf(stderr, "there is no such case\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
}
