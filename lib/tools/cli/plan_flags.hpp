// Flags that `count` and `plan` share: a model, a cluster, a batch.
#pragma once

#include <optional>
#include <string>

#include "lib/machine/base/dtype.hpp"
#include "lib/tools/plan/cluster.hpp"
#include "lib/tools/plan/split.hpp"

namespace CLI {
class App;
}

namespace shardlings {

/// What the user has said; what is not said is the named model's and the named cluster's.
struct PlanFlags {
    std::string model;
    std::optional<std::int64_t> layers, hidden, heads, kv_heads, mlp, sequence, vocabulary;
    std::string cluster = "a100-80g";
    std::optional<std::int64_t> devices_per_node;
    std::string memory, in_node, between_nodes;
    std::optional<double> flops, achieved;
    std::optional<std::int64_t> batch;  // as many as devices, and at least 8, when it is not said
    std::string dtype;
    bool fp32_gradients = false;
};

void add_plan_flags(CLI::App& command, PlanFlags& flags);

/// Of one node, unless `devices` says otherwise.
plan::Cluster cluster_of(const PlanFlags& flags, std::optional<std::int64_t> devices);
/// The cluster's, unless the flags name one.
DType dtype_of(const PlanFlags& flags, const plan::Cluster& cluster);
/// Checked but for how it is split.
plan::Run run_of(const PlanFlags& flags, const plan::Cluster& cluster);

}  // namespace shardlings
