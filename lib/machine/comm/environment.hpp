// Whether and as what this process was started by an MPI launcher, known before MPI_Init.
#pragma once

namespace shardlings {

/// True under mpirun, mpiexec or srun.
bool started_by_launcher();

}  // namespace shardlings
