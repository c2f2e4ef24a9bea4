#include "lib/tools/train/whole_model.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "lessons/01_transformer/model.hpp"

namespace shardlings {

namespace {

using data_parallel::Bucket;
using data_parallel::Chunk;
using data_parallel::Held;
using data_parallel::Replica;

/// Calls run(in the whole's flat buffers, in the part, count) for every run of elements of `part` of the
/// bucket. The whole has the parameters in the same order, without padding between them.
void for_each_run(const Bucket& bucket, const Chunk& part, const FlatLayout& whole,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& run)
{
    for (const FlatEntry& entry : bucket.entries) {
        const auto same_name = [&](const FlatEntry& other) {
            return other.parameter->name == entry.parameter->name;
        };
        const std::int64_t in_whole = std::ranges::find_if(whole.entries, same_name)->offset;
        const std::int64_t begin = std::max(entry.offset, part.offset);
        const std::int64_t end =
            std::min(entry.offset + entry.parameter->elements(), part.offset + part.count);
        if (begin < end) run(in_whole + begin - entry.offset, begin - part.offset, end - begin);
    }
}

/// The tensors of a part that are saved, as in the whole: values, m, v, and master weights if there are any.
std::vector<Tensor*> saved_tensors(Tensor& values, training::OptimizerStates& states)
{
    std::vector<Tensor*> tensors{&values, &states.m, &states.v};
    if (!states.master.empty()) tensors.push_back(&states.master);
    return tensors;
}

/// The values of the part that this rank updates: a view of what it holds.
Tensor own_values(Replica& replica, std::size_t bucket)
{
    const Chunk part = replica.optimizer->part(bucket);
    const Held held = replica.values->held(bucket);
    return held.tensor.view(part.offset - held.part.offset, {part.count});
}

/// What rank `from` updates of a bucket, received on rank 0.
void receive_part(Comm& comm, int from, const Bucket& bucket, WholeModel& whole)
{
    Chunk part{};
    comm.recv(buffer_of(std::span(&part.offset, 1)), from);
    comm.recv(buffer_of(std::span(&part.count, 1)), from);
    for (Tensor* to : saved_tensors(whole.parameters().values(), whole.states())) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(part.count) * size_of(to->dtype()));
        const Buffer received{bytes.data(), part.count, to->dtype()};
        comm.recv(received, from);
        for_each_run(bucket, part, whole.parameters().layout(), [&](auto in_whole, auto in_part, auto count) {
            convert(received.part(in_part, count), to->buffer().part(in_whole, count));
        });
    }
}

void send_part(Comm& comm, Replica& replica, std::size_t bucket)
{
    const Chunk part = replica.optimizer->part(bucket);
    comm.send(buffer_of(std::span<const std::int64_t>(&part.offset, 1)), 0);
    comm.send(buffer_of(std::span<const std::int64_t>(&part.count, 1)), 0);
    Tensor values = own_values(replica, bucket);
    for (const Tensor* tensor : saved_tensors(values, replica.optimizer->states(bucket)))
        comm.send(std::as_const(*tensor).buffer(), 0);
}

/// Copies between the whole and this rank's part of a bucket.
void copy_part(Replica& replica, std::size_t bucket, WholeModel& whole, bool to_whole)
{
    Tensor values = own_values(replica, bucket);
    const std::vector<Tensor*> own = saved_tensors(values, replica.optimizer->states(bucket));
    const std::vector<Tensor*> all = saved_tensors(whole.parameters().values(), whole.states());
    for_each_run((*replica.buckets)[bucket], replica.optimizer->part(bucket), whole.parameters().layout(),
                 [&](auto in_whole, auto in_part, auto count) {
                     for (std::size_t i = 0; i < own.size(); ++i) {
                         const Buffer a = own[i]->buffer().part(in_part, count);
                         const Buffer b = all[i]->buffer().part(in_whole, count);
                         to_whole ? convert(a, b) : convert(b, a);
                     }
                 });
}

}  // namespace

WholeModel::WholeModel(const ModelShape& shape, DType dtype)
    : device_(DeviceOptions{}),
      modules_(transformer::make_gpt(shape)),
      parameters_(device_, make_flat_layout(parameters_of(modules_), 1), dtype),
      states_(training::make_optimizer_states(parameters_.values()))
{
}

std::unique_ptr<WholeModel> collect_whole(Comm& comm, Replica& replica, const ModelShape& shape, DType dtype)
{
    std::unique_ptr<WholeModel> whole;
    if (comm.rank() == 0) {
        whole = std::make_unique<WholeModel>(shape, dtype);
        whole->states().step = replica.optimizer->states(0).step;
    }
    for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
        const bool everywhere = replica.optimizer->part(b).count == (*replica.buckets)[b].padded;
        if (comm.rank() == 0) copy_part(replica, b, *whole, true);
        if (everywhere) continue;
        if (comm.rank() > 0) send_part(comm, replica, b);
        for (int rank = 1; comm.rank() == 0 && rank < comm.size(); ++rank)
            receive_part(comm, rank, (*replica.buckets)[b], *whole);
    }
    return whole;
}

void take_part(WholeModel& whole, Replica& replica)
{
    for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
        copy_part(replica, b, whole, false);
        replica.optimizer->states(b).step = whole.states().step;
    }
    replica.values->gather_shards();
}

}  // namespace shardlings
