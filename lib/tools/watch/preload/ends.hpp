// How a rank ends other than by MPI_Finalize, and where it is when the supervisor asks.
#pragma once

namespace shardlings::watch {

/// Before MPI_Init, which installs handlers of its own: which signals the program handles itself.
void note_handlers();
/// From now on a crash, an exit without MPI_Finalize, and the supervisor's question are answered.
void watch_ends();
/// The stack of here, as addresses, into the record.
void write_stack();

}  // namespace shardlings::watch
