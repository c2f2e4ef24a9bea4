#include "lessons/04_data_parallel/hooks.hpp"

#include <utility>

#include "lessons/04_data_parallel/bucket_gradients.hpp"
#include "lessons/04_data_parallel/optimizer.hpp"

using namespace data_parallel;

namespace {

class ReplicatedValues : public ParameterValues {
  public:
    ReplicatedValues(Group& group, const std::vector<Bucket>& buckets, const ReplicaOptions& options)
        : group_(group)
    {
        for (const Bucket& bucket : buckets) {
            values_.emplace_back(group.data.device(), Shape{bucket.padded}, options.dtype,
                                 Category::parameters);
            values_.back().fill_zero();
            bind_values(bucket, values_.back());
            for (const FlatEntry& entry : bucket.entries) initialise(*entry.parameter, options.seed);
        }
    }

    void before_forward(std::size_t) override {}
    void after_forward(std::size_t) override {}
    void before_backward(std::size_t) override {}
    void after_backward(std::size_t) override {}
    void release() override {}

    Held held(std::size_t bucket) override
    {
        const std::int64_t padded = values_[bucket].elements();
        return {{0, padded}, values_[bucket].view(0, {padded})};
    }

    void gather_shards() override
    {
        // BEGIN SOLUTION 04.5 ReplicatedValues::gather_shards
        for (Tensor& values : values_) collectives::ring_all_gather(group_.data, values.buffer());
        // END SOLUTION
    }

  private:
    Group& group_;
    std::vector<Tensor> values_;  // of each bucket
};

class Hooked : public Module {
  public:
    Hooked(std::unique_ptr<Module> inner, std::size_t module, ParameterValues& values, Gradients& gradients)
        : inner_(std::move(inner)), module_(module), values_(values), gradients_(gradients)
    {
    }

    std::vector<Parameter*> parameters() override { return inner_->parameters(); }

    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        // BEGIN SOLUTION 04.5 Hooked::forward
        values_.before_forward(module_);
        Tensor y = inner_->forward(batch, std::move(x), saved);
        values_.after_forward(module_);
        return y;
        // END SOLUTION
    }

    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        // BEGIN SOLUTION 04.5 Hooked::backward
        values_.before_backward(module_);
        gradients_.before_backward(module_);
        Tensor dx = inner_->backward(batch, std::move(dy), saved);
        values_.after_backward(module_);
        gradients_.after_backward(module_, batch.index);
        return dx;
        // END SOLUTION
    }

  private:
    std::unique_ptr<Module> inner_;
    std::size_t module_;
    ParameterValues& values_;
    Gradients& gradients_;
};

}  // namespace

Group data_parallel::make_group(const Comm& comm)
{
    return {comm.split(0, comm.rank()), comm.split(0, comm.rank())};
}

std::unique_ptr<ParameterValues> data_parallel::make_replicated_values(Group& group,
                                                                       const std::vector<Bucket>& buckets,
                                                                       const ReplicaOptions& options)
{
    return std::make_unique<ReplicatedValues>(group, buckets, options);
}

std::unique_ptr<Module> data_parallel::make_hooked(std::unique_ptr<Module> inner, std::size_t module,
                                                   ParameterValues& values, Gradients& gradients)
{
    return std::make_unique<Hooked>(std::move(inner), module, values, gradients);
}

Replica data_parallel::make_replica(Group& group, const Modules& modules, const ReplicaOptions& options)
{
    const int degree = group.data.size();
    Replica replica;
    replica.buckets = std::make_unique<const std::vector<Bucket>>(
        make_buckets(modules, degree, options.dtype, options.bucket_bytes));
    replica.values = make_replicated_values(group, *replica.buckets, options);
    replica.gradients = make_bucket_gradients(group, *replica.buckets, options, Keep::all);
    replica.optimizer =
        make_replicated_optimizer(*replica.buckets, degree, *replica.values, *replica.gradients);
    return replica;
}
