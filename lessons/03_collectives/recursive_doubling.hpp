// 03.5 All-reduce by recursive doubling (Thakur, Rabenseifner and Gropp 2005): few messages, for short ones.
#pragma once

#include "lib/machine/comm/comm.hpp"

namespace collectives {

using namespace shardlings;

/// partial sums -> their sum, bitwise the same on every rank and run. In round k = 0, 1, … rank r exchanges
/// all n elements with rank r xor 2^k and adds: log2 p rounds, each α + β n. When p is not a power of two, q
/// the largest one below it, the p − q last ranks first send their values to rank r − q and receive the sum
/// from it in the end: two more steps. Memory of the category communication for n elements, freed at the end.
/// Same contract for `values` as the ring's.
void recursive_doubling_all_reduce(Comm& comm, Buffer values);

}  // namespace collectives
