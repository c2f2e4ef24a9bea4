#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/environment.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/program.hpp"
#include "lib/tools/simgrid/platform.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

namespace s4u = simgrid::s4u;

constexpr const char* job = "shardlings";

/// The engine with settings under which nothing but messages and charged FLOPs takes simulated time.
std::unique_ptr<s4u::Engine> make_engine(char* program)
{
    std::vector<std::string> words{"--cfg=smpi/simulate-computation:no", "--cfg=smpi/errors-are-fatal:no",
                                   "--cfg=contexts/stack-size:1024", "--log=root.thres:warning"};
    std::vector<char*> arguments{program};
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

int start_on_ranks(int ranks, const CommandLine& command_line, const Placement& placement)
{
    check(placement.hostfile.empty(), "simulated ranks are all in this process: leave --hostfile out");
    const std::unique_ptr<s4u::Engine> engine = make_engine(command_line.argv[0]);
    SMPI_init();
    load_platform(*engine, simgrid_platform(placement.topology, ranks));
    SMPI_app_instance_register(job, nullptr, ranks);
    setenv(simulated_rank_variable, "1", 1);
    int worst = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const s4u::ActorPtr actor =
            s4u::Actor::init(simgrid_host(rank), s4u::Host::by_name(simgrid_host(rank)));
        actor->set_property("instance_id", job);
        actor->set_property("rank", std::to_string(rank));
        actor->start([&] { worst = std::max(worst, run_program(command_line.argc, command_line.argv)); });
    }
    engine->run();
    SMPI_finalize();
    return worst;
}

}  // namespace shardlings
