#include "lessons/10_counting/passes.hpp"

#include <algorithm>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lib/machine/base/error.hpp"

using namespace counting;

namespace {

std::int64_t size_of_element(const Job& job)
{
    return static_cast<std::int64_t>(size_of(job.dtype));
}

std::int64_t blocks_of_chunk(const Job& job, int stage, int chunk)
{
    return pipeline::blocks_of(job.shape,
                               job.layout)[static_cast<std::size_t>(chunk * job.layout.pp + stage)];
}

bool has_embedding(int stage, int chunk)
{
    return stage == 0 && chunk == 0;
}
bool has_head(const Job& job, int stage, int chunk)
{
    return stage == job.layout.pp - 1 && chunk == job.layout.virtual_stages - 1;
}

/// Seconds of the tensor-parallel collectives of one micro-batch: 10.4's, with lesson 08.1's names.
class TensorSeconds {
  public:
    TensorSeconds(const Job& job, const Topology& topology)
        : link_(tensor_link(job, topology)),
          topology_(topology),
          p_(job.layout.tp),
          sequence_(job.layout.sequence_parallel),
          h_(job.shape.hidden),
          rows_(job.micro_batch() * job.shape.sequence),
          size_(size_of_element(job))
    {
    }

    double block_forward() const
    {
        // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
        not_implemented("10.6 TensorSeconds::block_forward");
    }
    double block_backward() const
    {
        // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
        not_implemented("10.6 TensorSeconds::block_backward");
    }
    double embedding_forward() const { return leave(); }
    double embedding_backward() const { return leave_backward(); }
    double head_forward() const
    {
        // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
        not_implemented("10.6 TensorSeconds::head_forward");
    }
    double head_backward() const
    {
        // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
        not_implemented("10.6 TensorSeconds::head_backward");
    }

  private:
    double ring(std::int64_t elements) const { return ring_seconds(link_, elements, size_, p_); }
    double enter() const { return sequence_ ? ring(rows_ * h_) : 0.0; }
    double leave() const { return (sequence_ ? 1.0 : 2.0) * ring(rows_ * h_); }
    double enter_backward() const { return leave(); }
    double leave_backward() const { return enter(); }
    double layer_norm() const { return sequence_ ? 2.0 * ring(2 * h_) : 0.0; }

    const Link& link_;
    const Topology& topology_;
    int p_;
    bool sequence_;
    std::int64_t h_;
    std::int64_t rows_;
    std::int64_t size_;
};

/// Seconds of the matrix products of a micro-batch in a block, in its attention's two products, in the head.
struct Products {
    double block, attention, head;

    Products(const Job& job, const Topology& topology)
    {
        const double tokens = static_cast<double>(job.micro_batch() * job.shape.sequence) / topology.flops;
        const auto h = static_cast<double>(job.shape.hidden);
        attention = tokens * 4.0 * static_cast<double>(job.shape.sequence) * h / job.layout.tp;
        block = tokens * 24.0 * h * h / job.layout.tp + attention;
        head = tokens * 2.0 * h * static_cast<double>(vocabulary_of_rank(job, 0));
    }
};

PassSeconds sum_of(const ModuleSeconds& modules, const Job& job, int stage, int chunk)
{
    PassSeconds sum;
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 sum_of");
    return sum;
}

/// Seconds that a pass of blocks waits for fetches: for the first one's, and for what the block before it
/// does not hide of the others.
double waits_of_blocks(double fetch, double pass, std::int64_t blocks)
{
    return fetch + static_cast<double>(blocks - 1) * std::max(0.0, fetch - pass);
}

/// The all-gathers of what each module reads.
struct Fetched {
    double embedding, block, head;

    Fetched(const Job& job, const Topology& topology)
    {
        const std::vector<std::int64_t> buckets = bucket_elements(job, {0, 0});
        const auto ring = [&](std::int64_t elements) { return data_ring_seconds(job, topology, elements); };
        embedding = ring(buckets[0]) + (job.layout.pp > 1 ? ring(buckets[1]) : 0.0);
        block = ring(buckets[job.layout.pp > 1 ? 2 : 1]);
        head = ring(2 * job.shape.hidden) + ring(buckets[0]);
    }
};

double forward_fetches(const Job& job, const Topology& topology, int stage, int chunk)
{
    double seconds = 0.0;
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 forward_fetches");
    return seconds;
}

double backward_fetches(const Job& job, const Topology& topology, int stage, int chunk)
{
    double seconds = 0.0;
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 backward_fetches");
    return seconds;
}

}  // namespace

double counting::ring_seconds(const Link& link, std::int64_t elements, std::int64_t element_bytes, int p)
{
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 ring_seconds");
}

PassSeconds counting::forward_seconds(const Job& job, const Topology& topology, int stage, int chunk)
{
    PassSeconds seconds;
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 forward_seconds");
    return seconds;
}

PassSeconds counting::backward_seconds(const Job& job, const Topology& topology, int stage, int chunk)
{
    PassSeconds seconds;
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 backward_seconds");
    return seconds;
}

ModuleSeconds counting::forward_of_modules(const Job& job, const Topology& topology)
{
    ModuleSeconds seconds;
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 forward_of_modules");
    return seconds;
}

ModuleSeconds counting::backward_of_modules(const Job& job, const Topology& topology)
{
    ModuleSeconds seconds;
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 backward_of_modules");
    return seconds;
}

double counting::data_ring_seconds(const Job& job, const Topology& topology, std::int64_t elements)
{
    return ring_seconds(data_link(job, topology), elements, size_of_element(job), job.layout.dp);
}

double counting::message_seconds(const Job& job, const Topology& topology)
{
    // Your code: see lessons/10_counting/passes.hpp (hints: make hint-10 PART=10.6)
    not_implemented("10.6 message_seconds");
}
