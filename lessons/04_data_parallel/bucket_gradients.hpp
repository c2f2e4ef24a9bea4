// 04.3 Gradients summed over the group while the backward pass goes on (Li et al. 2020, PyTorch Distributed).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lessons/04_data_parallel/replica.hpp"

namespace data_parallel {

/// Runs `collective` on the device's communication stream, beginning now, and returns when it is done in
/// virtual time, for Clock::wait_until. Without `overlap` it runs on the stream in use, which is then done
/// already. Recorded as an Event of kind "communication" called `name`.
double run_beside(Device& device, bool overlap, const std::string& name,
                  const std::function<void()>& collective);

/// Idles until `done`, recorded as an Event of kind "wait": exposed communication.
void wait_beside(Device& device, double done);

/// What of the summed gradients a device needs.
enum class Keep { all, own_shard };

/// Holds all gradients of the model all the time, in one buffer a bucket, to which the parameters' gradients
/// are bound. After the backward pass of the last micro-batch over the first module of a bucket, its second
/// gradients are merged and the bucket is summed over group.data, beside the rest of the backward pass: by
/// ring_all_reduce for Keep::all, by ring_reduce_scatter for Keep::own_shard. Earlier micro-batches
/// communicate nothing.
std::unique_ptr<Gradients> make_bucket_gradients(Group& group, const std::vector<Bucket>& buckets,
                                                 const ReplicaOptions& options, Keep keep);

}  // namespace data_parallel
