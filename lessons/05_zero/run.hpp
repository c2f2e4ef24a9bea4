// Runs of the page's programs on some of the ranks.
#pragma once

#include <functional>
#include <numeric>

#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/04_data_parallel/run.hpp"
#include "lib/machine/comm/session.hpp"

namespace lesson {

/// Calls `body` on the first options.layout.dp ranks with a communicator of theirs, on a new device for
/// `options`.
inline void on_ranks(MpiSession& session, const TrainOptions& options, const std::function<void(Comm&)>& body)
{
    Device device(device_options(options, session.rank()));
    const Comm world = Comm::world(device);
    const bool takes_part = session.rank() < options.layout.dp;
    Comm group = world.split(takes_part ? 0 : 1, session.rank());
    if (takes_part) body(group);
}

/// The sum over the ranks of `comm`, on each of them.
inline double sum_over(Comm& comm, double value)
{
    collectives::recursive_doubling_all_reduce(comm, buffer_of(std::span(&value, 1)));
    return value;
}

}  // namespace lesson
