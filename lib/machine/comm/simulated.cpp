#include "lib/machine/comm/simulated.hpp"

#include <mpi.h>

#ifdef SMPI_H
#include <simgrid/actor.h>
#endif

namespace shardlings {

void spend_computed_time([[maybe_unused]] const Device& device)
{
#ifdef SMPI_H
    auto* spent = static_cast<SpentWork*>(sg_actor_get_data(sg_actor_self()));
    if (spent == nullptr) return;
    if (spent->device != &device) *spent = {&device, 0.0};
    const double flops = device.flops() - spent->flops;
    if (flops > 0.0) smpi_execute_flops(flops);
    spent->flops = device.flops();
#endif
}

}  // namespace shardlings
