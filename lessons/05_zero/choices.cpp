// Stage 2's two choices on 4 devices: full gradient buckets at once, and where micro-batches are added up.
#include "lessons/05_zero/run.hpp"

using namespace lesson;

namespace {

struct Measured {
    std::uint64_t peak;  // of the gradients
    std::uint64_t sent;  // by rank 0
    double exposed;      // seconds
    double seconds;
};

Measured measure(MpiSession& session, const TrainOptions& options)
{
    Measured measured{};
    on_ranks(session, options, [&](Comm& group) {
        Trainer trainer(group, options);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        const StepReport report = trainer.step(batch.view(), 1);
        measured = {group.device().memory().peak_of(Category::gradients),
                    trainer.groups().data.data.traffic().total.bytes, report.exposed_seconds,
                    group.device().clock().now()};
    });
    return measured;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        TrainOptions options = small_run(4);
        options.dtype = DType::bf16;
        if (session.rank() == 0)
            fmt::print(
                "stage   M   accumulate   full buckets   gradients' peak   sent bytes   exposed   step\n");
        for (const int stage : {0, 2})
            for (const std::int64_t micro_batches : {1, 4})
                for (const bool in_shards : {false, true})
                    for (const int buckets : {1, 2}) {
                        if (stage == 0 && (in_shards || buckets > 1)) continue;
                        if (in_shards && micro_batches == 1) continue;
                        options.layout.zero = stage;
                        options.micro_batches = micro_batches;
                        options.zero = {zero::Fetch::all_gather, buckets, in_shards};
                        const Measured m = measure(session, options);
                        if (session.rank() == 0)
                            fmt::print("{:>5}{:>4}{:>13}{:>15}{:>18}{:>13}{:>7.1f} us{:>7.1f} us\n", stage,
                                       micro_batches, in_shards ? "shards" : "full", buckets, m.peak, m.sent,
                                       1e6 * m.exposed, 1e6 * m.seconds);
                    }
        return 0;
    });
}
