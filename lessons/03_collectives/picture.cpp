// The lesson's pictures.  picture ring FILE.svg: an all-reduce of 2.4 MB on 4 devices of one node, through
// device 0 and then as a ring.  picture nodes FILE.svg: one of 6 MB on 2 nodes of 4, as one ring and then
// node-aware.
#include <string_view>

#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/own/my_all_reduce.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/tensor/tensor.hpp"
#include "lib/tools/trace/collect.hpp"

using namespace collectives;

namespace {

// When the second all-reduce of a picture begins: after the first, which takes 40 and 490 µs.
constexpr double second_ring = 44e-6;
constexpr double second_node_aware = 510e-6;

void naive_then_ring(Comm& comm)
{
    Tensor values(comm.device(), {600'000}, DType::fp32, Category::gradients);
    values.fill_zero();
    my_all_reduce(comm, values.buffer());
    comm.device().clock().wait_until(second_ring);
    ring_all_reduce(comm, values.buffer());
}

void ring_then_node_aware(Comm& comm)
{
    Tensor values(comm.device(), {1'500'000}, DType::fp32, Category::gradients);
    values.fill_zero();
    ring_all_reduce(comm, values.buffer());
    comm.device().clock().wait_until(second_node_aware);
    NodeGroups groups = make_node_groups(comm);
    node_aware_all_reduce(groups, values.buffer());
}

int draw(const MpiSession& session, bool nodes, const std::string& path)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.topology = parse_topology(nodes ? "2x4" : "1x4");
    options.record = true;
    check(session.size() == options.topology.devices(), "expected {} ranks, not {}",
          options.topology.devices(), session.size());
    Device device(options);
    Comm comm = Comm::world(device);
    (nodes ? ring_then_node_aware : naive_then_ring)(comm);
    std::vector<RankTrace> traces = collect_traces(comm);
    for (RankTrace& trace : traces) trace.memory.clear();  // only messages are of interest here
    if (comm.rank() == 0)
        write_svg_timeline(
            path, traces,
            {.title = nodes ? "All-reduce of 6 MB on 2 nodes of 4: one ring, then node-aware"
                            : "All-reduce of 2.4 MB on 4 devices: through device 0, then as a ring"});
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        const std::string_view which = argc == 3 ? argv[1] : "";
        check(which == "ring" || which == "nodes", "usage: {} ring|nodes FILE.svg", argv[0]);
        return draw(session, which == "nodes", argv[2]);
    });
}
