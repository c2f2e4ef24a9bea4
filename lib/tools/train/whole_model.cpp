#include "lib/tools/train/whole_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lib/tools/train/runs.hpp"

namespace shardlings {

namespace {

using data_parallel::Bucket;
using data_parallel::Chunk;
using data_parallel::Held;
using data_parallel::Replica;

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

void send_run(Comm& comm, const Run& run, const std::vector<Tensor*>& tensors)
{
    const std::array<std::int64_t, 3> header{run.parameter, run.begin, run.count};
    comm.send(buffer_of(std::span<const std::int64_t>(header)), 0);
    for (const Tensor* tensor : tensors)
        comm.send(std::as_const(*tensor).buffer().part(run.in_part, run.count), 0);
}

/// Receives runs from a rank until it sends an empty one.
void receive_runs(Comm& comm, int from, WholeModel& whole)
{
    const std::vector<FlatEntry>& entries = whole.parameters().layout().entries;
    for (;;) {
        std::array<std::int64_t, 3> header{};
        comm.recv(buffer_of(std::span<std::int64_t>(header)), from);
        const auto [parameter, begin, count] = header;
        if (count == 0) return;
        const std::int64_t place = entries[static_cast<std::size_t>(parameter)].offset + begin;
        for (Tensor* to : saved_tensors(whole.parameters().values(), whole.states()))
            comm.recv(to->buffer().part(place, count), from);
    }
}

/// Copies between the whole and this rank's part of a bucket.
void copy_part(Replica& replica, std::size_t bucket, WholeModel& whole, bool to_whole)
{
    Tensor values = own_values(replica, bucket);
    const std::vector<Tensor*> own = saved_tensors(values, replica.optimizer->states(bucket));
    const std::vector<Tensor*> all = saved_tensors(whole.parameters().values(), whole.states());
    const std::vector<FlatEntry>& entries = whole.parameters().layout().entries;
    for (const Run& run : runs_of((*replica.buckets)[bucket], replica.optimizer->part(bucket), whole.names()))
        for (std::size_t i = 0; i < own.size(); ++i) {
            const std::int64_t place = entries[static_cast<std::size_t>(run.parameter)].offset + run.begin;
            const Buffer a = own[i]->buffer().part(run.in_part, run.count);
            const Buffer b = all[i]->buffer().part(place, run.count);
            to_whole ? convert(a, b) : convert(b, a);
        }
}

}  // namespace

WholeModel::WholeModel(const ModelShape& shape, DType dtype)
    : device_(DeviceOptions{}),
      modules_(transformer::make_gpt(shape)),
      parameters_(device_, make_flat_layout(parameters_of(modules_), 1), dtype),
      states_(training::make_optimizer_states(parameters_.values())),
      names_(names_of(shape))
{
}

std::unique_ptr<WholeModel> collect_whole(Comm& comm, Replica& replica, bool sends, const ModelShape& shape,
                                          DType dtype)
{
    if (comm.rank() == 0) {
        auto whole = std::make_unique<WholeModel>(shape, dtype);
        whole->states().step = replica.optimizer->states(0).step;
        for (std::size_t b = 0; b < replica.buckets->size(); ++b) copy_part(replica, b, *whole, true);
        for (int rank = 1; rank < comm.size(); ++rank) receive_runs(comm, rank, *whole);
        return whole;
    }
    const std::vector<std::string> names = names_of(shape);
    for (std::size_t b = 0; sends && b < replica.buckets->size(); ++b) {
        Tensor values = own_values(replica, b);
        const std::vector<Tensor*> tensors = saved_tensors(values, replica.optimizer->states(b));
        for (const Run& run : runs_of((*replica.buckets)[b], replica.optimizer->part(b), names))
            send_run(comm, run, tensors);
    }
    send_run(comm, {}, {});
    return nullptr;
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
