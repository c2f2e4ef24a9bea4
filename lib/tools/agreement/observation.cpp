#include "lib/tools/agreement/observation.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/tools/train/runs.hpp"

namespace shardlings::agreement {

namespace {

using data_parallel::Chunk;
using data_parallel::Replica;

/// The part of a bucket's quantity that this rank holds; empty where there is no such quantity.
std::pair<Chunk, Tensor> held(Replica& replica, Quantity quantity, std::size_t bucket)
{
    if (quantity == Quantity::parameter || quantity == Quantity::gradient) {
        data_parallel::Held held =
            quantity == Quantity::parameter ? replica.values->held(bucket) : replica.gradients->held(bucket);
        return {held.part, std::move(held.tensor)};
    }
    const training::OptimizerStates& states = replica.optimizer->states(bucket);
    const Tensor& tensor = quantity == Quantity::m   ? states.m
                           : quantity == Quantity::v ? states.v
                                                     : states.master;
    return {replica.optimizer->part(bucket), tensor.empty() ? Tensor() : tensor.view(0, tensor.shape())};
}

/// The runs that a rank holds of a quantity, as (first element in the model, count), and their elements.
struct Packed {
    std::vector<std::int64_t> runs;
    std::vector<double> elements;
};

Packed pack(Replica& replica, Quantity quantity, const std::vector<std::string>& names,
            const std::vector<TensorPlace>& places)
{
    Packed packed;
    for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
        const auto [part, tensor] = held(replica, quantity, b);
        if (tensor.empty()) continue;
        for (const Run& run : runs_of((*replica.buckets)[b], part, names)) {
            packed.runs.insert(
                packed.runs.end(),
                {places[static_cast<std::size_t>(run.parameter)].begin + run.begin, run.count});
            const auto at = static_cast<std::int64_t>(packed.elements.size());
            packed.elements.resize(static_cast<std::size_t>(at + run.count));
            convert(tensor.buffer().part(run.in_part, run.count),
                    buffer_of(std::span(packed.elements)).part(at, run.count));
        }
    }
    return packed;
}

/// All elements of a quantity, put together from what the ranks hold.
class Whole {
  public:
    explicit Whole(std::size_t elements) : values_(elements), known_(elements) {}

    void place(const Packed& packed)
    {
        std::size_t next = 0;
        for (std::size_t i = 0; i < packed.runs.size(); i += 2)
            for (std::int64_t k = 0; k < packed.runs[i + 1]; ++k) {
                const auto at = static_cast<std::size_t>(packed.runs[i] + k);
                const double value = packed.elements[next++];
                if (known_[at] &&
                    std::bit_cast<std::uint64_t>(values_[at]) != std::bit_cast<std::uint64_t>(value))
                    ++disagreements_;
                values_[at] = value;
                known_[at] = true;
            }
    }
    std::int64_t unknown() const { return std::ranges::count(known_, false); }
    /// Elements that came with different bits.
    std::int64_t disagreements() const { return disagreements_; }
    std::vector<double> take() { return std::move(values_); }

  private:
    std::vector<double> values_;
    std::vector<bool> known_;
    std::int64_t disagreements_ = 0;
};

template <class T>
void send_vector(Comm& comm, const std::vector<T>& values)
{
    const std::array<std::int64_t, 1> size{static_cast<std::int64_t>(values.size())};
    comm.send(buffer_of(std::span<const std::int64_t>(size)), 0);
    comm.send(buffer_of(std::span<const T>(values)), 0);
}

template <class T>
std::vector<T> receive_vector(Comm& comm, int from)
{
    std::array<std::int64_t, 1> size{};
    comm.recv(buffer_of(std::span<std::int64_t>(size)), from);
    std::vector<T> values(static_cast<std::size_t>(size[0]));
    comm.recv(buffer_of(std::span(values)), from);
    return values;
}

/// Brings a quantity to rank 0.
void collect(Comm& comm, Trainer& trainer, Quantity quantity, const ModelShape& shape,
             Observation& observation)
{
    const std::vector<TensorPlace> places = places_of(shape);
    const Packed own = pack(trainer.replica(), quantity, names_of(shape), places);
    if (comm.rank() > 0) {
        send_vector(comm, own.runs);
        send_vector(comm, own.elements);
        return;
    }
    Whole whole(static_cast<std::size_t>(places.back().begin + places.back().count));
    whole.place(own);
    for (int rank = 1; rank < comm.size(); ++rank) {
        Packed theirs{receive_vector<std::int64_t>(comm, rank), {}};
        theirs.elements = receive_vector<double>(comm, rank);
        whole.place(theirs);
    }
    const std::int64_t unknown = whole.unknown();
    if (quantity == Quantity::master && own.elements.empty()) return;
    check(unknown == 0, "of {} elements no rank has the {}", unknown, name_of(quantity));
    const auto q = static_cast<std::size_t>(quantity);
    observation.disagreements[q] = whole.disagreements();
    observation.values[q] = whole.take();
}

}  // namespace

std::string_view name_of(Quantity quantity)
{
    constexpr std::array<std::string_view, quantities.size()> names{"gradient", "parameter", "m", "v",
                                                                    "master weight"};
    return names[static_cast<std::size_t>(quantity)];
}

std::vector<TensorPlace> places_of(const ModelShape& shape)
{
    std::vector<TensorPlace> places;
    const Modules modules = transformer::make_gpt(shape);
    std::int64_t begin = 0;
    for (const Parameter* parameter : parameters_of(modules)) {
        places.push_back({parameter->name, begin, parameter->elements()});
        begin += parameter->elements();
    }
    return places;
}

Observation observe_step(Comm& comm, Trainer& trainer, const TrainOptions& options,
                         const MicroBatch& global_batch, std::int64_t step)
{
    Observation observation;
    const double scale = options.dtype == DType::fp16 ? trainer.loss_scale().scale : 1.0;
    const Clock& clock = comm.device().clock();
    const double begin = clock.now();
    observation.report = trainer.backward(global_batch, step);
    observation.seconds = clock.now() - begin;
    collect(comm, trainer, Quantity::gradient, options.shape, observation);
    for (double& gradient : observation.values[0]) gradient /= scale;
    const double update_begin = clock.now();
    trainer.update(step, observation.report);
    observation.seconds += clock.now() - update_begin;
    for (const Quantity quantity : quantities)
        if (quantity != Quantity::gradient) collect(comm, trainer, quantity, options.shape, observation);
    return observation;
}

}  // namespace shardlings::agreement
