// What every rank holds after every step of the ring all-reduce on 4 ranks. Nothing is computed twice here:
// the all-reduce runs, and which chunk a message carried is read off its length. Chunks differ by at most one
// element, so in a run with 4 + k elements the chunks below k have two and the others one; the runs with
// k = 1, 2, 3 together tell all four apart.
#include <fmt/core.h>

#include <array>
#include <string>
#include <vector>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/tensor/tensor.hpp"

using namespace collectives;

namespace {

constexpr int p = 4;
constexpr int half = p - 1;         // steps of the reduce-scatter, and of the all-gather
constexpr int messages = 2 * half;  // of each rank

/// The chunk in each of this rank's messages.
std::vector<std::int32_t> chunks_sent(int rank)
{
    std::vector<std::int32_t> chunks(messages, 0);
    for (int longer = 1; longer < p; ++longer) {
        DeviceOptions options;
        options.rank = rank;
        options.topology.devices_per_node = p;
        options.record = true;
        Device device(options);
        Comm comm = Comm::world(device);
        Tensor values(device, {p + longer}, DType::fp64, Category::gradients);
        values.fill_zero();
        ring_all_reduce(comm, values.buffer());
        std::size_t message = 0;
        for (const Event& event : device.events())
            if (event.kind == "send") chunks.at(message++) += event.bytes == sizeof(double) ? 1 : 0;
    }
    return chunks;
}

/// Of each rank and chunk: whose values its sum holds, in the order in which they were added.
using Sums = std::array<std::array<std::string, p>, p>;

/// The sum of 2^rank over the ranks in a sum, which says which they are.
double number_of(const std::string& sum)
{
    double number = 0.0;
    for (const char rank : sum) number += 1 << (rank - '0');
    return number;
}

/// Error unless the ranks hold these sums after `collective`, run on the numbers 2^rank.
template <class Collective>
void check_held(Comm& comm, const Sums& sums, Collective collective)
{
    std::array<double, p> held;
    held.fill(1 << comm.rank());
    collective(comm, buffer_of(std::span<double>(held)));
    if (comm.rank() != 0) return comm.send(buffer_of(std::span<const double>(held)), 0);
    for (int rank = 0; rank < p; ++rank) {
        if (rank > 0) comm.recv(buffer_of(std::span<double>(held)), rank);
        for (std::size_t chunk = 0; chunk < p; ++chunk) {
            const double expected = number_of(sums.at(static_cast<std::size_t>(rank)).at(chunk));
            check(held.at(chunk) == expected, "rank {}, chunk {}: {} and not {}", rank, chunk, held.at(chunk),
                  expected);
        }
    }
}

void print(const std::string& title, const Sums& sums)
{
    fmt::print("{:<8}", title);
    for (const auto& rank : sums) {
        fmt::print("  ");
        for (const std::string& sum : rank) fmt::print("{:>6}", sum);
    }
    fmt::print("\n");
}

int run(const MpiSession& session)
{
    check(session.size() == p, "expected {} ranks, not {}", p, session.size());
    std::vector<std::int32_t> chunks = chunks_sent(session.rank());
    DeviceOptions options;
    options.rank = session.rank();
    options.topology.devices_per_node = p;
    Device device(options);
    Comm comm = Comm::world(device);
    std::array<std::vector<std::int32_t>, p> sent;  // by rank
    if (comm.rank() != 0) comm.send(buffer_of(std::span<const std::int32_t>(chunks)), 0);
    for (int rank = 0; rank < p && comm.rank() == 0; ++rank) {
        if (rank > 0) comm.recv(buffer_of(std::span<std::int32_t>(chunks)), rank);
        sent[static_cast<std::size_t>(rank)] = chunks;
    }

    Sums sums;
    for (std::size_t rank = 0; rank < p; ++rank) sums[rank].fill(std::to_string(rank));
    if (comm.rank() == 0) {
        fmt::print("{:<8}", "");
        for (int rank = 0; rank < p; ++rank)
            fmt::print("  {:>24}", fmt::format("rank {}: chunks 0 to 3", rank));
        fmt::print("\n");
        print("before", sums);
    }
    for (std::size_t step = 0; step < messages; ++step) {
        const bool adds = step < half;
        const Sums before = sums;
        Sums shown = sums;
        for (std::size_t from = 0; from < p && comm.rank() == 0; ++from) {
            const auto chunk = static_cast<std::size_t>(sent[from][step]);
            const std::size_t to = (from + 1) % p;
            sums[to][chunk] = before[from][chunk] + (adds ? before[to][chunk] : "");
            shown[to][chunk] = (adds ? "+" : "=") + sums[to][chunk];
        }
        if (comm.rank() == 0) print(fmt::format("step {}", step + 1), shown);
        if (step + 1 == half) check_held(comm, sums, ring_reduce_scatter);
    }
    check_held(comm, sums, ring_all_reduce);
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, run);
}
