// Training steps of many layouts in one launch: what each takes of virtual time, memory and messages.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lib/machine/comm/session.hpp"
#include "lib/tools/train/options.hpp"

namespace shardlings {

/// Trains as each of `runs` says, one after the other, on the first ranks of the job, each on new devices
/// whose clocks begin at 0. On rank 0 a list of what `train --json` writes, without the validation; on the
/// others an empty one. Every rank must call it. Error when a run needs more ranks than there are.
nlohmann::json measure_steps(const MpiSession& session, const std::vector<TrainOptions>& runs);

/// `topology` with more nodes of the same kind, where `ranks` ranks need them: those that do not play sit
/// there.
Topology with_room(Topology topology, int ranks);

}  // namespace shardlings
