#include "lib/machine/comm/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace shardlings {

namespace {

/// Slurm also numbers what is no srun of the user's: the batch script, and the shell of an interactive job.
constexpr unsigned long first_special_step = 0xfffffff0UL;

bool is_set(std::initializer_list<const char*> names)
{
    return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace

bool started_by_launcher()
{
    return is_set({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", simulated_rank_variable}) ||
           started_by_srun();
}

bool started_by_srun()
{
    const char* step = std::getenv("SLURM_STEP_ID");
    return step != nullptr && std::strtoul(step, nullptr, 10) < first_special_step;
}

bool has_process_manager(bool pmi2_suffices)
{
    return is_set({"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) || (pmi2_suffices && is_set({"PMI_RANK"}));
}

}  // namespace shardlings
