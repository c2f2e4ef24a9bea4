// Lesson 04's parts with everything in one process, to which the judge compares.
#pragma once

#include "lessons/04_data_parallel/optimizer.hpp"
#include "tests/05_zero/setup.hpp"

namespace zero_test {

/// Whole buckets of values. Nothing needs to be done around the passes.
class WholeValues : public data_parallel::ParameterValues {
  public:
    std::vector<Tensor> tensors;

    void before_forward(std::size_t) override {}
    void after_forward(std::size_t) override {}
    void before_backward(std::size_t) override {}
    void after_backward(std::size_t) override {}
    void gather_shards() override {}
    void release() override {}
    data_parallel::Held held(std::size_t bucket) override
    {
        return {{0, tensors[bucket].elements()}, tensors[bucket].view(0, tensors[bucket].shape())};
    }
};

/// Whole buckets of summed gradients.
class WholeGradients : public data_parallel::Gradients {
  public:
    std::vector<Tensor> tensors;

    void begin_step(std::int64_t) override {}
    void before_backward(std::size_t) override {}
    void after_backward(std::size_t, std::int64_t) override {}
    void finish() override {}
    data_parallel::Held held(std::size_t bucket) override
    {
        return {{0, tensors[bucket].elements()}, tensors[bucket].view(0, tensors[bucket].shape())};
    }
};

/// What update() of every step returned, and the loss scale after it.
struct Updates {
    std::vector<double> norms, skipped, scales;

    void add(const training::UpdateResult& result, const training::LossScale& scale)
    {
        norms.push_back(result.gradient_norm);
        skipped.push_back(result.skipped ? 1.0 : 0.0);
        scales.push_back(scale.scale);
    }
};

/// The messages about what the driver put as "norms", "skipped" and "scales" on one rank.
std::vector<std::string> compare_updates(const json& outputs, const Updates& expected);

/// The bytes of the states of one element: K, or 2 elements' for fp32 and fp64.
std::uint64_t state_bytes_of_element(DType dtype);

/// The messages about "part b", "m b", "v b", "master b" and "step b" of every bucket on rank `rank`.
std::vector<std::string> compare_states(const json& outputs, const std::vector<Bucket>& buckets, int degree,
                                        int rank, data_parallel::Optimizer& expected);

}  // namespace zero_test
