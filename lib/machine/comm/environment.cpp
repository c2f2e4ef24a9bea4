#include "lib/machine/comm/environment.hpp"

#include <cstdlib>
#include <initializer_list>

namespace shardlings {

bool started_by_launcher()
{
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_ID", simulated_rank_variable})
        if (std::getenv(name) != nullptr) return true;
    return false;
}

}  // namespace shardlings
