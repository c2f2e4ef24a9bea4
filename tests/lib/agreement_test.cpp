// What lib/tools/agreement calls a broken promise, and what it lets pass.
#include <cmath>

#include "lib/tools/agreement/compare.hpp"
#include "lib/tools/agreement/sweep.hpp"
#include "tests/lib/catch.hpp"

using namespace shardlings;
using namespace shardlings::agreement;

namespace {

TrainOptions small(DType dtype)
{
    TrainOptions options;
    options.shape.layers = 1;
    options.shape.hidden = 4;
    options.shape.heads = 2;
    options.shape.sequence = 3;
    options.dtype = dtype;
    options.max_norm = 0.0;
    return options;
}

/// A step in which every element of every quantity is known and none is zero.
Observation step_of(const TrainOptions& options)
{
    const std::vector<TensorPlace> places = places_of(options.shape);
    const auto elements = static_cast<std::size_t>(places.back().begin + places.back().count);
    Observation observation;
    observation.report.loss = 5.5;
    observation.report.gradient_norm = 2.0;
    for (const Quantity quantity : quantities) {
        if (quantity == Quantity::master && !is_sixteen_bit(options.dtype)) continue;
        std::vector<double>& values = observation.values[static_cast<std::size_t>(quantity)];
        values.resize(elements);
        for (std::size_t i = 0; i < elements; ++i)
            values[i] = (quantity == Quantity::v ? 0.01 : 0.1) * (1.0 + 0.5 * std::sin(double(i)));
    }
    return observation;
}

/// Every number changed by a rounding of `u`, up or down.
Observation rounded(const Observation& exact, double u, int turn)
{
    Observation result = exact;
    for (std::vector<double>& values : result.values)
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] *= (i * 7 + turn) % 2 == 0 ? 1.0 + u : 1.0 - u;
    return result;
}

double& element(Observation& observation, Quantity quantity, std::size_t index)
{
    return observation.values[static_cast<std::size_t>(quantity)][index];
}

const Deviation& of(const Comparison& comparison, Quantity quantity)
{
    return comparison.deviations[static_cast<std::size_t>(quantity)];
}

}  // namespace

TEST_CASE("agreement: bitwise means every bit of every quantity", "[agreement]")
{
    const TrainOptions options = small(DType::bf16);
    const std::vector<TensorPlace> places = places_of(options.shape);
    const Observation expected = step_of(options);
    CHECK(compare_bitwise(expected, expected, places, true).kept());
    for (const Quantity quantity : quantities) {
        Observation got = expected;
        double& value = element(got, quantity, 17);
        value = std::nextafter(value, 1.0);
        const Comparison comparison = compare_bitwise(expected, got, places, true);
        CHECK_FALSE(comparison.kept());
        CHECK(of(comparison, quantity).index == 17 - places[0].begin);
        CHECK(of(comparison, quantity).tensor == places[0].name);
    }
    Observation got = expected;
    got.report.gradient_norm = std::nextafter(2.0, 3.0);
    CHECK_FALSE(compare_bitwise(expected, got, places, true).kept());
    got = expected;
    got.report.loss = std::nextafter(5.5, 6.0);
    CHECK_FALSE(compare_bitwise(expected, got, places, true).kept());
    CHECK(compare_bitwise(expected, got, places, false).kept());
}

TEST_CASE("agreement: fp64 may be off by 1e-12 of a tensor's largest element", "[agreement]")
{
    const TrainOptions options = small(DType::fp64);
    const Observation expected = step_of(options);
    CHECK(Judge(options).compare(expected, expected, rounded(expected, 0x1p-50, 0)).kept());
    for (const Quantity quantity : {Quantity::gradient, Quantity::parameter, Quantity::m, Quantity::v}) {
        Observation got = expected;
        // Adam moves a parameter by up to lr when its gradient is off, so it may be off by more itself.
        element(got, quantity, 30) *= quantity == Quantity::parameter ? 1.0 + 1e-6 : 1.0 + 1e-11;
        const Comparison comparison = Judge(options).compare(expected, expected, got);
        CHECK_FALSE(comparison.kept());
        CHECK_FALSE(of(comparison, quantity).kept());
    }
    Observation got = expected;
    element(got, Quantity::gradient, 5) = NAN;
    CHECK_FALSE(Judge(options).compare(expected, expected, got).kept());
}

TEST_CASE("agreement: fp64 gradients answer to parameters that Adam has moved", "[agreement]")
{
    const TrainOptions options = small(DType::fp64);
    const Observation first = step_of(options);
    const std::vector<TensorPlace> places = places_of(options.shape);
    const auto changed = static_cast<std::size_t>(places[3].begin);
    const auto unchanged = static_cast<std::size_t>(places[4].begin);
    Observation second = first;
    for (std::int64_t i = 0; i < places[3].count; ++i)
        element(second, Quantity::gradient, changed + static_cast<std::size_t>(i)) += 0.05;
    // A parameter is off by a part of the learning rate, less than its own rounding allows; the gradient of
    // the second step, which has changed by 0.05, may be off by that part of 0.05.
    constexpr double off = 5e-14;
    const double response = off / options.adamw.learning_rate * 0.05;
    REQUIRE(response > 5e-13);  // beside what rounding allows, 2e-13 at most
    const auto kept = [&](double parameter, Quantity quantity, std::size_t at, double by) {
        Judge judge(options);
        Observation got = first;
        element(got, Quantity::parameter, 0) += parameter;
        CHECK(judge.compare(first, first, got).kept());
        got = second;
        element(got, quantity, at) += by;
        return judge.compare(second, second, got).kept();
    };
    CHECK(kept(off, Quantity::gradient, changed, 0.9 * response));
    CHECK_FALSE(kept(off, Quantity::gradient, changed, 1.5 * response));
    CHECK_FALSE(kept(off, Quantity::gradient, unchanged, 0.9 * response));
    CHECK_FALSE(kept(0.0, Quantity::gradient, changed, 0.9 * response));
    const double of_m = (1.0 - options.adamw.beta1) * response;
    CHECK(kept(off, Quantity::m, changed, 0.9 * of_m));
    CHECK_FALSE(kept(off, Quantity::m, changed, 1.5 * of_m));
    CHECK_FALSE(kept(0.0, Quantity::m, changed, 0.9 * of_m));
}

TEST_CASE("agreement: in fewer bits as near to fp64 as the single process", "[agreement]")
{
    const auto [dtype, u] = GENERATE(std::pair{DType::fp32, 0x1p-20}, std::pair{DType::bf16, 0x1p-6},
                                     std::pair{DType::fp16, 0x1p-8});
    const TrainOptions options = small(dtype);
    const Observation exact = step_of(options);
    const Observation single = rounded(exact, u, 0);
    const Observation got = rounded(exact, u, 1);
    CHECK(Judge(options).compare(exact, single, got).kept());
    // A gradient of which one rank of eight is missing.
    Observation wrong = got;
    const TensorPlace place = places_of(options.shape)[3];
    for (std::int64_t i = 0; i < place.count; ++i)
        element(wrong, Quantity::gradient, static_cast<std::size_t>(place.begin + i)) *= 7.0 / 8.0;
    const Comparison comparison = Judge(options).compare(exact, single, wrong);
    CHECK_FALSE(comparison.kept());
    CHECK(of(comparison, Quantity::gradient).tensor == place.name);
}

TEST_CASE("agreement: a norm may be off by what the gradients may", "[agreement]")
{
    const auto [dtype, u] = GENERATE(std::pair{DType::fp32, 0x1p-20}, std::pair{DType::bf16, 0x1p-6});
    const TrainOptions options = small(dtype);
    Observation exact = step_of(options);
    double squares = 0.0;
    for (const double g : exact.of(Quantity::gradient)) squares += g * g;
    exact.report.gradient_norm = std::sqrt(squares);
    // Every element is off by u, so the gradients may be by 4 u; the single process's norm is right by
    // chance.
    const Observation single = rounded(exact, u, 0);
    const auto kept = [&, u = u](double factor) {
        Observation got = rounded(exact, u, 1);
        got.report.gradient_norm *= factor;
        return Judge(options).compare(exact, single, got).kept();
    };
    CHECK(kept(1.0 + 2.0 * u));
    CHECK(kept(1.0 - 2.0 * u));
    CHECK_FALSE(kept(1.0 + 8.0 * u));
    CHECK_FALSE(kept(1.0 - 8.0 * u));
}

TEST_CASE("agreement: a tensor that no update reached is seen in the parameters", "[agreement]")
{
    const TrainOptions options = small(DType::fp64);
    const Observation expected = step_of(options);
    Observation got = expected;
    const TensorPlace place = places_of(options.shape)[4];
    for (std::int64_t i = 0; i < place.count; ++i)
        element(got, Quantity::parameter, static_cast<std::size_t>(place.begin + i)) +=
            options.adamw.learning_rate;
    const Comparison comparison = Judge(options).compare(expected, expected, got);
    CHECK_FALSE(comparison.kept());
    CHECK(of(comparison, Quantity::parameter).tensor == place.name);
}

TEST_CASE("agreement: the layouts of a sweep", "[agreement]")
{
    const auto takes_all = [](const std::string&) { return TrainOptions(); };
    const auto takes_no_tensor_ranks = [](const std::string& flags) {
        check(flags.find("--tp 1") != std::string::npos, "not legal");
        return TrainOptions();
    };
    const std::vector<LayoutCase> all = legal_layouts(4, "", takes_all);
    const auto count = [&](int ranks) { return std::ranges::count(all, ranks, &LayoutCase::ranks); };
    // One rank: three ways to recompute. Two: 4 schedules, 4 ZeRO stages, 2 with or without sequence
    // parallelism, times 3.
    CHECK(count(1) == 3);
    CHECK(count(2) == (4 + 4 + 2) * 3);
    CHECK(count(3) == (4 + 4 + 2) * 3);
    // 4x1x1, 1x4x1, 1x1x4, then 2x2x1, 2x1x2 and 1x2x2.
    CHECK(count(4) == (4 + 4 + 2 + 4 * 4 + 4 * 2 + 4 * 2) * 3);
    CHECK(legal_layouts(2, "", takes_no_tensor_ranks).size() == (1 + 4 + 4) * 3);
    const std::vector<LayoutCase> some = sample(all, 10, 7);
    CHECK(some.size() == 10);
    CHECK(std::ranges::equal(some, sample(all, 10, 7), {}, &LayoutCase::flags, &LayoutCase::flags));
    CHECK_FALSE(std::ranges::equal(some, sample(all, 10, 8), {}, &LayoutCase::flags, &LayoutCase::flags));
    CHECK(sample(all, 1000, 1).size() == all.size());
}
