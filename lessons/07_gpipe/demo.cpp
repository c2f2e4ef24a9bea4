// Four results go to a neighbour, 20 us of computing each, 10 us on the link each: sent and waited for at
// once, and sent while the next is computed.
#include <deque>
#include <string>

#include "lessons/06_pipeline/run.hpp"
#include "lib/machine/base/units.hpp"

using namespace lesson;

namespace {

constexpr int results = 4;

void sender(Comm& comm, bool overlap)
{
    Device& device = comm.device();
    const double work = 20e-6 * device.topology().flops;
    const std::vector<double> result(15'625);  // 125 kB: 5 us + 5 us
    // BEGIN sender
    std::deque<Request> sending;
    for (int i = 0; i < results; ++i) {
        device.compute(work);
        if (overlap)
            sending.push_back(comm.isend(buffer_of(std::span(result)), 1));
        else
            comm.send(buffer_of(std::span(result)), 1);
    }
    const double computed = device.clock().now();
    for (Request& request : sending) request.wait();
    // END sender
    fmt::print("sender computed until {:>8}, receiver has the results after ", format_seconds(computed));
}

void receiver(Comm& comm)
{
    std::vector<double> result(15'625);
    std::vector<double> arrivals;
    for (int i = 0; i < results; ++i) {
        comm.recv(buffer_of(std::span(result)), 0);
        arrivals.push_back(comm.device().clock().now());
    }
    comm.send(buffer_of(std::span<const double>(arrivals)), 0, 1);
}

void run(Comm& comm, bool overlap)
{
    if (comm.rank() == 1) return receiver(comm);
    fmt::print("{:<12}", overlap ? "isend:" : "send:");
    sender(comm, overlap);
    std::vector<double> arrivals(results);
    comm.recv(buffer_of(std::span(arrivals)), 1, 1);
    for (const double arrival : arrivals) fmt::print("{:>4.0f}", 1e6 * arrival);
    fmt::print(" us\n");
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        for (const bool overlap : {false, true}) {
            Device device({.rank = session.rank(), .topology = {.nodes = 2}});
            Comm world = Comm::world(device);
            run(world, overlap);
        }
        return 0;
    });
}
