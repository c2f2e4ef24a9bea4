#include "lib/machine/comm/environment.hpp"

#include <cstdlib>
#include <initializer_list>

namespace shardlings {

namespace {

/// Slurm also numbers what is no srun of the user's: the batch script, and the shell of an interactive job.
constexpr unsigned long first_special_step = 0xfffffff0UL;

}  // namespace

bool started_by_launcher()
{
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", simulated_rank_variable})
        if (std::getenv(name) != nullptr) return true;
    const char* step = std::getenv("SLURM_STEP_ID");
    return step != nullptr && std::strtoul(step, nullptr, 10) < first_special_step;
}

int tasks_of_srun()
{
    const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
    return tasks != nullptr && started_by_launcher() ? std::atoi(tasks) : 1;
}

}  // namespace shardlings
