// Steps of the pipeline's optimizer as cases, and what a single process does.
#pragma once

#include "tests/06_pipeline/gpt_reference.hpp"

namespace pipeline_test {

struct OptimizerRun {
    std::string name;
    int stages = 2, dp = 1, zero = 0;
    DType dtype = DType::fp32;
    double max_norm = 1.0;
    std::int64_t bucket_bytes = 1;
    std::int64_t steps = 3;
    bool scaled = false;
    std::string overflow = "none";  // which parameter has an infinite gradient
    std::int64_t overflow_step = -1;

    std::vector<std::int64_t> blocks() const;
    ModelShape shape() const;
};

NamedCase optimizer_case(const OptimizerRun& run);

}  // namespace pipeline_test
