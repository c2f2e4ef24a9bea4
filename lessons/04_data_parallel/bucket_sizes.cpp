// How large should a bucket be? Exposed communication of a step on 4 devices, on the clock and by the page's
// recursion.
#include <algorithm>

#include "lessons/04_data_parallel/run.hpp"
#include "lib/machine/comm/session.hpp"

using namespace lesson;

namespace {

struct Prediction {
    double communication = 0.0;  // of all buckets
    double last = 0.0;           // of the last bucket
    double exposed = 0.0;        // with overlap; seconds, as the others
};

/// 2FLOPs forward and twice that backward, for this device's tokens (lesson 01).
double backward_seconds(const TrainOptions& o, int degree, std::size_t module)
{
    const auto h = static_cast<double>(o.shape.hidden);
    const double tokens = static_cast<double>(o.batch * o.shape.sequence) / degree;
    const auto last = static_cast<std::size_t>(o.shape.layers) + 1;
    if (module == 0) return 0.0;  // the embedding multiplies no matrices
    const double forward = module == last
                               ? 2.0 * tokens * h * static_cast<double>(o.shape.vocabulary)
                               : tokens * h * (24.0 * h + 4.0 * static_cast<double>(o.shape.sequence));
    return 2.0 * forward / o.topology.flops;
}

Prediction predict(const TrainOptions& o, int degree, const std::vector<data_parallel::Bucket>& buckets)
{
    Prediction p;
    double ready = 0.0;  // when the bucket's first module has ended, counted from the begin of backward
    double end = 0.0;    // of the all-reduce
    for (const data_parallel::Bucket& bucket : buckets) {
        for (std::size_t i = bucket.first_module; i < bucket.last_module; ++i)
            ready += backward_seconds(o, degree, i);
        const double bytes = static_cast<double>(bucket.padded) * static_cast<double>(size_of(o.dtype));
        p.last = 2.0 * (degree - 1) * o.topology.inter.seconds(bytes / degree);
        p.communication += p.last;
        end = std::max(end, ready) + p.last;
    }
    for (std::size_t i = 0; i < buckets.back().first_module; ++i) ready += backward_seconds(o, degree, i);
    p.exposed = end - ready;
    return p;
}

void measure(MpiSession& session, std::int64_t bucket_bytes)
{
    TrainOptions options = small_run(session.size());
    options.bucket_bytes = bucket_bytes;
    Device device(device_options(options, session.rank()));
    const Comm world = Comm::world(device);
    Trainer trainer(world, options);
    const RandomBatch batch(options.batch, options.shape.sequence, 1);
    const StepReport report = trainer.step(batch.view(), 1);
    const std::vector<data_parallel::Bucket>& buckets = *trainer.replica().buckets;
    const Prediction p = predict(options, session.size(), buckets);
    const double loss_sum = 2.0 * options.topology.inter.seconds(8.0);  // recursive doubling, 4 ranks
    if (session.rank() != 0) return;
    const Traffic::Count& sent = trainer.groups().data.data.traffic().total;
    fmt::print("{:>14}{:>9}{:>10}{:>10}{:>9.1f} us{:>9.1f} us{:>9.1f} us{:>9.1f} us\n", bucket_bytes,
               buckets.size(), sent.messages, sent.bytes, 1e6 * p.communication, 1e6 * p.last,
               1e6 * p.exposed, 1e6 * (report.exposed_seconds - loss_sum));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print(
                "                          sent by a rank        predicted              exposed\n"
                "--bucket-bytes  buckets  messages     bytes    together    the last   predicted    "
                "measured\n");
        for (const std::int64_t bytes : {1, 150'000, 250'000, 450'000, 650'000, 900'000})
            measure(session, bytes);
        return 0;
    });
}
