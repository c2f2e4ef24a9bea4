#include "lessons/10_counting/passes.hpp"

#include <algorithm>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/parameters.hpp"

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
        // BEGIN SOLUTION 10.6 TensorSeconds::block_forward
        return 2.0 * (enter() + leave());
        // END SOLUTION
    }
    double block_backward() const
    {
        // BEGIN SOLUTION 10.6 TensorSeconds::block_backward
        return 2.0 * (leave_backward() + enter() + enter_backward() + layer_norm());
        // END SOLUTION
    }
    double embedding_forward() const { return leave(); }
    double embedding_backward() const { return leave_backward(); }
    double head_forward() const
    {
        // BEGIN SOLUTION 10.6 TensorSeconds::head_forward
        const std::int64_t statistics = std::max<std::int64_t>(size_, 4);
        return enter() + ring_seconds(link_, p_ * rows_, statistics, p_) + doubling_seconds(topology_, p_, 8);
        // END SOLUTION
    }
    double head_backward() const
    {
        // BEGIN SOLUTION 10.6 TensorSeconds::head_backward
        return enter() + enter_backward() + layer_norm();
        // END SOLUTION
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
    // BEGIN SOLUTION 10.6 sum_of
    sum.add(modules.block, static_cast<double>(blocks_of_chunk(job, stage, chunk)));
    if (has_embedding(stage, chunk)) sum.add(modules.embedding);
    if (has_head(job, stage, chunk)) sum.add(modules.head);
    // END SOLUTION
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
    // BEGIN SOLUTION 10.6 forward_fetches
    if (job.layout.zero < 3 || job.layout.dp == 1) return 0.0;
    const Fetched fetched(job, topology);
    const ModuleSeconds modules = forward_of_modules(job, topology);
    const double block = modules.block.total();
    if (has_embedding(stage, chunk))
        seconds +=
            fetched.embedding + std::max(0.0, fetched.block - modules.embedding.total()) - fetched.block;
    seconds += waits_of_blocks(fetched.block, block, blocks_of_chunk(job, stage, chunk));
    if (has_head(job, stage, chunk)) seconds += std::max(0.0, fetched.head - block);
    // END SOLUTION
    return seconds;
}

double backward_fetches(const Job& job, const Topology& topology, int stage, int chunk)
{
    double seconds = 0.0;
    // BEGIN SOLUTION 10.6 backward_fetches
    if (job.layout.zero < 3 || job.layout.dp == 1) return 0.0;
    const Fetched fetched(job, topology);
    const ModuleSeconds modules = backward_of_modules(job, topology);
    seconds = waits_of_blocks(fetched.block, modules.block.total(), blocks_of_chunk(job, stage, chunk));
    if (has_head(job, stage, chunk))
        seconds += std::max(0.0, fetched.block - modules.head.total()) - fetched.block;
    // END SOLUTION
    return seconds;
}

}  // namespace

double counting::ring_seconds(const Link& link, std::int64_t elements, std::int64_t element_bytes, int p)
{
    // BEGIN SOLUTION 10.6 ring_seconds
    const std::int64_t chunk = (elements + p - 1) / p;
    return (p - 1.0) * link.seconds(static_cast<double>(chunk * element_bytes));
    // END SOLUTION
}

PassSeconds counting::forward_seconds(const Job& job, const Topology& topology, int stage, int chunk)
{
    PassSeconds seconds;
    // BEGIN SOLUTION 10.6 forward_seconds
    seconds = sum_of(forward_of_modules(job, topology), job, stage, chunk);
    seconds.fetch = forward_fetches(job, topology, stage, chunk);
    // END SOLUTION
    return seconds;
}

PassSeconds counting::backward_seconds(const Job& job, const Topology& topology, int stage, int chunk)
{
    PassSeconds seconds;
    // BEGIN SOLUTION 10.6 backward_seconds
    seconds = sum_of(backward_of_modules(job, topology), job, stage, chunk);
    seconds.fetch = backward_fetches(job, topology, stage, chunk);
    if (job.recompute == Recompute::full && job.layout.pp > 1)  // from the stage's input
        seconds.add(forward_seconds(job, topology, stage, chunk));
    // END SOLUTION
    return seconds;
}

ModuleSeconds counting::forward_of_modules(const Job& job, const Topology& topology)
{
    ModuleSeconds seconds;
    // BEGIN SOLUTION 10.6 forward_of_modules
    const Products products(job, topology);
    const TensorSeconds tensor(job, topology);
    seconds.embedding.tensor = tensor.embedding_forward();
    seconds.block = {products.block, tensor.block_forward(), 0.0};
    seconds.head = {products.head, tensor.head_forward(), 0.0};
    // END SOLUTION
    return seconds;
}

ModuleSeconds counting::backward_of_modules(const Job& job, const Topology& topology)
{
    ModuleSeconds seconds;
    // BEGIN SOLUTION 10.6 backward_of_modules
    const Products products(job, topology);
    const TensorSeconds tensor(job, topology);
    seconds.embedding.tensor = tensor.embedding_backward();
    seconds.block = {2.0 * products.block, tensor.block_backward(), 0.0};
    seconds.head = {2.0 * products.head, tensor.head_backward(), 0.0};
    if (job.recompute == Recompute::selective) seconds.block.compute += products.attention;
    if (job.recompute == Recompute::full && job.layout.pp == 1) {
        seconds.block.compute += products.block;
        seconds.block.tensor += tensor.block_forward();
    }
    // END SOLUTION
    return seconds;
}

double counting::data_ring_seconds(const Job& job, const Topology& topology, std::int64_t elements)
{
    return ring_seconds(data_link(job, topology), elements, size_of_element(job), job.layout.dp);
}

double counting::message_seconds(const Job& job, const Topology& topology)
{
    // BEGIN SOLUTION 10.6 message_seconds
    const std::int64_t rows = job.micro_batch() * job.shape.sequence;
    const std::int64_t ranks = job.layout.sequence_parallel ? job.layout.tp : 1;
    const std::int64_t bytes = (rows + ranks - 1) / ranks * job.shape.hidden * size_of_element(job);
    return pipeline_link(job, topology).seconds(static_cast<double>(bytes));
    // END SOLUTION
}
