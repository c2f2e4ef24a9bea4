// Stage 3 brings a bucket together from its shards: a ring all-gather, or a broadcast of each shard by its
// owner. One block's values, and a whole step.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lessons/03_collectives/broadcast.hpp"
#include "lessons/05_zero/run.hpp"
#include "lib/tools/trace/collect.hpp"

using namespace lesson;

namespace {

constexpr std::int64_t block = 49'984;  // parameters of a block with h = 64

/// On rank 0; 0 elsewhere.
double largest(Comm& comm, double value)
{
    double most = 0.0;
    for (const auto& bytes :
         gather_bytes(comm, std::span(reinterpret_cast<const std::uint8_t*>(&value), sizeof value))) {
        double other = 0.0;
        std::memcpy(&other, bytes.data(), sizeof other);
        most = std::max(most, other);
    }
    return most;
}

void broadcast_shards(Comm& comm, Buffer values)
{
    for (int owner = 0; owner < comm.size(); ++owner) {
        const collectives::Chunk shard = collectives::chunk_of(values.count, comm.size(), owner);
        collectives::tree_broadcast(comm, values.part(shard.offset, shard.count), owner);
    }
}

struct Fetched {
    double seconds;  // until the last rank has all
    std::uint64_t bytes;
    std::uint64_t messages;  // sent by all ranks
};

Fetched fetch_block(MpiSession& session, int degree, bool broadcast)
{
    Fetched fetched{};
    on_ranks(session, small_run(degree), [&](Comm& comm) {
        Tensor values(comm.device(), {block}, DType::bf16, Category::parameters);
        values.fill_zero();
        const double begin = comm.device().clock().now();
        if (broadcast)
            broadcast_shards(comm, values.buffer());
        else
            collectives::ring_all_gather(comm, values.buffer());
        const double seconds = comm.device().clock().now() - begin;
        const Traffic::Count sent = comm.traffic().total;
        fetched.seconds = largest(comm, seconds);
        fetched.bytes = static_cast<std::uint64_t>(sum_over(comm, static_cast<double>(sent.bytes)));
        fetched.messages = static_cast<std::uint64_t>(sum_over(comm, static_cast<double>(sent.messages)));
    });
    return fetched;
}

void print_blocks(MpiSession& session)
{
    if (session.rank() == 0)
        fmt::print(
            "one block     ring all-gather                                Nd broadcasts\n"
            "Nd   bytes, all ranks   messages   on the clock   formula    bytes, all ranks   messages   on "
            "the clock   formula\n");
    for (const int degree : {2, 4, 8}) {
        const double shard = small_run(degree).topology.inter.seconds(2.0 * block / degree);
        const Fetched ring = fetch_block(session, degree, false);
        const Fetched trees = fetch_block(session, degree, true);
        if (session.rank() != 0) continue;
        fmt::print("{:>2}", degree);
        for (const auto& [fetched, shards] :
             {std::pair{ring, degree - 1.0}, {trees, degree * std::log2(degree)}})
            fmt::print("{:>19}{:>11}{:>12.2f} us{:>7.1f} us", fetched.bytes, fetched.messages,
                       1e6 * fetched.seconds, 1e6 * shards * shard);
        fmt::print("\n");
    }
}

void print_steps(MpiSession& session)
{
    if (session.rank() == 0) fmt::print("\na step       bytes of rank 0   exposed\n");
    for (const zero::Fetch fetch : {zero::Fetch::all_gather, zero::Fetch::broadcast}) {
        TrainOptions options = small_run(8);
        options.dtype = DType::bf16;
        options.layout.zero = 3;
        options.zero.fetch = fetch;
        on_ranks(session, options, [&](Comm& group) {
            Trainer trainer(group, options);
            const RandomBatch batch(options.batch, options.shape.sequence, 1);
            const StepReport report = trainer.step(batch.view(), 1);
            if (group.rank() == 0)
                fmt::print("{:<12}{:>16}{:>10.1f} us\n",
                           fetch == zero::Fetch::broadcast ? "broadcast" : "all-gather",
                           trainer.groups().data.data.traffic().total.bytes, 1e6 * report.exposed_seconds);
        });
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        print_blocks(session);
        print_steps(session);
        return 0;
    });
}
