// What is taken away from a driver's process before somebody's code runs in it.
#pragma once

namespace grade {

/// Called on every rank when all of them have exchanged a message, so that nothing of MPI is still to be set
/// up. On Linux, from then on:
///   – other processes cannot look into this one;
///   – the names of the functions of MPI, and where they are, are nowhere in its memory: the dynamic linker's
///     tables of MPI's libraries and of the program are overwritten (when all has been bound: LD_BIND_NOW);
///   – the kernel refuses all calls but those that an MPI program needs which runs: it reads and writes what
///   is open,
///     waits, takes memory; it opens files to read only, starts nothing, and sends signals to nobody else.
void confine();

}  // namespace grade
