// What a device of a data-parallel group holds, and what it communicates when.
//
// Three parts, each with a version that holds everything (this lesson) and one that holds a shard (lesson
// 05):
//   ParameterValues   the weights that the modules compute with
//   Gradients         their gradients, summed over the group while the backward pass goes on
//   Optimizer         the optimizer states, and the update
// Modules are wrapped by make_hooked, so the passes of lesson 02 run as they are.
#pragma once

#include <memory>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/04_data_parallel/buckets.hpp"
#include "lib/machine/comm/comm.hpp"

namespace data_parallel {

/// The group as this device sees it. `data` carries gradients and parameters, `control` the few numbers of a
/// step that all ranks must agree on (loss, norm), so that each is counted apart.
struct Group {
    Comm data;
    Comm control;
};

/// Two communicators of the ranks of `comm`. Every rank of it must call.
Group make_group(const Comm& comm);

/// The part of a bucket that a device has: `tensor` is a view of those elements.
struct Held {
    Chunk part;
    Tensor tensor;
};

class ParameterValues {
  public:
    virtual ~ParameterValues() = default;
    /// Around each pass of module `module`: before, its parameters' values are made to be there.
    virtual void before_forward(std::size_t module) = 0;
    virtual void after_forward(std::size_t module) = 0;
    virtual void before_backward(std::size_t module) = 0;
    virtual void after_backward(std::size_t module) = 0;
    /// What of bucket `bucket` this device holds all the time.
    virtual Held held(std::size_t bucket) = 0;
    /// Every rank has changed its own shard: brings the other copies up to date.
    virtual void gather_shards() = 0;
    /// No pass follows for now: lets go of what was fetched for one.
    virtual void release() = 0;
};

class Gradients {
  public:
    virtual ~Gradients() = default;
    /// A step of `micro_batches` micro-batches begins: all gradients are zero.
    virtual void begin_step(std::int64_t micro_batches) = 0;
    /// Around the backward pass of a module over micro-batch `micro_batch`.
    virtual void before_backward(std::size_t module) = 0;
    virtual void after_backward(std::size_t module, std::int64_t micro_batch) = 0;
    /// Returns when all sums are there; in virtual time the device idles until then.
    virtual void finish() = 0;
    /// The part of bucket `bucket` in which this device has the sum over the group, after finish().
    virtual Held held(std::size_t bucket) = 0;
};

class Optimizer {
  public:
    virtual ~Optimizer() = default;
    /// The optimizer step of lesson 02.4 over the gradients that finish() gave: the same on every rank.
    virtual training::UpdateResult update(const training::AdamW& options, double max_norm,
                                          training::LossScale* loss_scale) = 0;
    /// The part of bucket `bucket` that this device updates, and its states, for checkpoints.
    virtual Chunk part(std::size_t bucket) const = 0;
    virtual training::OptimizerStates& states(std::size_t bucket) = 0;
};

/// What one device has of a model. The buckets outlive the three parts, which refer to them.
struct Replica {
    std::unique_ptr<const std::vector<Bucket>> buckets;
    std::unique_ptr<ParameterValues> values;
    std::unique_ptr<Gradients> gradients;
    std::unique_ptr<Optimizer> optimizer;
};

struct ReplicaOptions {
    DType dtype = DType::fp32;
    std::uint64_t seed = 1;
    std::int64_t bucket_bytes = 1;
    bool overlap = true;  // false: the backward pass waits for every bucket
};

}  // namespace data_parallel
