#include "lib/tools/measure/steps.hpp"

#include <algorithm>

#include "lib/machine/comm/comm.hpp"
#include "lib/tools/data/batch.hpp"
#include "lib/tools/train/report.hpp"
#include "lib/tools/train/run.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

json train(Comm& world, const TrainOptions& options)
{
    Device& device = world.device();
    const Text text = text_of(options);
    Trainer trainer(world, options);
    std::vector<StepFigures> history;
    for (std::int64_t step = 1; step <= options.steps; ++step) {
        const Batch batch = make_batch(text, options.seed, step - 1, options.batch, options.shape.sequence);
        const StepReport report = trainer.step(batch.view(), step);
        history.push_back({step, report, device.clock().now()});
    }
    const RankFigures own = figures_of(device, options.layout, trainer, history.back().report);
    return report_of(options, history, collect_figures(world, own));
}

}  // namespace

Topology with_room(Topology topology, int ranks)
{
    const int nodes = (ranks + topology.devices_per_node - 1) / topology.devices_per_node;
    topology.nodes = std::max(topology.nodes, nodes);
    return topology;
}

json measure_steps(const MpiSession& session, const std::vector<TrainOptions>& runs)
{
    json reports = json::array();
    for (const TrainOptions& options : runs) {
        DeviceOptions device_options;
        device_options.rank = session.rank();
        device_options.budget = options.budget;
        device_options.topology = with_room(options.topology, session.size());
        Device device(device_options);
        const int ranks = options.layout.world_size();
        check(session.size() >= ranks, "a run of {} ranks was started on {}", ranks, session.size());
        const bool plays = session.rank() < ranks;
        Comm world = Comm::world(device).split(plays ? 0 : 1, session.rank());
        if (!plays) continue;
        json report = train(world, options);
        if (session.rank() == 0) reports.push_back(std::move(report));
    }
    return reports;
}

}  // namespace shardlings
