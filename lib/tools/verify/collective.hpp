// Is a collective of your own right, how much does it send, and how long does it take? A three-line program
// asks; `make verify-collective HEADER=… FUNCTION=… KIND=…` writes one for a function in a header.
#pragma once

#include <cstdint>
#include <functional>

#include "lib/machine/comm/comm.hpp"

namespace shardlings {

/// What a function over the p ranks of `comm` does, in place, with n elements of any floating-point dtype:
///   all_reduce      partial sums -> their sum on every rank, bitwise the same everywhere
///   reduce_scatter  partial sums -> their sum in chunk r on rank r; the other chunks may hold anything
///   all_gather      chunk r on rank r -> all chunks on every rank
///   broadcast       the values of rank `root` -> on every rank
/// Chunk r of n elements: the first n mod p chunks hold n / p + 1 elements, the others n / p.
enum class Collective : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast };

/// Checks `function` and is the rest of main(): its exit code is 0 when every case is right, else 1. Started
/// by hand it starts itself on 8 ranks (--ranks N); started by mpirun it uses the ranks there are.
///
/// On 1, 2, … ranks it runs lengths of 0 and 1, around p, prime, not divisible and long, all four
/// floating-point dtypes, inside a larger buffer, twice on a buffer, on several groups of ranks; with sums
/// that are exact, where a wrong one tells whose contribution is missing, and with sums that are rounded,
/// which may be off by p − 1 roundings and must be bitwise the same on every rank and when run again. When
/// all is right it prints the traffic beside the least there can be and the virtual time beside the bounds of
/// bounds.hpp. A case that takes longer than 5 s (--case-seconds) ends the run, telling where every rank is.
///
/// This is for one's own code: the function runs in the process that checks it.
int verify_collective(int argc, char** argv, Collective kind,
                      const std::function<void(Comm&, Buffer)>& function);
/// The same for functions that take the root, that is for a broadcast.
int verify_collective(int argc, char** argv, Collective kind,
                      const std::function<void(Comm&, Buffer, int)>& function);

}  // namespace shardlings
