// Optimizer steps over several parameters in one flat buffer, and everything that must hold after them.
#pragma once

#include "tests/02_training_step/exact_adamw.hpp"

namespace training_test {

/// Optimizer steps: `overflows` says how many, and in which of them a gradient is infinite.
struct StepRun {
    std::string name;
    DType dtype = DType::bf16;
    double max_norm = 0.0;
    bool scaled = false;
    double scale = 1.0;
    std::int64_t good_steps = 0;
    std::int64_t done = 0;               // updates before
    double gradient_size = 1.0;          // before scaling
    std::vector<bool> overflows{false};  // one a step
    std::int64_t growth_interval = 1000;

    std::vector<std::int32_t> sizes{6, 1, 40, 13}, decays{1, 0, 1, 0};
    std::int64_t degree = 8;
    training::AdamW options{3e-2, 0.9, 0.95, 1e-8, 0.2};

    DType states() const { return is_sixteen_bit(dtype) ? DType::fp32 : dtype; }
    std::int64_t elements() const
    {
        std::int64_t sum = 0;
        for (const std::int32_t size : sizes) sum += size;
        return sum;
    }
    std::int64_t padded() const { return (elements() + degree - 1) / degree * degree; }
};

NamedCase update_case(const StepRun& run);

}  // namespace training_test
