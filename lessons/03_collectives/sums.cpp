// Rounding in all-reduced sums: the order of adding, agreement of the ranks, and what p has to do with it.
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/rounding.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/tensor/arithmetic.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/machine/tensor/tensor.hpp"

using namespace collectives;

namespace {

using AllReduceFunction = void (*)(Comm&, Buffer);

Tensor bf16(Device& device, const std::vector<double>& values)
{
    Tensor tensor(device, {static_cast<std::int64_t>(values.size())}, DType::bf16, Category::gradients);
    from_doubles(values, tensor);
    return tensor;
}

/// Error unless every rank holds the bits of rank 0.
void check_same_on_all(Comm& comm, Tensor& values)
{
    if (comm.rank() != 0) return comm.send(values.buffer(), 0);
    Tensor other = make_like(values, Category::workspace);
    for (int rank = 1; rank < comm.size(); ++rank) {
        comm.recv(other.buffer(), rank);
        check(std::memcmp(other.buffer().data, values.buffer().data, values.bytes()) == 0,
              "ranks 0 and {} hold different bits", rank);
    }
}

/// 256 from rank 0 and 1 from each other rank, in four chunks of one element.
void print_order(Comm& comm)
{
    const auto report = [&](const char* name, AllReduceFunction all_reduce) {
        const double own = comm.rank() == 0 ? 256.0 : 1.0;
        Tensor values = bf16(comm.device(), {own, own, own, own});
        all_reduce(comm, values.buffer());
        check_same_on_all(comm, values);
        if (comm.rank() != 0) return;
        fmt::print("{:<20}", name);
        for (const double sum : to_doubles(values)) fmt::print("{:>6}", sum);
        fmt::print("\n");
    };
    if (comm.rank() == 0) fmt::print("256 + 1 + 1 + 1 in bf16, chunks 0 to 3, the same on all 4 ranks\n");
    report("ring", ring_all_reduce);
    report("recursive doubling", recursive_doubling_all_reduce);
}

constexpr int parts = 8;
constexpr std::int64_t elements = 1000;

/// Eight vectors of numbers in [0, 1), rounded to bf16: the gradients of eight samples, say.
std::vector<Tensor> samples(Device& device)
{
    std::vector<Tensor> all;
    for (std::uint64_t part = 0; part < parts; ++part) {
        const RandomStream stream(part, "sample");
        std::vector<double> values;
        for (std::uint64_t i = 0; i < elements; ++i) values.push_back(stream.uniform(i));
        all.push_back(bf16(device, values));
    }
    return all;
}

/// The sum of all samples on the p ranks of `comm`: each adds its own 8/p, in their order, then the ring.
std::vector<double> sum_on(Comm& comm)
{
    std::vector<Tensor> all = samples(comm.device());
    const std::size_t each = parts / static_cast<std::size_t>(comm.size());
    const std::size_t first = each * static_cast<std::size_t>(comm.rank());
    for (std::size_t i = 1; i < each; ++i) add(all[first + i].buffer(), all[first].buffer());
    ring_all_reduce(comm, all[first].buffer());
    check_same_on_all(comm, all[first]);
    return to_doubles(all[first]);
}

struct Difference {
    int elements = 0;
    double largest = 0.0;  // of |a - b| / b
};

Difference difference(const std::vector<double>& a, const std::vector<double>& b)
{
    Difference result;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i]) ++result.elements;
        result.largest = std::max(result.largest, std::abs(a[i] - b[i]) / b[i]);
    }
    return result;
}

void print_degrees(Comm& world)
{
    std::vector<double> exact(elements, 0.0);
    for (const Tensor& sample : samples(world.device())) {
        const std::vector<double> values = to_doubles(sample);
        for (std::size_t i = 0; i < exact.size(); ++i) exact[i] += values[i];
    }
    const double u = unit_roundoff(DType::bf16);
    if (world.rank() == 0)
        fmt::print(
            "\n1000 sums of the same 8 numbers in bf16, u = 2^-8\n"
            "{:>3}{:>22}{:>30}\n",
            "p", "other than with p = 1", "largest relative error / u");
    std::vector<double> of_one;
    for (const int p : {1, 2, 4, 8}) {
        Comm comm = world.split(world.rank() < p ? 0 : 1, world.rank());
        if (world.rank() >= p) continue;
        const std::vector<double> sum = sum_on(comm);
        if (p == 1) of_one = sum;
        if (world.rank() == 0)
            fmt::print("{:>3}{:>22}{:>30.2f}\n", p, difference(sum, of_one).elements,
                       difference(sum, exact).largest / u);
    }
    if (world.rank() == 0)
        fmt::print("bound for 7 additions{:>34.2f}\n", (parts - 1) / (1 - (parts - 1) * u));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        check(session.size() == parts, "expected {} ranks, not {}", parts, session.size());
        DeviceOptions options;
        options.rank = session.rank();
        options.topology.devices_per_node = session.size();
        Device device(options);
        Comm world = Comm::world(device);
        Comm four = world.split(world.rank() < 4 ? 0 : 1, world.rank());
        if (world.rank() < 4) print_order(four);
        print_degrees(world);
        return 0;
    });
}
