#include "lib/tools/bench/watch.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/launch/launch.hpp"

namespace shardlings {

namespace {

constexpr std::array<int, 3> lengths{8, 65536, 1048576};  // bytes
constexpr int blocks = 60;                                // of which the shortest counts
constexpr double bytes_of_a_block = 4e6;
constexpr int most_round_trips = 400;
constexpr double launch_limit = 120.0;  // seconds

double seconds_per_round_trip(int rank, std::vector<char>& message, int length)
{
    const int count = std::clamp(static_cast<int>(bytes_of_a_block / length), 4, most_round_trips);
    const int peer = 1 - rank;
    double best = 1e30;
    for (int block = 0; block < blocks; ++block) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        for (int i = 0; i < count; ++i) {
            if (rank == 0) MPI_Send(message.data(), length, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(message.data(), length, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(message.data(), length, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
        }
        best = std::min(best, (MPI_Wtime() - begin) / count);
    }
    return best;
}

/// What a launch of this program prints, watched or not.
std::array<double, lengths.size()> launch_and_measure(bool watched)
{
    const std::string self = std::filesystem::canonical("/proc/self/exe").string();
    Command command = mpirun_command(2, {self, "bench", "watch", "--measure"});
    if (watched) {
        const Command watch{self, "diagnose", "--no-checksums", "--"};
        command.insert(command.begin(), watch.begin(), watch.end());
    }
    const ProcessResult result = run_captured(command, mpirun_environment(), launch_limit);
    check(result.exit_code == 0 && result.signal == 0 && !result.timed_out, "a launch failed: {}",
          result.output);
    std::array<double, lengths.size()> seconds{};
    std::istringstream lines(result.output);
    for (double& one : seconds)
        check(static_cast<bool>(lines >> one), "a launch printed no time: {}", result.output);
    return seconds;
}

}  // namespace

void measure_watched_messages(MpiSession& session)
{
    check(session.size() == 2, "messages go to and fro between 2 ranks, not {}", session.size());
    for (const int length : lengths) {
        std::vector<char> message(static_cast<std::size_t>(length));
        const double seconds = seconds_per_round_trip(session.rank(), message, length);
        if (session.rank() == 0) fmt::print("{:.9g}\n", seconds);
    }
}

void bench_watch(int rounds)
{
    check(rounds >= 1 && rounds <= 1000, "--rounds is {}: expected 1 to 1000", rounds);
    std::array<double, lengths.size()> alone;
    alone.fill(1e30);
    auto watched = alone;
    for (int round = 0; round < rounds; ++round)
        for (auto* best : {&alone, &watched}) {
            const auto seconds = launch_and_measure(best == &watched);
            for (std::size_t i = 0; i < lengths.size(); ++i) (*best)[i] = std::min((*best)[i], seconds[i]);
        }
    fmt::print("{:>10}  {:>12}  {:>12}  ratio\n", "message", "alone", "watched");
    for (std::size_t i = 0; i < lengths.size(); ++i)
        fmt::print("{:>10}  {:>12}  {:>12}  {:.3f}\n", format_bytes(static_cast<std::size_t>(lengths[i])),
                   format_seconds(alone[i]), format_seconds(watched[i]), watched[i] / alone[i]);
}

}  // namespace shardlings
