// Every stage beside plain data parallelism: do losses, norms, values and optimizer states differ after 20
// steps with clipping and two micro-batches?
#include "lessons/05_zero/run.hpp"

using namespace lesson;
using collectives::Chunk;

namespace {

TrainOptions run_in(DType dtype, int degree)
{
    TrainOptions options;
    options.layout.dp = degree;
    options.shape = {2, 32, 2, 8, 256};
    options.batch = 48;
    options.micro_batches = 2;
    options.steps = 20;
    options.dtype = dtype;
    options.topology.devices_per_node = 8;
    return options;
}

/// In elements `part` of a bucket: `held` begins at element `begin` of it, `whole` at 0.
double differing_bytes(const Tensor& held, std::int64_t begin, const Tensor& whole, const Chunk& part)
{
    const Tensor a = held.view(part.offset - begin, {part.count});
    const Tensor b = whole.view(part.offset, {part.count});
    const std::byte* first = a.buffer().data;
    const std::byte* second = b.buffer().data;
    double different = 0.0;
    for (std::size_t i = 0; i < a.bytes(); ++i) different += first[i] == second[i] ? 0.0 : 1.0;
    return different;
}

/// Runs on making, and keeps what the run ends with.
class Run {
  public:
    Run(const Comm& group, TrainOptions options, int stage, bool in_shards)
        : options_(std::move(options)), trainer_(group, options_with(stage, in_shards))
    {
        for (std::int64_t step = 1; step <= options_.steps; ++step) {
            const RandomBatch batch(options_.batch, options_.shape.sequence, step);
            const StepReport report = trainer_.step(batch.view(), step);
            reports_.push_back(report.loss);
            reports_.push_back(report.gradient_norm);
        }
    }

    /// Losses, norms, and bytes of this rank's shards, that differ from those of `plain`, which holds all.
    double differences(Run& plain)
    {
        double different = 0.0;
        for (std::size_t i = 0; i < reports_.size(); ++i)
            different += reports_[i] == plain.reports_[i] ? 0.0 : 1.0;
        data_parallel::Replica& own = trainer_.replica();
        data_parallel::Replica& whole = plain.trainer_.replica();
        for (std::size_t b = 0; b < own.buckets->size(); ++b) {
            const Chunk part = own.optimizer->part(b);
            const data_parallel::Held values = own.values->held(b);
            different +=
                differing_bytes(values.tensor, values.part.offset, whole.values->held(b).tensor, part);
            const training::OptimizerStates& states = own.optimizer->states(b);
            const training::OptimizerStates& all = whole.optimizer->states(b);
            different += differing_bytes(states.m, part.offset, all.m, part);
            different += differing_bytes(states.v, part.offset, all.v, part);
            if (!states.master.empty())
                different += differing_bytes(states.master, part.offset, all.master, part);
        }
        return different;
    }

  private:
    const TrainOptions& options_with(int stage, bool in_shards)
    {
        options_.layout.zero = stage;
        options_.zero.accumulate_in_shards = in_shards;
        return options_;
    }

    TrainOptions options_;
    Trainer trainer_;
    std::vector<double> reports_;
};

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print("bytes that differ    stage 1   stage 2   stage 3   2, accumulated in shards\n");
        for (const DType dtype : {DType::fp32, DType::bf16})
            for (const int degree : {2, 3, 4, 8})
                on_ranks(session, run_in(dtype, degree), [&](Comm& group) {
                    std::string row = fmt::format("{}, Nd = {:<8}", name_of(dtype), degree);
                    Run plain(group, run_in(dtype, degree), 0, false);
                    for (const auto& [stage, in_shards] :
                         {std::pair{1, false}, {2, false}, {3, false}, {2, true}}) {
                        Run sharded(group, run_in(dtype, degree), stage, in_shards);
                        const double different = sum_over(group, sharded.differences(plain));
                        // How many it is depends on the machine's BLAS.
                        row += fmt::format("{:>10}", different == 0.0 ? "0" : "some");
                    }
                    if (group.rank() == 0) fmt::print("{}\n", row);
                });
        return 0;
    });
}
