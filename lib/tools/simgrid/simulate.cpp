#include "lib/tools/simgrid/simulate.hpp"

#include <mpi.h>

#include <simgrid/actor.h>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <simgrid/s4u.hpp>

#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/simulated.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/simgrid/platform.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

namespace s4u = simgrid::s4u;

constexpr const char* job = "shardlings";

/// The engine, with settings under which nothing but messages and charged FLOPs takes simulated time.
std::unique_ptr<s4u::Engine> make_engine(const std::vector<std::string>& settings)
{
    std::vector<std::string> words{job,
                                   "--cfg=smpi/simulate-computation:no",
                                   "--cfg=smpi/errors-are-fatal:no",
                                   "--cfg=smpi/wtime:0",
                                   "--cfg=contexts/stack-size:1024",
                                   "--log=root.thres:warning"};
    for (const std::string& setting : settings) words.push_back("--cfg=" + setting);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    int count = static_cast<int>(arguments.size());
    return std::make_unique<s4u::Engine>(&count, arguments.data());
}

/// SimGrid reads platforms from files only.
void load_platform(const s4u::Engine& engine, const std::string& platform)
{
    const TemporaryFolder folder;
    const std::string file = folder.path() + "/platform.xml";
    write_text(file, platform);
    engine.load_platform(file);
}

}  // namespace

int simulate_ranks(int ranks, const Topology& topology, const std::vector<std::string>& settings,
                   const std::function<int()>& body)
{
    const std::unique_ptr<s4u::Engine> engine = make_engine(settings);
    SMPI_init();
    load_platform(*engine, simgrid_platform(topology, ranks));
    SMPI_app_instance_register(job, nullptr, ranks);
    setenv(simulated_rank_variable, "1", 1);
    int worst = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const s4u::ActorPtr actor =
            s4u::Actor::init(simgrid_host(rank), s4u::Host::by_name(simgrid_host(rank)));
        actor->set_property("instance_id", job);
        actor->set_property("rank", std::to_string(rank));
        actor->start([&] {
            SpentWork spent;
            sg_actor_set_data(sg_actor_self(), &spent);
            worst = std::max(worst, body());
        });
    }
    engine->run();
    SMPI_finalize();
    return worst;
}

}  // namespace shardlings
