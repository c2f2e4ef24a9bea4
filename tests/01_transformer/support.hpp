// What the tests of this lesson share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/tools/grade/judge.hpp"

namespace lesson01 {

using namespace grade;

/// All dtypes that a layer must work in.
inline constexpr DType all_dtypes[] = {DType::fp64, DType::fp32, DType::bf16, DType::fp16};

/// One case: what a message calls it, what goes in, and what is wrong with what came out (empty: nothing).
struct Judged {
    std::string name;
    CaseInput input;
    std::function<std::string(const RankResult&)> problem;
};

/// Runs the cases in one launch on the driver of the source file `file`. Fails the test with what is wrong
/// with the first case that is wrong, and how many are.
void judge(const std::string& file, const std::vector<Judged>& cases);

/// The cases of an operation for all shapes and dtypes: inputs(shapes, dtype) makes what goes in, and
/// problem(result, shapes, dtype, inputs) says what is wrong.
template <class Shapes, class Inputs, class Problem>
std::vector<Judged> for_all(const std::vector<Shapes>& all_shapes, const char* operation, Inputs inputs,
                            Problem problem)
{
    std::vector<Judged> cases;
    for (const Shapes& s : all_shapes)
        for (const DType dtype : all_dtypes) {
            const json in = inputs(s, dtype);
            cases.push_back({s.name(dtype), one_rank(operation, in),
                             [=](const RankResult& got) { return problem(got, s, dtype, in); }});
        }
    return cases;
}

/// A random tensor; `name` and the seed of the test choose the numbers.
json random_tensor(const std::string& name, const Shape& shape, DType dtype, double scale = 1.0);
json zeros(const Shape& shape, DType dtype);
/// `count` random numbers from 0 to below − 1.
std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int64_t below);

/// What the reference is given and gives: the numbers of a JSON tensor in fp64, and back, called `dtype` so
/// that it can be compared with a result of that dtype.
Tensor exact(Device& device, const json& tensor);
Tensor absolute(Device& device, const json& tensor);
json as_expected(const Tensor& tensor, DType dtype);
double largest(const Tensor& tensor);
double largest(const json& tensor);

/// The dtype of sums and statistics: fp64 for fp64, else fp32.
inline DType sum_dtype(DType dtype)
{
    return dtype == DType::fp64 ? DType::fp64 : DType::fp32;
}

/// The unit roundoff: half the step between 1 and the next number.
inline double roundoff(DType dtype)
{
    return epsilon_of(dtype) / 2.0;
}

/// |got − expected| <= steps u magnitude + v |expected|: `steps` roundings of numbers no larger than
/// `magnitude` in the type that is computed in (u), and one of the result to 16 bits (v), if it has 16 bits.
Tolerance rounding(DType dtype, double steps, double magnitude);

/// compare() of a gradient that was `before` when the function was called, which says so when the function
/// assigned what it should have added.
std::string compare_added(const std::string& name, const json& got, const json& expected, const json& before,
                          Tolerance tolerance);

/// What every function promises besides its numbers.
struct Promise {
    std::vector<json> returned;  // tensors, allocated anew
    double workspace = 0.0;      // bytes that may be held in between, beside what is returned
    double flops = 0.0;          // charged to the device
    DType dtype = DType::fp64;   // 16-bit types are converted in workspace memory: their peak is not judged
};

/// What is wrong with memory, charged FLOPs or inputs; empty when all is as promised.
std::string broken_promise(const RankResult& result, const Promise& promise);

/// A forward operation and its backward operation, to be compared by differences.
struct Derivative {
    std::string forward;  // operations of the driver
    std::string backward;
    json inputs;           // of forward, all in fp64
    json backward_inputs;  // of backward, gradients zero
    std::string output;    // of forward: "y"
    json weights;          // the objective is Σ weights · output
    /// Inputs that are moved together, along one random direction a group.
    std::vector<std::vector<std::string>> directions;
    std::string prefix = "d";  // what backward puts before an input's name for its gradient
};

/// Fails the test unless backward's gradients are the derivative of forward's objective along every
/// direction, to 1e-7 relative. Both are judged: differences of order 6 of the forward that the driver has,
/// in one launch.
void judge_derivative(const std::string& file, const Derivative& derivative);

}  // namespace lesson01
