#include <cmath>

#include "tests/02_training_step/support.hpp"

using namespace training_test;

namespace {

/// The same sum, element by element.
double squares_in_order(const std::vector<double>& values)
{
    double sum = 0.0;
    for (const double value : values) sum += value * value;
    return sum;
}

std::string compare_sum(double got, double expected, DType dtype)
{
    if (got == expected) return "";
    const std::string message = compare_number("the sum of squares", got, expected, {});
    const double error = std::abs(got - expected) / std::abs(expected);
    if (error < 1e-12)
        return message +
               "; right up to rounding, but every layout must get the same bits: add the squares one "
               "by one, in the order of the elements";
    if (error < 1e-5)
        return message +
               "; about as far off as a sum in fp32: convert every element to double before squaring";
    if (!std::isfinite(got))
        return message +
               fmt::format("; the square does not fit {}: convert to double before squaring", name_of(dtype));
    return message;
}

NamedCase sum_case(const std::string& name, DType dtype, const std::vector<double>& values,
                   std::int64_t offset = 0)
{
    const auto all = static_cast<std::int64_t>(values.size());
    const std::int64_t count = all - 2 * offset;
    const std::vector<double> part(values.begin() + offset, values.begin() + offset + count);
    json inputs = {{"gradient", tensor_input({all}, dtype, values)}, {"offset", offset}, {"count", count}};
    return {
        fmt::format("{} {}, {} elements", name, name_of(dtype), count), one_rank("sum_of_squares", inputs),
        [=](const RankResult& result) {
            return std::vector{
                compare_sum(result.outputs.at("sum").get<double>(), squares_in_order(part), dtype),
                compare("gradient", result.outputs.at("gradient"), tensor_input({all}, dtype, values), {})};
        }};
}

}  // namespace

TEST_CASE("02.2 sum_of_squares: bitwise, of every dtype and size", "[02.2]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const std::int64_t count : {1, 2, 3, 17, 1000, 4099})
            cases.push_back(sum_case("random", dtype, random_values("squares", count, dtype)));
    cases.push_back(sum_case("inner", DType::bf16, random_values("inner", 1501, DType::bf16), 3));
    cases.push_back(sum_case("no", DType::fp32, random_values("none", 6, DType::fp32), 3));
    // Squares that the dtype cannot hold.
    cases.push_back(sum_case("large", DType::fp16, rounded({60000.0, -50000.0, 1.0}, DType::fp16)));
    cases.push_back(sum_case("small", DType::fp16, rounded({6e-8, 6e-8, 1e-7}, DType::fp16)));
    cases.push_back(sum_case("large", DType::bf16, rounded({1e38, 3e38, -1.0}, DType::bf16)));
    cases.push_back(sum_case("large", DType::fp32, rounded({1e30, -2e25}, DType::fp32)));
    cases.push_back(sum_case("small", DType::fp32, rounded({1e-30, 3e-40}, DType::fp32)));
    run_and_check("clipping", cases);
}

TEST_CASE("02.2 global_norm: the root of the sums, added in their order", "[02.2]")
{
    std::vector<std::vector<double>> lists{
        {25.0}, {9.0, 16.0}, {0.0, 0.0}, {}, {1.0, 1e-16, 1e-16, 1e-16}, {1e-16, 1e-16, 1e-16, 1.0}};
    std::vector<double> many;
    for (const double value : random_values("sums", 57, DType::fp64, 3.0)) many.push_back(value * value);
    lists.push_back(many);
    std::vector<NamedCase> cases;
    for (const auto& sums : lists) {
        double sum = 0.0;
        for (const double part : sums) sum += part;
        const double expected = std::sqrt(sum);
        cases.push_back({fmt::format("{} segments", sums.size()), one_rank("global_norm", {{"sums", sums}}),
                         [=](const RankResult& result) {
                             return std::vector{compare_number(
                                 "the norm", result.outputs.at("norm").get<double>(), expected, {})};
                         }});
    }
    run_and_check("clipping", cases);
}

TEST_CASE("02.2 clip_factor: never lengthens, off at 0", "[02.2]")
{
    struct Clip {
        double norm, max_norm, expected;
    };
    const std::vector<Clip> clips{{4.0, 1.0, 1.0 / (4.0 + 1e-6)},
                                  {1e-3, 1.0, 1.0},
                                  {0.0, 1.0, 1.0},
                                  {1.0, 1.0, 1.0 / (1.0 + 1e-6)},
                                  {1e9, 0.5, 0.5 / (1e9 + 1e-6)},
                                  {2e-6, 1e-6, 1.0 / 3.0},
                                  {123.0, 0.0, 1.0},
                                  {0.0, 0.0, 1.0}};
    std::vector<NamedCase> cases;
    for (const Clip& clip : clips)
        cases.push_back({fmt::format("norm {}, max_norm {}", clip.norm, clip.max_norm),
                         one_rank("clip_factor", {{"norm", clip.norm}, {"max_norm", clip.max_norm}}),
                         [=](const RankResult& result) {
                             // A sum and a quotient, here and there: 4 roundings.
                             return std::vector{
                                 compare_number("the factor", result.outputs.at("factor").get<double>(),
                                                clip.expected, {4.0 * unit_roundoff(DType::fp64), 0.0})};
                         }});
    run_and_check("clipping", cases);
}
