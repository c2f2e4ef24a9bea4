// Whether and as what this process was started by an MPI launcher, known before MPI_Init.
#pragma once

namespace shardlings {

/// Set where the ranks of a job are simulated in one process.
inline constexpr const char* simulated_rank_variable = "SHARDLINGS_SIMULATED_RANK";

/// True under mpirun, mpiexec or srun, and on a simulated rank.
bool started_by_launcher();

/// How many processes srun has started with this one; 1 when it was not srun.
int tasks_of_srun();

}  // namespace shardlings
