#include "lib/machine/comm/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

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

bool speaks_for_launch()
{
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", simulated_rank_variable})
        if (const char* rank = std::getenv(name); rank != nullptr) return std::string_view(rank) == "0";
    const char* process = std::getenv("SLURM_PROCID");
    return !started_by_srun() || process == nullptr || std::string_view(process) == "0";
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
