// Steps of summed gradients: what goes in, and everything that must hold after them.
#pragma once

#include "tests/04_data_parallel/gradient_pattern.hpp"
#include "tests/04_data_parallel/support.hpp"

namespace data_parallel_test {

struct GradientsRun {
    std::string name;
    ModelSizes model;
    int ranks = 1;
    DType dtype = DType::fp32;
    std::int64_t bucket_elements = 0;  // of bucket_bytes, which is 1 for 0
    std::int64_t micro_batches = 1;
    std::int64_t steps = 2;
    bool all = true;  // Keep::all
    bool overlap = true;
    bool random = false;            // random gradients, in place of the ones that say whose they are
    int silent_rank = -1;           // its gradients are zero; −1: nobody's
    std::vector<double> seconds{};  // that the modules compute; none: 0
    Topology topology{};

    std::int64_t size() const { return static_cast<std::int64_t>(size_of(dtype)); }
    std::int64_t bucket_bytes() const { return std::max<std::int64_t>(bucket_elements * size(), 1); }
    GradientPattern pattern() const;
    double seconds_of(std::size_t module) const { return seconds.empty() ? 0.0 : seconds[module]; }
    /// Bytes that a rank sends for a bucket of so many elements, and the virtual time that takes.
    std::int64_t sent_bytes(std::int64_t padded) const;
    double duration(std::int64_t padded) const;
};

/// Sums, what was sent when, and memory; or the virtual time of every call.
NamedCase sums_case(const GradientsRun& run);
NamedCase time_case(const GradientsRun& run);

}  // namespace data_parallel_test
