#include "lessons/10_counting/activations.hpp"

#include <algorithm>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/parameters.hpp"

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
    // BEGIN SOLUTION 10.5 saved_by_block
    if (job.recompute == Recompute::full) return block_input(job);
    const Rows rows = rows_of(job);
    const std::int64_t h = job.shape.hidden;
    const std::int64_t tp = job.layout.tp;
    bytes = rows.outside * (4 * rows.element * h + 4 * rows.number) + rows.all * 12 * rows.element * h / tp;
    if (job.recompute == Recompute::none)
        bytes += rows.element * job.shape.heads / tp * rows.all * job.shape.sequence;
    // END SOLUTION
    return bytes;
}

std::int64_t counting::saved_by_chunk(const Job& job, const Place& place, int chunk)
{
    std::int64_t bytes = 0;
    // BEGIN SOLUTION 10.5 saved_by_chunk
    const Layout& layout = job.layout;
    if (job.recompute == Recompute::full && layout.pp > 1)
        return is_first_chunk(place, chunk) ? 0 : block_input(job);
    const std::vector<std::int64_t> blocks = pipeline::blocks_of(job.shape, layout);
    bytes = blocks[static_cast<std::size_t>(chunk * layout.pp + place.stage)] * saved_by_block(job);
    if (place.stage == layout.pp - 1 && chunk == layout.virtual_stages - 1) {
        const Rows rows = rows_of(job);
        bytes += 2 * block_input(job) + 2 * rows.number * rows.outside;
        bytes += rows.all * (rows.element * vocabulary_of_rank(job, place.tensor_rank) + rows.number);
    }
    // END SOLUTION
    return bytes;
}

int counting::passes_in_flight(const Job& job, int stage)
{
    const Layout& layout = job.layout;
    int passes = 1;
    // BEGIN SOLUTION 10.5 passes_in_flight
    const int micro_batches = static_cast<int>(job.micro_batches);
    const int behind = layout.pp - stage - 1;
    const int chunks = layout.virtual_stages;
    if (layout.pp == 1 || layout.schedule == "naive") return 1;
    if (layout.schedule == "gpipe") return micro_batches;
    passes = chunks == 1 ? std::min(micro_batches, behind + 1)
                         : std::min(chunks * micro_batches, 2 * behind + (chunks - 1) * layout.pp + 1);
    // END SOLUTION
    return passes;
}

std::int64_t counting::saved_activations(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // BEGIN SOLUTION 10.5 saved_activations
    const Layout& layout = job.layout;
    std::vector<std::int64_t> saved;
    std::int64_t at_work = 0;
    for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
        saved.push_back(saved_by_chunk(job, place, chunk));
        at_work = std::max(at_work, saved_at_work(job, place, chunk));
    }
    for (int k = 0; k < passes_in_flight(job, place.stage); ++k)
        bytes += saved[static_cast<std::size_t>(k / layout.pp % layout.virtual_stages)];
    if (job.recompute == Recompute::full && layout.pp > 1) bytes += at_work;
    if (job.recompute == Recompute::full && layout.pp == 1) {
        Job kept = job;
        kept.recompute = Recompute::none;
        bytes += saved_by_block(kept) - block_input(job);
    }
    // END SOLUTION
    return bytes;
}

double counting::megatron_saved_by_block(const Job& job)
{
    double bytes = 0.0;
    // BEGIN SOLUTION 10.5 megatron_saved_by_block
    const auto h = static_cast<double>(job.shape.hidden);
    const auto s = static_cast<double>(job.shape.sequence);
    const auto t = static_cast<double>(job.layout.tp);
    const double sbh = s * static_cast<double>(job.micro_batch()) * h;
    const double over = job.layout.sequence_parallel ? t : 1.0;
    if (job.recompute == Recompute::full) return sbh * 2.0 / over;
    bytes = sbh * (10.0 / over + 24.0 / t);
    if (job.recompute == Recompute::none)
        bytes += sbh * 5.0 * static_cast<double>(job.shape.heads) * s / (h * t);
    // END SOLUTION
    return bytes;
}

double counting::megatron_activations(const Job& job)
{
    // BEGIN SOLUTION 10.5 megatron_activations
    const double blocks = static_cast<double>(job.shape.layers) / (job.layout.pp * job.layout.virtual_stages);
    return passes_in_flight(job, 0) * blocks * megatron_saved_by_block(job);
    // END SOLUTION
}
