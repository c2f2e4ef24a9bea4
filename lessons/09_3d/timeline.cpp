// A step of the example as a picture: timeline FILE.svg. Of each tensor-parallel group, whose ranks do the
// same at the same time, rank 0 is drawn. 32 ranks.
#include "lessons/09_3d/run.hpp"

using namespace lesson;

namespace {

/// Those of tensor rank 0, numbered without the others: rank = pp · DP + dp.
std::vector<RankTrace> first_of_groups(std::vector<RankTrace> traces, int tensor_ranks)
{
    std::vector<RankTrace> kept;
    for (RankTrace& trace : traces) {
        if (trace.rank % tensor_ranks != 0) continue;
        trace.rank /= tensor_ranks;
        for (Event& event : trace.events)
            event.peer = event.peer % tensor_ranks == 0 ? event.peer / tensor_ranks : -1;
        kept.push_back(std::move(trace));
    }
    return kept;
}

void draw(MpiSession& session, const std::string& file)
{
    const TrainOptions options = example_on_grid(1);
    DeviceOptions device_options = lesson::device_options(options, session.rank());
    device_options.record = true;
    Device device(device_options);
    Comm world = Comm::world(device);
    Trainer trainer(world, options);
    const RandomBatch batch(options.batch, options.shape.sequence, 1);
    const double busy = trainer.step(batch.view(), 1).busy_seconds;
    const double end = device.clock().now();
    std::vector<RankTrace> traces = collect_traces(world);
    const auto figures = gather_numbers(world, {busy, end});
    if (world.rank() > 0) return;
    PictureOptions picture;
    picture.title = "PP 4 x DP 2 x TP 4, 1F1B, 4 micro-batches: rank 0 of each tensor-parallel group";
    picture.stages = options.layout.pp;
    write_svg_timeline(file, first_of_groups(std::move(traces), options.layout.tp), picture);
    double computing = 0.0;
    double last = 0.0;
    for (const auto& rank : figures) {
        computing += rank[0] / static_cast<double>(figures.size());
        last = std::max(last, rank[1]);
    }
    const double p = options.layout.pp;
    const auto m = static_cast<double>(options.micro_batches);
    fmt::print("timeline: {:.3f} ms, idle {:.1f} %; bubble (P - 1)/(M + P - 1) = {:.1f} %\n", 1e3 * last,
               100.0 * (1.0 - computing / last), 100.0 * (p - 1.0) / (m + p - 1.0));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        check(argc == 2, "usage: timeline FILE.svg, on 32 ranks");
        draw(session, argv[1]);
        return 0;
    });
}
