#include "lessons/10_counting/states.hpp"

#include "lessons/10_counting/parameters.hpp"

using namespace counting;

StateBytes counting::state_bytes(const Job& job, const Place& place)
{
    StateBytes bytes;
    // BEGIN SOLUTION 10.2 state_bytes
    const auto size = static_cast<std::int64_t>(size_of(job.dtype));
    const std::int64_t states = is_sixteen_bit(job.dtype) ? 12 : 2 * size;
    const int degree = job.layout.dp;
    for (const std::int64_t elements : bucket_elements(job, place)) {
        const std::int64_t shard = (elements + degree - 1) / degree;
        const auto held = [&](int from_stage) {
            return job.layout.zero >= from_stage ? shard : shard * degree;
        };
        bytes.parameters += size * held(3);
        bytes.gradients += size * held(2);
        bytes.optimizer_states += states * held(1);
    }
    // END SOLUTION
    return bytes;
}
