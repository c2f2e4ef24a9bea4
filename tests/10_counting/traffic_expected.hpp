// What a device sends, counted collective by collective and message by message.
#pragma once

#include <bit>

#include "lessons/03_collectives/ring.hpp"
#include "lessons/10_counting/fetches.hpp"
#include "tests/10_counting/jobs.hpp"

namespace counting_test {

/// The chunks that rank `rank` sends in the p − 1 rounds of a ring. A reduce-scatter ends with chunk r on
/// rank r: round i sends chunk r − 1 − i. An all-gather begins there: round i sends chunk r − i.
inline std::int64_t ring_elements(std::int64_t n, int p, int rank, bool gather)
{
    std::int64_t sum = 0;
    for (int round = 0; round + 1 < p; ++round) {
        const int chunk = (rank - round - (gather ? 0 : 1) + 2 * p) % p;
        sum += collectives::chunk_of(n, p, chunk).count;
    }
    return sum;
}

inline std::int64_t size_of_element(const Job& job)
{
    return static_cast<std::int64_t>(size_of(job.dtype));
}

inline std::vector<double> data_bytes(const Job& job, Place place)
{
    const int dp = job.layout.dp;
    const std::vector<std::int64_t> buckets = counting::bucket_elements(job, place);
    const std::vector<std::int64_t> times = counting::fetches(job, place.stage);
    std::int64_t elements = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const std::int64_t padded = buckets[b] + (dp - buckets[b] % dp) % dp;
        elements += ring_elements(padded, dp, 0, false);
        for (std::int64_t i = 0; i < (job.layout.zero == 3 ? times[b] : 1); ++i)
            elements += ring_elements(padded, dp, 0, true);
    }
    return {static_cast<double>(elements * size_of_element(job))};
}

/// One rank of the tensor-parallel group: adds up the bytes of one collective after the other.
class TensorLedger {
  public:
    TensorLedger(const Job& job, int rank) : job_(job), p_(job.layout.tp), rank_(rank) {}

    void block(bool again)
    {
        for (int pass = 0; pass < (again ? 2 : 1); ++pass)
            for (int layers = 0; layers < 2; ++layers) {
                enter();
                leave();
            }
        for (int layers = 0; layers < 2; ++layers) {
            gather_where_shared();  // dy
            gather_where_shared();  // x enters again
            leave();                // dx
            norm();
        }
    }
    void embedding(bool again)
    {
        leave();
        if (again) leave();
        gather_where_shared();
    }
    void head(bool again)
    {
        for (int pass = 0; pass < (again ? 2 : 1); ++pass) {
            enter();
            cross_entropy();
        }
        gather_where_shared();
        leave();
        norm();
    }
    std::int64_t bytes() const { return bytes_; }

  private:
    bool shared() const { return job_.layout.sequence_parallel; }
    std::int64_t rows() const { return job_.micro_batch() * job_.shape.sequence; }
    void ring(std::int64_t n, bool gather, std::int64_t size)
    {
        bytes_ += size * ring_elements(n, p_, rank_, gather);
    }
    void sum(std::int64_t n)
    {
        ring(n, false, size_of_element(job_));
        ring(n, true, size_of_element(job_));
    }
    std::int64_t padded() const { return (rows() + (p_ - rows() % p_) % p_) * job_.shape.hidden; }
    void gather_where_shared()
    {
        if (shared()) ring(padded(), true, size_of_element(job_));
    }
    void enter() { gather_where_shared(); }
    void leave()
    {
        if (shared())
            ring(padded(), false, size_of_element(job_));
        else
            sum(rows() * job_.shape.hidden);
    }
    void norm()
    {
        if (shared()) sum(2 * job_.shape.hidden);
    }
    /// A number of each row to all, in fp64 or else fp32; the loss by recursive doubling, in fp64.
    void cross_entropy()
    {
        ring(p_ * rows(), true, job_.dtype == DType::fp64 ? 8 : 4);
        const int even = static_cast<int>(std::bit_floor(static_cast<unsigned>(p_)));
        if (rank_ >= even) {
            bytes_ += 8;
            return;
        }
        for (int distance = 1; distance < even; distance *= 2) bytes_ += 8;
        if (rank_ + even < p_) bytes_ += 8;
    }

    Job job_;
    int p_;
    int rank_;
    std::int64_t bytes_ = 0;
};

inline std::vector<double> tensor_bytes(const Job& job, Place place)
{
    if (job.layout.tp == 1) return {0.0};
    TensorLedger ledger(job, place.tensor_rank);
    const bool again = job.recompute == Recompute::full;
    const bool whole_stage = again && job.layout.pp > 1;
    for (std::int64_t i = 0; i < job.micro_batches; ++i) {
        if (place.stage == 0) ledger.embedding(whole_stage);
        for (std::int64_t b = 0; b < counting::blocks_of_stage(job, place.stage); ++b) ledger.block(again);
        if (place.stage == job.layout.pp - 1) ledger.head(whole_stage);
    }
    return {static_cast<double>(ledger.bytes())};
}

/// Chunk c of the model is on stage c mod P, and sends to the chunks behind and in front of it.
inline std::vector<double> boundary_bytes(const Job& job, Place place)
{
    const int stages = job.layout.pp;
    if (stages == 1) return {0.0};
    const std::int64_t rows = job.micro_batch() * job.shape.sequence;
    const std::int64_t ranks = job.layout.sequence_parallel ? job.layout.tp : 1;
    const std::int64_t own_rows = rows / ranks + (rows % ranks == 0 ? 0 : 1);
    const int chunks = stages * job.layout.virtual_stages;
    std::int64_t elements = 0;
    for (int chunk = place.stage; chunk < chunks; chunk += stages) {
        if (chunk + 1 < chunks) elements += job.micro_batches * own_rows * job.shape.hidden;
        if (chunk > 0) elements += job.micro_batches * own_rows * job.shape.hidden;
    }
    if (place.stage == 0 || place.stage == stages - 1)
        elements += counting::vocabulary_of_rank(job, place.tensor_rank) * job.shape.hidden;
    return {static_cast<double>(elements * size_of_element(job))};
}

}  // namespace counting_test
