// Plain data parallelism in one process, to which the stages' training runs are compared bit by bit.
#pragma once

#include <memory>

#include "lessons/01_transformer/model.hpp"
#include "tests/05_zero/whole_parts.hpp"

namespace zero_test {

inline const training::AdamW adamw{1e-2, 0.8, 0.9, 1e-6, 0.3};
inline constexpr ModelShape small_gpt{2, 8, 2, 4, 11};

struct TrainingCase {
    int stage = 0;
    int degree = 1;
    DType dtype = DType::fp32;
    std::int64_t bucket_bytes = 1;
    std::int64_t micro_batches = 2;
    int gradient_buckets = 1;
    bool accumulate_in_shards = false;
    bool broadcast = false;
    bool recompute = false;
    bool overlap = true;
    std::int64_t steps = 20;
    double max_norm = 0.2;  // less than the norms, so that clipping is at work
    std::int64_t seed = 1;

    std::string name() const;
    bool scaled() const { return dtype == DType::fp16; }
    /// So large that the first steps overflow.
    double first_scale() const { return scaled() ? 16777216.0 : 1.0; }
    /// One for each micro-batch of each rank.
    std::int64_t sequences() const { return degree * micro_batches; }
};

/// The gradients of every rank's micro-batches, summed as the ring does it, and lesson 04's update.
struct PlainRun {
    explicit PlainRun(const TrainingCase& one);

    Device device{DeviceOptions{}};
    Modules modules;
    std::vector<Bucket> buckets;
    WholeValues values;
    WholeGradients gradients;
    std::unique_ptr<data_parallel::Optimizer> optimizer;
    std::vector<std::vector<double>> losses;  // of each rank, by step
    Updates updates;

  private:
    void sum_gradients(const TrainingCase& one, std::int64_t step, double scale);
};

}  // namespace zero_test
