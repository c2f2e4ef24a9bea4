// A step on 1, 2, 4 and 8 devices: one all-reduce after the backward pass, and buckets beside it.
#include "lessons/04_data_parallel/run.hpp"
#include "lib/machine/comm/session.hpp"

using namespace lesson;

namespace {

struct Measured {
    double exposed;
    double step;  // virtual seconds
};

/// The second step of a run on the first ranks; only they have a result.
Measured second_step(MpiSession& session, const TrainOptions& options)
{
    Device device(device_options(options, session.rank()));
    const Comm world = Comm::world(device);
    const bool takes_part = session.rank() < options.layout.dp;
    const Comm group = world.split(takes_part ? 0 : 1, session.rank());
    if (!takes_part) return {};
    Trainer trainer(group, options);
    const RandomBatch batch(options.batch, options.shape.sequence, 1);
    trainer.step(batch.view(), 1);
    const double begin = device.clock().now();
    const StepReport report = trainer.step(batch.view(), 2);
    return {report.exposed_seconds, device.clock().now() - begin};
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        const auto say = [&](const std::string& text) {
            if (session.rank() == 0) fmt::print("{}", text);
        };
        say("                       one all-reduce, after the pass     buckets of 450 kB, beside it\n"
            "devices   computing    exposed       step   speed-up    exposed       step   speed-up\n");
        double alone = 0.0;
        for (const int degree : {1, 2, 4, 8}) {
            TrainOptions options = small_run(degree);
            options.bucket_bytes = 1'000'000'000;
            options.overlap = false;
            const Measured a = second_step(session, options);
            options.bucket_bytes = 450'000;
            options.overlap = true;
            const Measured b = second_step(session, options);
            if (degree == 1) alone = a.step;
            say(fmt::format("{:>7}{:>9.1f} us", degree, 1e6 * (a.step - a.exposed)));
            for (const Measured& m : {a, b})
                say(fmt::format("{:>8.1f} us{:>8.1f} us{:>11.2f}", 1e6 * m.exposed, 1e6 * m.step,
                                alone / m.step));
            say("\n");
        }
        return 0;
    });
}
