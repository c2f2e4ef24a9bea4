// Where the elements that a device holds are in the whole model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lessons/04_data_parallel/buckets.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace shardlings {

/// A run of elements of one parameter, by its number in the model and its first element there (row-major in
/// the whole tensor).
struct Run {
    std::int64_t parameter;
    std::int64_t begin;
    std::int64_t count;
    std::int64_t in_part;  // first element in the part of a bucket
};

/// The runs of part `part` of a bucket. `names`: the model's parameters, in order.
std::vector<Run> runs_of(const data_parallel::Bucket& bucket, const data_parallel::Chunk& part,
                         const std::vector<std::string>& names);

/// The names of a model's parameters, in order.
std::vector<std::string> names_of(const ModelShape& shape);

}  // namespace shardlings
