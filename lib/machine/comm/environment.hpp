// Whether and as what this process was started by an MPI launcher, known before MPI_Init.
#pragma once

namespace shardlings {

/// Set where the ranks of a job are simulated in one process.
inline constexpr const char* simulated_rank_variable = "SHARDLINGS_SIMULATED_RANK";

/// True under mpirun, mpiexec or srun, and on a simulated rank.
bool started_by_launcher();

/// False for all processes of a launch but one, which says what all of them would: as far as launchers tell.
bool speaks_for_launch();

/// True for a process of srun's.
bool started_by_srun();

/// True when whoever has started this process tells it of the other ranks, in a way that OpenMPI understands
/// (MPICH: PMI 2 is enough).
bool has_process_manager(bool pmi2_suffices);

}  // namespace shardlings
