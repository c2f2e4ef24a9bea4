#include <sstream>

#include "tests/lib/run_and_check.hpp"

using namespace grade;

namespace {

const std::vector<DType> dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};

NamedCase zeros_case(const Shape& shape, DType dtype, std::uint64_t budget)
{
    const auto bytes = static_cast<std::uint64_t>(elements_of(shape)) * size_of(dtype);
    NamedCase one;
    one.name = fmt::format("({}) of {}", to_string(shape), name_of(dtype));
    one.input = one_rank("make_zeros", {{"shape", shape}, {"dtype", name_of(dtype)}});
    one.input.budget = budget;
    one.check = [=](const CaseResult& result) -> std::vector<std::string> {
        const RankResult& rank = result.ranks[0];
        const std::vector<double> zeros(static_cast<std::size_t>(elements_of(shape)));
        const auto activations = rank.measured.at("current_by").at(static_cast<int>(Category::activations));
        const auto in_use = rank.measured.at("current").get<std::uint64_t>();
        const auto peak = rank.measured.at("peak").get<std::uint64_t>();
        std::vector<std::string> messages{
            compare("the tensor", rank.outputs.at("zeros"), tensor_input(shape, dtype, zeros), {})};
        if (in_use != bytes)
            messages.push_back(fmt::format("{} bytes of the device are in use, expected {}", in_use, bytes));
        else if (activations != bytes)
            messages.push_back("its memory is not counted as activations");
        if (peak > bytes)
            messages.push_back(fmt::format("needed {} bytes at its peak, expected {}", peak, bytes));
        return messages;
    };
    return one;
}

struct Layer {
    std::int64_t rows;
    std::int64_t n;
    std::int64_t m;
};

/// What a wrong number of bytes usually means.
std::string bytes_cause(std::uint64_t got, const Layer& layer, DType dtype)
{
    const auto size = static_cast<std::uint64_t>(size_of(dtype));
    const auto x_and_y = static_cast<std::uint64_t>(layer.rows * (layer.n + layer.m));
    const auto weight = static_cast<std::uint64_t>(layer.n * layer.m);
    if (got == (x_and_y + weight) * size)
        return "; the weight's gradient is as large as the weight, and missing";
    if (got == 2 * (x_and_y + weight) * size)
        return "; gradients of x and y are counted too, only the weight's is asked for";
    if (got == x_and_y + 2 * weight) return "; these are elements, not bytes";
    if (got == 4 * (x_and_y + 2 * weight)) return "; an element is not always 4 bytes: size_of(dtype)";
    const std::uint64_t expected = (x_and_y + 2 * weight) * size;
    if (static_cast<std::uint32_t>(got) == static_cast<std::uint32_t>(expected))
        return "; a 32-bit integer overflowed on the way";
    return "";
}

NamedCase bytes_case(const Layer& layer, DType dtype)
{
    const auto elements =
        static_cast<std::uint64_t>(layer.rows * (layer.n + layer.m) + 2 * layer.n * layer.m);
    const std::uint64_t expected = elements * size_of(dtype);
    NamedCase one;
    one.name = fmt::format("rows = {}, n = {}, m = {}, {}", layer.rows, layer.n, layer.m, name_of(dtype));
    one.input = one_rank("layer_bytes",
                         {{"rows", layer.rows}, {"n", layer.n}, {"m", layer.m}, {"dtype", name_of(dtype)}});
    one.check = [=](const CaseResult& result) -> std::vector<std::string> {
        std::uint64_t got = 0;
        std::istringstream(result.ranks[0].outputs.at("bytes").get<std::string>()) >> got;
        if (got == expected) return {};
        return {fmt::format("{} bytes, expected {}{}", got, expected, bytes_cause(got, layer, dtype))};
    };
    return one;
}

NamedCase rows_case(std::uint64_t budget, std::uint64_t used, std::int64_t columns, DType dtype)
{
    const auto row_bytes = static_cast<std::uint64_t>(columns) * size_of(dtype);
    const auto expected = static_cast<double>((budget - used) / row_bytes);
    NamedCase one;
    one.name = fmt::format("budget of {} bytes, {} of them in use, {} columns of {}", budget, used, columns,
                           name_of(dtype));
    one.input = one_rank("rows_that_fit", {{"used", used}, {"columns", columns}, {"dtype", name_of(dtype)}});
    one.input.budget = budget;
    one.check = [=](const CaseResult& result) -> std::vector<std::string> {
        const RankResult& rank = result.ranks[0];
        const auto rows = rank.outputs.at("rows").get<double>();
        const auto left = rank.measured.at("current").get<std::uint64_t>();
        std::vector<std::string> messages;
        if (rows != expected)
            messages.push_back(fmt::format("{} rows, expected {}{}", rows, expected,
                                           used > 0 && rows == static_cast<double>(budget / row_bytes)
                                               ? "; part of the budget is in use already"
                                               : ""));
        if (left != used)
            messages.push_back(fmt::format("left {} bytes in use, expected the {} of before", left, used));
        return messages;
    };
    return one;
}

}  // namespace

TEST_CASE("00.1 make_zeros: zeros of the shape and dtype, and exactly their bytes", "[00.1]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : dtypes)
        for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{2, 7, 3}, Shape{64, 33}})
            cases.push_back(zeros_case(shape, dtype, 1 << 20));
    run_and_check("memory", cases);
}

TEST_CASE("00.1 make_zeros: fits a budget of exactly its bytes, and none that is a byte smaller", "[00.1]")
{
    const NamedCase fits = zeros_case({16, 17}, DType::fp32, 16 * 17 * 4);
    run_and_check("memory", {fits});
    const NamedCase too_large = zeros_case({16, 17}, DType::fp32, 16 * 17 * 4 - 1);
    const CaseResult result = run_cases("memory", {too_large.input})[0];
    if (!result.ranks[0].out_of_memory)
        FAIL("1088 bytes on a device with a budget of 1087: expected DeviceOutOfMemory, got "
             << (result.failure.empty() ? "a tensor" : result.failure));
}

TEST_CASE("00.1 layer_bytes: x, y, the weight and its gradient", "[00.1]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : dtypes) {
        cases.push_back(bytes_case({1, 1, 1}, dtype));
        cases.push_back(bytes_case({7, 5, 3}, dtype));
        cases.push_back(bytes_case({2048, 768, 3072}, dtype));
    }
    cases.push_back(bytes_case({1 << 16, 1 << 15, 3}, DType::bf16));
    run_and_check("memory", cases);
}

TEST_CASE("00.1 rows_that_fit: the last row that the budget leaves room for", "[00.1]")
{
    run_and_check("memory",
                  {rows_case(4096, 0, 16, DType::fp32),  // 64 rows, exactly
                   rows_case(4095, 0, 16, DType::fp32),  // a byte too few for the last
                   rows_case(100'000, 30'000, 7, DType::fp64), rows_case(100'000, 30'001, 7, DType::fp16),
                   rows_case(65'536, 65'536, 1, DType::bf16),  // full: none
                   rows_case(1000, 0, 1000, DType::bf16),      // a row is larger than the device
                   rows_case(1 << 20, 12'345, 33, DType::fp32)});
}
