// Elements of buckets as they are stored, bit by bit.
#pragma once

#include "lessons/04_data_parallel/buckets.hpp"
#include "tests/lib/run_and_check.hpp"

namespace zero_test {

using namespace grade;
using data_parallel::Bucket;
using data_parallel::Chunk;

/// "m0.p1[3] (element 9 of bucket 1)", or "padding (…)".
std::string name_of_element(const std::vector<Bucket>& buckets, std::size_t bucket, std::int64_t place);

/// Empty when `got`, bytes as Case::put_bytes wrote them, is part `part` of `whole`, all of bucket `bucket`;
/// else "WHAT of m0.p1[3] (…) is 1, expected 2". `only`: elements outside of it may be anything.
std::string compare_bits(const std::string& what, const std::vector<Bucket>& buckets, std::size_t bucket,
                         const json& got, const Chunk& part, const Tensor& whole, const Chunk& only);

}  // namespace zero_test
