// Optimizer steps over the buckets of a model, and everything that must hold after them.
#pragma once

#include "tests/04_data_parallel/support.hpp"

namespace data_parallel_test {

/// Steps of the replicated optimizer (rank −1), or of update_parts over the parts of one rank.
struct OptimizerRun {
    std::string name;
    ModelSizes model;
    DType dtype = DType::fp32;
    int degree = 1;
    int rank = -1;
    std::int64_t bucket_elements = 0;  // of bucket_bytes, which is 1 for 0
    double max_norm = 0.0;
    bool scaled = false;
    double scale = 1.0;
    std::int64_t good_steps = 0;       // of the loss scale, which grows after 3
    std::int64_t done = 0;             // updates before
    std::vector<int> overflows{0, 0};  // one a step: on how many ranks
    std::size_t overflow_bucket = 0;   // where an element is `infinity`
    double infinity = 0.0;
    bool exact_master = false;  // the master weights begin as the 16-bit values, not next to them
    double learning_rate = 3e-2;
    double weight_decay = 0.2;

    bool replicated() const { return rank < 0; }
    std::int64_t bucket_bytes() const
    {
        return std::max<std::int64_t>(bucket_elements * static_cast<std::int64_t>(size_of(dtype)), 1);
    }
    DType states_dtype() const { return is_sixteen_bit(dtype) ? DType::fp32 : dtype; }
    std::vector<data_parallel::Bucket> buckets(const ParameterModel& model) const
    {
        return data_parallel::make_buckets(model.modules(), degree, dtype, bucket_bytes());
    }
    data_parallel::Chunk part(const data_parallel::Bucket& bucket) const
    {
        return replicated() ? data_parallel::Chunk{0, bucket.padded} : bucket.shard(degree, rank);
    }
};

/// What a run starts from.
struct Start {
    Numbers values, master, m, v;
    std::vector<Numbers> gradients;  // of every step
};

Start start_of(const OptimizerRun& run, const std::vector<data_parallel::Bucket>& buckets);
json inputs_of(const OptimizerRun& run, const std::vector<data_parallel::Bucket>& buckets,
               const Start& start);
Tensor tensor_of(Device& device, const std::vector<double>& values, DType dtype);

/// Σ g² of every segment, buckets from the first module's to the last's, by parameter, then by owner.
std::vector<double> squares_of(const std::vector<data_parallel::Bucket>& buckets, int degree,
                               const Numbers& gradients);
/// How many ranks overflowed in a step, then the squares.
std::vector<double> terms_of(const OptimizerRun& run, const std::vector<data_parallel::Bucket>& buckets,
                             const Start& start, std::size_t step);

NamedCase optimizer_case(const OptimizerRun& run);

}  // namespace data_parallel_test
