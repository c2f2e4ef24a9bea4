#include "lessons/06_pipeline/engine.hpp"
#include "lib/machine/base/error.hpp"

#include <deque>
#include <iterator>
#include <map>
#include <utility>

using namespace pipeline;

namespace {

using Key = std::pair<int, int>;  // micro-batch, chunk

/// Tensors that are on their way to a neighbour.
class Outbox {
  public:
    explicit Outbox(Comm& comm) : comm_(comm) {}

    /// Starts to send. The message leaves from a copy outside the device, so that the device's memory can be
    /// given back when the link has carried it in virtual time, whenever that happens on this machine.
    void send(Tensor tensor, int to, int tag)
    {
        const ConstBuffer from = std::as_const(tensor).buffer();
        std::vector<std::byte> copy(from.data, from.data + from.bytes());
        Request request = comm_.isend({copy.data(), from.count, from.dtype}, to, tag);
        const double arrival = request.arrival();
        sending_.push_back({std::move(tensor), std::move(copy), std::move(request), arrival});
    }

    /// Frees the device memory of what has been carried by now.
    void free_carried()
    {
        for (Sending& sending : sending_)
            if (sending.arrival <= comm_.device().clock().now()) sending.tensor = Tensor();
    }

    /// Returns when everything has been carried.
    void finish()
    {
        for (Sending& sending : sending_) sending.request.wait();
        sending_.clear();
    }

  private:
    struct Sending {
        Tensor tensor;
        std::vector<std::byte> copy;
        Request request;
        double arrival;
    };
    Comm& comm_;
    std::deque<Sending> sending_;
};

class Engine {
  public:
    Engine(Comm& comm, Stage& stage, const Schedule& schedule, const ModelShape& shape, DType dtype,
           std::span<const MicroBatch> micro_batches, double loss_scale, bool recompute)
        : comm_(comm),
          stage_(stage),
          schedule_(schedule),
          shape_(shape),
          dtype_(dtype),
          micro_batches_(micro_batches),
          loss_scale_(loss_scale),
          recompute_(recompute),
          outbox_(comm)
    {
    }

    void run(const Instruction& instruction)
    {
        outbox_.free_carried();
        const Key key{instruction.micro_batch, instruction.chunk};
        switch (instruction.action) {
            case Action::receive_activation:
                inputs_[key] = receive(key, -1);
                break;
            case Action::forward:
                forward(key, recompute_);
                break;
            case Action::send_activation:
                send(take(outputs_, key, "no output"), key, 1);
                break;
            case Action::receive_gradient:
                inputs_[key] = receive(key, 1);
                break;
            case Action::backward:
                backward(key);
                break;
            case Action::send_gradient:
                send(take(outputs_, key, "no gradient"), key, -1);
                break;
        }
    }

    /// A forward pass that keeps nothing for a backward pass.
    void run_without_saving(int micro_batch)
    {
        for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
            outbox_.free_carried();
            const Key key{micro_batch, chunk};
            Program program;
            append_pass(schedule_, comm_.rank(), Action::forward, micro_batch, chunk, program);
            for (const Instruction& instruction : program)
                if (instruction.action == Action::forward)
                    finish_forward(key, run_modules(key, input(key), nullptr));
                else
                    run(instruction);
        }
    }

    double finish()
    {
        outbox_.finish();
        return loss_;
    }

  private:
    static Tensor take(std::map<Key, Tensor>& tensors, Key key, const char* missing)
    {
        const auto found = tensors.find(key);
        check(found != tensors.end(), "the program needs what is not there: {} of micro-batch {}, chunk {}",
              missing, key.first, key.second);
        Tensor tensor = std::move(found->second);
        tensors.erase(found);
        return tensor;
    }

    const MicroBatch& batch(Key key) const
    {
        check(key.first >= 0 && key.first < std::ssize(micro_batches_),
              "the program asks for micro-batch {} of {}", key.first, micro_batches_.size());
        return micro_batches_[static_cast<std::size_t>(key.first)];
    }
    const ModuleRange& range(Key key) const { return stage_.chunks.at(static_cast<std::size_t>(key.second)); }

    /// What the chunk computes on: nothing where the model begins.
    Tensor input(Key key)
    {
        return is_first_chunk(comm_.rank(), key.second) ? Tensor() : take(inputs_, key, "no activation");
    }

    /// y of the chunk's modules; what they save goes to `saved`, one for each, or is dropped.
    Tensor run_modules(Key key, Tensor x, std::vector<Saved>* saved)
    {
        // Your code: see lessons/06_pipeline/engine.hpp (hints: make hint-06 PART=06.4)
        not_implemented("06.4 Engine::run_modules");
    }

    void finish_forward(Key key, Tensor y)
    {
        if (is_last_chunk(schedule_, comm_.rank(), key.second))
            loss_ += y.span<double>()[0];
        else
            outputs_[key] = std::move(y);
    }

    void forward(Key key, bool recompute)
    {
        // Your code: see lessons/06_pipeline/engine.hpp (hints: make hint-06 PART=06.4)
        not_implemented("06.4 Engine::forward");
    }

    void backward(Key key)
    {
        // Your code: see lessons/06_pipeline/engine.hpp (hints: make hint-06 PART=06.4)
        not_implemented("06.4 Engine::backward");
    }

    /// The stage of the chunk behind (+1) or before (−1) this one: round a ring, as behind the last stage's
    /// chunk v comes the first stage's v + 1.
    int neighbour(int direction) const
    {
        return (comm_.rank() + direction + schedule_.stages) % schedule_.stages;
    }

    /// The number of the boundary that a message crosses, between chunk b and b + 1 of the model, behind the
    /// chunk (side 1) or before it (−1), with micro-batch and direction: no two of a step have the same tag.
    int tag(Key key, int side, bool activation) const
    {
        const int chunk = key.second * schedule_.stages + comm_.rank();
        const int boundary = side > 0 ? chunk : chunk - 1;
        return (boundary * schedule_.micro_batches + key.first) * 2 + (activation ? 0 : 1);
    }

    /// Of what travels between stages.
    Shape boundary_shape(const MicroBatch& micro_batch) const
    {
        if (stage_.row_shards == 1) return {micro_batch.sequences, micro_batch.tokens, shape_.hidden};
        const std::int64_t rows = micro_batch.sequences * micro_batch.tokens;
        return {(rows + stage_.row_shards - 1) / stage_.row_shards, shape_.hidden};
    }

    Tensor receive(Key key, int side)
    {
        // Your code: see lessons/06_pipeline/engine.hpp (hints: make hint-06 PART=06.4)
        not_implemented("06.4 Engine::receive");
    }

    void send(Tensor tensor, Key key, int side)
    {
        // Your code: see lessons/06_pipeline/engine.hpp (hints: make hint-06 PART=06.4)
        not_implemented("06.4 Engine::send");
    }

    Comm& comm_;
    Stage& stage_;
    const Schedule& schedule_;
    const ModelShape& shape_;
    DType dtype_;
    std::span<const MicroBatch> micro_batches_;
    double loss_scale_;
    bool recompute_;
    double loss_ = 0.0;
    std::map<Key, Tensor> inputs_;             // received, not yet used
    std::map<Key, Tensor> outputs_;            // computed, not yet sent
    std::map<Key, Tensor> kept_;               // inputs, for recomputation
    std::map<Key, std::vector<Saved>> saved_;  // of each module, from forward to backward
    Outbox outbox_;
};

}  // namespace

double pipeline::run_program(Comm& pipeline, Stage& stage, const Schedule& schedule, const ModelShape& shape,
                             DType dtype, std::span<const MicroBatch> micro_batches, double loss_scale,
                             bool recompute)
{
    Engine engine(pipeline, stage, schedule, shape, dtype, micro_batches, loss_scale, recompute);
    for (const Instruction& instruction : schedule.programs.at(static_cast<std::size_t>(pipeline.rank())))
        engine.run(instruction);
    return engine.finish();
}

double pipeline::run_forward(Comm& pipeline, Stage& stage, const Schedule& schedule, const ModelShape& shape,
                             DType dtype, std::span<const MicroBatch> micro_batches)
{
    Engine engine(pipeline, stage, schedule, shape, dtype, micro_batches, 1.0, false);
    for (int m = 0; m < static_cast<int>(micro_batches.size()); ++m) engine.run_without_saving(m);
    return engine.finish();
}
