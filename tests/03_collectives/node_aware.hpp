// What the node-aware all-reduce promises, and what each all-reduce takes.
#pragma once

#include "lessons/03_collectives/node_aware.hpp"
#include "tests/03_collectives/run.hpp"

namespace collectives_test {

using collectives::AllReduce;
using collectives::Placement;

/// The ranks of `group` on every node that has some, in the order of the nodes; when these are not equally
/// many, each rank alone.
std::vector<Group> nodes_of(const Topology& topology, const Group& group);

Placement placement_of(const Topology& topology, const Group& group);

GroupPromise node_aware_promise(const Run& run, const Group& group);

/// The lesson's formulas.
double expected_seconds(AllReduce algorithm, const Topology& topology, Placement placement, double bytes);

}  // namespace collectives_test
