#include "lessons/01_transformer/linear.hpp"

#include "lib/tools/grade/judge.hpp"
#include "tests/lib/catch.hpp"

using namespace grade;

TEST_CASE("01.1 linear_forward: y = x w + b", "[01.1]")
{
    std::vector<CaseInput> cases;
    Device device{DeviceOptions{}};
    json inputs = {{"x", tensor_input({2, 3, 5}, DType::fp64, random_values("x", 30, DType::fp64))},
                   {"w", tensor_input({5, 4}, DType::fp64, random_values("w", 20, DType::fp64))},
                   {"b", tensor_input({4}, DType::fp64, random_values("b", 4, DType::fp64))}};
    const auto results = run_cases("linear", {one_rank("linear_forward", inputs)});
    if (!results[0].failure.empty()) FAIL(results[0].failure);
}
