#include "lib/tools/bench/collectives.hpp"

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace shardlings {

namespace {

constexpr double seconds_of_a_round = 0.02;
constexpr std::uint64_t largest_short = 256 * 1024;

/// Seconds of one call on the slowest rank, from a barrier to a barrier.
double seconds_of(const std::function<void()>& call, int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) call();
    double seconds = (MPI_Wtime() - begin) / count;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

/// What one side took, in every round.
struct Times {
    std::vector<double> seconds;

    double best() const { return *std::min_element(seconds.begin(), seconds.end()); }
    double median() const
    {
        std::vector<double> sorted = seconds;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

/// Error unless every element is the sum of one from each rank.
void check_sum(const std::function<void()>& call, Tensor& values, int ranks, std::string_view name)
{
    std::ranges::fill(values.span<float>(), 1.0F);
    call();
    for (const float value : values.span<float>())
        check(value == static_cast<float>(ranks), "{}: {} is not the sum of {} ones", name, value, ranks);
}

void measure(Comm& comm, collectives::NodeGroups& groups, std::uint64_t bytes, int rounds)
{
    const auto count = static_cast<int>(bytes / sizeof(float));
    Tensor values(comm.device(), {count}, DType::fp32, Category::gradients);
    const std::function<void()> ours = [&] {
        if (bytes <= largest_short)
            collectives::all_reduce(comm, groups, values.buffer());
        else
            collectives::ring_all_reduce(comm, values.buffer());
    };
    const std::function<void()> mpi = [&] {
        MPI_Allreduce(MPI_IN_PLACE, values.span<float>().data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    };
    check_sum(ours, values, comm.size(), "all_reduce");
    check_sum(mpi, values, comm.size(), "MPI_Allreduce");
    values.fill_zero();  // whose sums stay zero, however often they are taken
    const int calls = std::clamp(static_cast<int>(seconds_of_a_round / seconds_of(mpi, 3)), 1, 1000);
    Times our_times;
    Times mpi_times;
    for (int round = 0; round < rounds; ++round)
        for (const bool is_ours : {round % 2 == 0, round % 2 != 0})
            (is_ours ? our_times : mpi_times).seconds.push_back(seconds_of(is_ours ? ours : mpi, calls));
    if (comm.rank() != 0) return;
    fmt::print("{:>5}  {:>9}  {:>9}  {:>9}  {:>5.2f}  {:>9}  {:>9}  {:>5.2f}\n", comm.size(),
               format_bytes(bytes), format_seconds(our_times.best()), format_seconds(mpi_times.best()),
               our_times.best() / mpi_times.best(), format_seconds(our_times.median()),
               format_seconds(mpi_times.median()), our_times.median() / mpi_times.median());
}

}  // namespace

void bench_collectives(MpiSession& session, int rounds)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.topology.devices_per_node = session.size();
    Device device(options);
    Comm comm = Comm::world(device);
    collectives::NodeGroups groups = collectives::make_node_groups(comm);
    if (comm.rank() == 0)
        fmt::print("{:>5}  {:>9}  {:>9}  {:>9}  ratio  {:>9}  {:>9}  ratio\n", "ranks", "fp32", "best", "MPI",
                   "median", "MPI");
    for (const std::uint64_t bytes : {8, 1024, 16384, 65536, 262144}) measure(comm, groups, bytes, rounds);
    for (const std::uint64_t mebibytes : {1, 4, 16, 64}) measure(comm, groups, mebibytes << 20, rounds);
}

}  // namespace shardlings
