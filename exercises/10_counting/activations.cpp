#include "lessons/10_counting/activations.hpp"

#include <algorithm>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lib/machine/base/error.hpp"

using namespace counting;

namespace {

/// The sizes that all of it is made of.
struct Rows {
    std::int64_t element;  // bytes
    std::int64_t number;   // bytes of a mean or a logarithm
    std::int64_t all;      // R
    std::int64_t outside;  // of them on one rank, between the cut layers
};

Rows rows_of(const Job& job)
{
    const std::int64_t rows = job.micro_batch() * job.shape.sequence;
    const std::int64_t ranks = job.layout.sequence_parallel ? job.layout.tp : 1;
    return {static_cast<std::int64_t>(size_of(job.dtype)), job.dtype == DType::fp64 ? 8 : 4, rows,
            (rows + ranks - 1) / ranks};
}

std::int64_t block_input(const Job& job)
{
    const Rows rows = rows_of(job);
    return rows.element * job.shape.hidden * rows.outside;
}

bool is_first_chunk(const Place& place, int chunk)
{
    return place.stage == 0 && chunk == 0;
}

/// What a chunk keeps that has gone forward again.
std::int64_t saved_at_work(const Job& job, const Place& place, int chunk)
{
    Job kept = job;
    kept.recompute = Recompute::none;
    return saved_by_chunk(kept, place, chunk) - (is_first_chunk(place, chunk) ? 0 : block_input(job));
}

}  // namespace

std::int64_t counting::saved_by_block(const Job& job)
{
    std::int64_t bytes = 0;
    // Your code: see lessons/10_counting/activations.hpp (hints: make hint-10 PART=10.5)
    not_implemented("10.5 saved_by_block");
    return bytes;
}

std::int64_t counting::saved_by_chunk(const Job& job, const Place& place, int chunk)
{
    std::int64_t bytes = 0;
    // Your code: see lessons/10_counting/activations.hpp (hints: make hint-10 PART=10.5)
    not_implemented("10.5 saved_by_chunk");
    return bytes;
}

int counting::passes_in_flight(const Job& job, int stage)
{
    const Layout& layout = job.layout;
    int passes = 1;
    // Your code: see lessons/10_counting/activations.hpp (hints: make hint-10 PART=10.5)
    not_implemented("10.5 passes_in_flight");
    return passes;
}

std::int64_t counting::saved_activations(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // Your code: see lessons/10_counting/activations.hpp (hints: make hint-10 PART=10.5)
    not_implemented("10.5 saved_activations");
    return bytes;
}

double counting::megatron_saved_by_block(const Job& job)
{
    double bytes = 0.0;
    // Your code: see lessons/10_counting/activations.hpp (hints: make hint-10 PART=10.5)
    not_implemented("10.5 megatron_saved_by_block");
    return bytes;
}

double counting::megatron_activations(const Job& job)
{
    // Your code: see lessons/10_counting/activations.hpp (hints: make hint-10 PART=10.5)
    not_implemented("10.5 megatron_activations");
}
