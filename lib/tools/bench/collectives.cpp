#include "lib/tools/bench/collectives.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <vector>

#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/tensor/tensor.hpp"
#include "lib/tools/launch/launch.hpp"

namespace shardlings {

namespace {

constexpr std::array rank_counts{2, 4, 8};
constexpr std::array<std::uint64_t, 9> lengths{8,       1 << 10, 1 << 14, 1 << 16, 1 << 18,
                                               1 << 20, 1 << 22, 1 << 24, 1 << 26};
constexpr std::uint64_t longest_short = 1 << 18;
constexpr int turns = 5;
constexpr double seconds_of_a_turn = 0.01;
constexpr double launch_limit = 600.0;  // seconds

using Call = std::function<void()>;

/// Seconds of one of `count` calls, on the slowest rank.
double seconds_of(const Call& call, int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) call();
    double seconds = (MPI_Wtime() - begin) / count;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

/// Error unless the sum of a one from each rank is what it should be.
void check_sum(const Call& call, Tensor& values, int ranks, std::string_view name)
{
    std::ranges::fill(values.span<float>(), 1.0F);
    call();
    for (const float value : values.span<float>())
        check(value == static_cast<float>(ranks), "{}: {} is not the sum of {} ones", name, value, ranks);
}

/// Prints "BYTES OURS MPI'S", in seconds, for every turn.
void measure(Comm& comm, collectives::NodeGroups& groups, std::uint64_t bytes)
{
    const auto count = static_cast<int>(bytes / sizeof(float));
    Tensor values(comm.device(), {count}, DType::fp32, Category::gradients);
    const Call ours = [&] {
        if (bytes <= longest_short)
            collectives::all_reduce(comm, groups, values.buffer());
        else
            collectives::ring_all_reduce(comm, values.buffer());
    };
    const Call mpi = [&] {
        MPI_Allreduce(MPI_IN_PLACE, values.span<float>().data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    };
    check_sum(ours, values, comm.size(), "all_reduce");
    check_sum(mpi, values, comm.size(), "MPI_Allreduce");
    values.fill_zero();  // their sums stay zero, however often they are taken
    const int calls = std::clamp(static_cast<int>(seconds_of_a_turn / seconds_of(mpi, 3)), 1, 1000);
    for (int turn = 0; turn < turns; ++turn) {
        const double of_ours = seconds_of(ours, calls);
        const double of_mpi = seconds_of(mpi, calls);
        if (comm.rank() == 0) fmt::print("{} {} {}\n", bytes, of_ours, of_mpi);
    }
}

/// What the turns of all launches took.
struct Times {
    std::vector<double> ours;
    std::vector<double> mpi;
};

/// Adds the turns of a launch of `ranks` ranks to `times`, by length.
void launch_and_measure(int ranks, std::map<std::uint64_t, Times>& times)
{
    const std::string self = std::filesystem::canonical("/proc/self/exe").string();
    const ProcessResult result =
        run_captured(mpirun_command(ranks, {self, "bench", "collectives", "--measure"}), mpirun_environment(),
                     launch_limit);
    check(result.exit_code == 0 && result.signal == 0 && !result.timed_out,
          "the launch of {} ranks failed: {}", ranks, result.output);
    std::istringstream lines(result.output);
    std::uint64_t bytes = 0;
    double ours = 0.0;
    double mpi = 0.0;
    while (lines >> bytes >> ours >> mpi) {
        times[bytes].ours.push_back(ours);
        times[bytes].mpi.push_back(mpi);
    }
}

void print_row(int ranks, std::uint64_t bytes, Times times)
{
    std::ranges::sort(times.ours);
    std::ranges::sort(times.mpi);
    const auto columns = [&](std::size_t place) {
        const double ours = times.ours[place];
        const double mpi = times.mpi[place];
        return fmt::format("{:>9}  {:>9}  {:>5.2f}", format_seconds(ours), format_seconds(mpi), ours / mpi);
    };
    fmt::print("{:>5}  {:>9}  {}  {}\n", ranks, format_bytes(bytes), columns(0),
               columns(times.ours.size() / 2));
}

}  // namespace

void measure_collectives(MpiSession& session)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.topology.devices_per_node = session.size();
    Device device(options);
    Comm comm = Comm::world(device);
    collectives::NodeGroups groups = collectives::make_node_groups(comm);
    for (const std::uint64_t bytes : lengths) measure(comm, groups, bytes);
}

void bench_collectives(int rounds)
{
    check(rounds >= 1 && rounds <= 100, "--rounds is {}: expected 1 to 100", rounds);
    std::map<int, std::map<std::uint64_t, Times>> times;
    for (int round = 0; round < rounds; ++round)
        for (const int ranks : rank_counts) launch_and_measure(ranks, times[ranks]);
    fmt::print("{:>5}  {:>9}  {:>9}  {:>9}  ratio  {:>9}  {:>9}  ratio\n", "ranks", "fp32", "best", "MPI's",
               "median", "MPI's");
    for (const auto& [ranks, of_length] : times)
        for (const auto& [bytes, turns_taken] : of_length) print_row(ranks, bytes, turns_taken);
}

}  // namespace shardlings
