// Whether a case came out right, and if not, what is wrong in one sentence.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/verify/run_case.hpp"

namespace shardlings::verify {

/// Empty when everything holds; else the first of: written beside the buffer, a wrong value (rank, element,
/// expected, got, whose contribution is missing or there too often, how many are wrong), other bits on
/// another rank, other bits in a second run, device memory that was not given back.
std::string judge(Collective kind, const Case& one, const std::vector<RankResult>& results);

}  // namespace shardlings::verify
