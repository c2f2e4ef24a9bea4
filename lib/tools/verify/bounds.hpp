// What no collective can go below (Chan, Heimlich, Purkayastha and van de Geijn 2007, "Collective
// communication: theory, practice, and experience"; Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations"). p ranks, n elements, α seconds a message, β seconds a byte.
//
// A device has one outgoing link, so in time t it starts at most t/α messages and sends t/β bytes.
#pragma once

#include <string_view>

#include "lib/machine/device/topology.hpp"
#include "lib/tools/verify/collective.hpp"

namespace shardlings::verify {

/// Elements over all ranks. Adding an element of p ranks takes p − 1 transfers and so does spreading it:
/// 2 (p − 1) n for an all-reduce, (p − 1) n for the others.
double least_elements(Collective kind, int ranks, double elements);

/// ceil(log2 p) α: what one rank has, or takes part in, must reach all, and in α seconds the ranks that know
/// of it at most double.
double latency_bound(int ranks, const Link& link);

/// The least elements leave over p links at once: 2 (p − 1)/p n β for an all-reduce, (p − 1)/p n β for
/// reduce-scatter and all-gather; a broadcast's all leave the root, n β. `bytes` is that of n elements.
double bandwidth_bound(Collective kind, int ranks, double bytes, const Link& link);

/// The formulas as the table shows them.
std::string_view least_elements_formula(Collective kind);
std::string_view bandwidth_formula(Collective kind);

}  // namespace shardlings::verify
