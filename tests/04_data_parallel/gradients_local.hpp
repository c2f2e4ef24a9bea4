// The model of a run of summed gradients in the judge's own process.
#pragma once

#include "tests/04_data_parallel/gradients_run.hpp"
#include "tests/04_data_parallel/ring_sum.hpp"

namespace data_parallel_test {

/// Its gradients are bound to buffers of one rank at a time.
struct Local {
    Device device{DeviceOptions{}};
    ParameterModel model;
    std::vector<data_parallel::Bucket> buckets;

    explicit Local(const GradientsRun& run)
        : model(run.model),
          buckets(data_parallel::make_buckets(model.modules(), run.ranks, run.dtype, run.bucket_bytes()))
    {
    }

    /// The gradients of a rank at the end of a step, before they are summed.
    std::vector<Tensor> gradients(const GradientsRun& run, int rank, std::int64_t step)
    {
        std::vector<Tensor> buffers;
        for (const data_parallel::Bucket& bucket : buckets) {
            buffers.emplace_back(device, Shape{bucket.padded}, run.dtype, Category::gradients);
            buffers.back().fill_zero();
            data_parallel::bind_gradients(bucket, buffers.back());
        }
        for (std::int64_t m = 0; m < run.micro_batches; ++m)
            for (std::size_t i = model.modules().size(); i-- > 0;)
                add_gradients(run.pattern(), {rank, step, m, i}, model);
        for (Parameter& parameter : model.parameters()) merge_second_gradient(parameter);
        for (const data_parallel::Bucket& bucket : buckets) data_parallel::bind_gradients(bucket, Tensor());
        return buffers;
    }
};

/// The run as a case of the driver's "bucket_gradients".
NamedCase case_of(const GradientsRun& run, Check check);

}  // namespace data_parallel_test
