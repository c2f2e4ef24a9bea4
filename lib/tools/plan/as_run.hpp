// The same layout as this program would run it, by lesson 10's exact formulas.
#pragma once

#include <string>

#include "lib/machine/base/dtype.hpp"
#include "lib/tools/plan/cluster.hpp"
#include "lib/tools/plan/split.hpp"

namespace shardlings::plan {

/// Without dropout. Error for a model that is not of GPT-2's kind, which this program cannot run, and for a
/// layout that Layout::validate refuses.
counting::Job job_of(const Run& run, const Split& split, DType dtype);

/// For each stage, of its tensor-parallel rank 0: the bytes of states and the most of activations that
/// `Device` counts, the bytes that it sends in a step, the FLOPs of its matrix products; then the virtual
/// time of a step on devices that reach the cluster's peak speed and bandwidths.
std::string as_run_text(const Run& run, const Split& split, const Cluster& cluster, DType dtype);

}  // namespace shardlings::plan
