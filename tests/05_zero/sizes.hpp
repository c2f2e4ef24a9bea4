// The modules that the cases of several parts are made of.
#pragma once

#include "tests/05_zero/setup.hpp"

namespace zero_test {

/// A module without parameters, parameters shorter than a shard, and, with a bucket for every module, shards
/// that are all padding at degrees 4, 5 and 8.
inline const Sizes uneven{{6, 1, 4}, {}, {2}, {3, 2, 2, 7}, {5}};

inline Setup setup_of(const Sizes& sizes, int degree, std::int64_t bucket_bytes, DType dtype = DType::fp64)
{
    Setup setup;
    setup.sizes = sizes;
    setup.degree = degree;
    setup.bucket_bytes = bucket_bytes;
    setup.dtype = dtype;
    setup.seed = static_cast<std::int64_t>(seed_of("lesson 05"));
    return setup;
}

}  // namespace zero_test
