// 04.5 The replica put together, and around the modules' passes.
#pragma once

#include <memory>

#include "lessons/04_data_parallel/replica.hpp"

namespace data_parallel {

/// All values, all the time, initialised from the seed: the hooks do nothing. gather_shards() is a
/// ring_all_gather of every bucket over group.data.
std::unique_ptr<ParameterValues> make_replicated_values(Group& group, const std::vector<Bucket>& buckets,
                                                        const ReplicaOptions& options);

/// `inner`, module number `module` of the model, with the hooks around its passes:
///   forward:  values.before_forward, inner, values.after_forward
///   backward: values.before_backward, gradients.before_backward, inner, values.after_backward,
///             gradients.after_backward
std::unique_ptr<Module> make_hooked(std::unique_ptr<Module> inner, std::size_t module,
                                    ParameterValues& values, Gradients& gradients);

/// Plain data parallelism: everything on every rank. Wrap the modules with make_hooked afterwards.
Replica make_replica(Group& group, const Modules& modules, const ReplicaOptions& options);

}  // namespace data_parallel
