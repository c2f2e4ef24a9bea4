// Runs one case of lesson 00 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "lib/tools/grade/driver.hpp"

#include <algorithm>

#include "lessons/00_devices/memory.hpp"
#include "lessons/00_devices/messages.hpp"

using namespace grade;

namespace {

Shape shape_of(const std::vector<double>& numbers)
{
    return {numbers.begin(), numbers.end()};
}

void make_zeros(Case& c)
{
    const Shape shape = shape_of(c.numbers("shape"));
    const DType dtype = parse_dtype(c.text("dtype"));
    c.start_measuring();
    const Tensor zeros = devices::make_zeros(c.device(), shape, dtype);
    c.stop_measuring();
    c.put("zeros", zeros);
}

void layer_bytes(Case& c)
{
    const std::uint64_t bytes =
        devices::layer_bytes(c.integer("rows"), c.integer("n"), c.integer("m"), parse_dtype(c.text("dtype")));
    c.put("bytes", std::to_string(bytes));
}

void rows_that_fit(Case& c)
{
    const auto used = static_cast<std::size_t>(c.integer("used"));
    const Allocation there_already = c.device().allocate(used, Category::parameters);
    const DType dtype = parse_dtype(c.text("dtype"));
    c.start_measuring();
    const std::int64_t rows = devices::rows_that_fit(c.device(), c.integer("columns"), dtype);
    c.stop_measuring();
    c.put("rows", static_cast<double>(rows));
}

void ping_pong(Case& c)
{
    const std::vector<double> values = c.numbers("message");
    std::vector<std::byte> message(values.size());
    std::ranges::transform(values, message.begin(), [](double x) { return static_cast<std::byte>(x); });
    c.device().clock().advance(c.number("start"));
    c.start_measuring();
    const double seconds = devices::ping_pong(c.comm(), message, static_cast<int>(c.integer("rounds")));
    c.stop_measuring();
    std::vector<double> after(message.size());
    std::ranges::transform(message, after.begin(), [](std::byte x) { return static_cast<double>(x); });
    c.put("seconds", seconds);
    c.put("message", after);
}

void measure_link(Case& c)
{
    c.device().clock().advance(c.number("start"));
    c.start_measuring();
    const devices::LinkCost cost = devices::measure_link(c.comm());
    c.stop_measuring();
    c.put("alpha", cost.alpha);
    c.put("beta", cost.beta);
    c.put("end", c.device().clock().now());
}

void sum_around_the_ring(Case& c)
{
    c.device().clock().advance(c.number("start"));
    c.start_measuring();
    const double sum = devices::sum_around_the_ring(c.comm(), c.number("value"));
    c.stop_measuring();
    c.put("sum", sum);
}

/// In groups of every `groups`-th rank, the last of them first.
void sum_around_rings(Case& c)
{
    const int rank = c.comm().rank();
    Comm group = c.comm().split(rank % static_cast<int>(c.integer("groups")), -rank);
    c.put("sum", devices::sum_around_the_ring(group, c.number("value")));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv,
                      {{"make_zeros", make_zeros},
                       {"layer_bytes", layer_bytes},
                       {"rows_that_fit", rows_that_fit},
                       {"ping_pong", ping_pong},
                       {"measure_link", measure_link},
                       {"sum_around_the_ring", sum_around_the_ring},
                       {"sum_around_rings", sum_around_rings}});
}
