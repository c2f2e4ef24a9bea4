#include "lessons/01_transformer/cross_entropy.hpp"

#include <cmath>

#include "tests/01_transformer/support.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

constexpr double dloss = 3.0;

struct Shapes {
    Shape logits;    // (..., V)
    bool uncounted;  // some targets are −1

    std::int64_t vocabulary() const { return logits.back(); }
    std::int64_t rows() const { return elements_of(logits) / vocabulary(); }
    std::vector<std::int32_t> targets() const
    {
        std::vector<std::int32_t> ids = random_ids("cross_entropy targets", rows(), vocabulary());
        for (std::size_t i = 0; uncounted && i < ids.size(); i += 3) ids[i] = -1;
        return ids;
    }
    /// 1 / rows of a global batch that this is a half of.
    double weight() const { return 0.5 / static_cast<double>(rows()); }
    std::string name(DType dtype) const
    {
        return fmt::format("logits ({}), {}{}", to_string(logits), name_of(dtype),
                           uncounted ? ", every third target -1" : "");
    }
};

const std::vector<Shapes> all_shapes{
    {{2, 3, 5}, false}, {{1, 1, 1}, false}, {{7, 33}, true}, {{3, 1, 2}, true}, {{1, 1, 4}, true}};

json forward_inputs(const Shapes& s, DType dtype)
{
    return {{"logits", random_tensor("cross_entropy logits", s.logits, dtype, 2.0)},
            {"targets", s.targets()},
            {"weight", s.weight()}};
}

transformer::CrossEntropyOutput reference(Device& device, const json& in)
{
    return transformer::cross_entropy_forward(exact(device, in.at("logits")),
                                              in.at("targets").get<std::vector<std::int32_t>>(),
                                              in.at("weight").get<double>());
}

/// Roundings of numbers up to |logit| + log V in log Σ exp: a difference, exp (which is off by the
/// difference's error and 4 more), V sums, log, a sum.
double log_denominator_error(const Shapes& s, DType dtype, const json& in)
{
    const auto v = static_cast<double>(s.vocabulary());
    return roundoff(sum_dtype(dtype)) * (v + 8 + 8 * largest(in.at("logits")) + std::log(v));
}

std::string forward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const transformer::CrossEntropyOutput expected = reference(device, in);
    const double error = log_denominator_error(s, dtype, in);
    // Every row is off by its own error; the sum and its weight add what fp64 does.
    const double loss_error = 2 * static_cast<double>(s.rows()) * s.weight() * error;
    const json loss = as_expected(expected.loss, DType::fp64);
    const json log_denominator = as_expected(expected.log_denominator, sum_dtype(dtype));
    return join({compare("log_denominator", got.outputs.at("log_denominator"), log_denominator, {0.0, error}),
                 compare("loss", got.outputs.at("loss"), loss, {0.0, loss_error}),
                 broken_promise(got, {{loss, log_denominator}, 0.0, 0.0, dtype})});
}

json backward_inputs(const Shapes& s, DType dtype)
{
    json in = forward_inputs(s, dtype);
    Device device{DeviceOptions{}};
    Tensor rounded(device, {s.rows()}, sum_dtype(dtype), Category::activations);
    from_doubles(to_doubles(reference(device, in).log_denominator), rounded);
    in["log_denominator"] = tensor_input(rounded);
    in["dloss"] = dloss;
    return in;
}

std::string backward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const Tensor expected =
        transformer::cross_entropy_backward(dloss, exact(device, in.at("logits")),
                                            exact(device, in.at("log_denominator")), s.targets(), s.weight());
    // exp of a difference of up to 2 |logit| + log V, which is one rounding of it, and 8 roundings of at
    // most 1.
    const double steps = 8 + 2 * largest(in.at("logits")) + std::log(static_cast<double>(s.vocabulary()));
    Tolerance tolerance = rounding(dtype, steps, dloss * s.weight());
    // softmax − 1 cancels in 16 bits where softmax was rounded before.
    if (is_sixteen_bit(dtype)) tolerance.absolute += roundoff(dtype) * dloss * s.weight();
    return join({compare("dlogits", got.outputs.at("dlogits"), as_expected(expected, dtype), tolerance),
                 broken_promise(got, {{}, 0.0, 0.0, dtype})});
}

}  // namespace

TEST_CASE("01.6 cross_entropy_forward: loss and log_denominator", "[01.6]")
{
    judge("cross_entropy", for_all(all_shapes, "cross_entropy_forward", forward_inputs, forward_problem));
}

TEST_CASE("01.6 cross_entropy_forward: rows by hand, large logits, the sum in fp64", "[01.6]")
{
    std::vector<Judged> cases;
    const auto number_case = [&](const std::string& name, const json& in, double loss, double error) {
        cases.push_back({name, one_rank("cross_entropy_forward", in), [=](const RankResult& got) {
                             return compare("loss", got.outputs.at("loss"),
                                            tensor_input({1}, DType::fp64, {loss}), {0.0, error});
                         }});
    };
    // exp: 1, 2, 5 of 8; 4, 4 of 8 and nothing else.
    number_case("logits log 1, log 2, log 5 with target 1: the loss is log 4",
                {{"logits", tensor_input({1, 3}, DType::fp64, {0.0, std::log(2.0), std::log(5.0)})},
                 {"targets", {1}},
                 {"weight", 1.0}},
                std::log(4.0), 16 * roundoff(DType::fp64));
    number_case("logits 1000, 1000, -1000 in fp32: exp overflows unless the largest is subtracted",
                {{"logits", tensor_input({1, 3}, DType::fp32, {1000.0, 1000.0, -1000.0})},
                 {"targets", {0}},
                 {"weight", 1.0}},
                std::log(2.0), 1000 * 4 * roundoff(DType::fp32));
    // 2²⁴ and a thousand times 1: in fp32 the sum would stay at 2²⁴.
    std::vector<double> logits{0.0, -0x1p24};
    std::vector<std::int32_t> targets{1};
    for (int i = 0; i < 1000; ++i) {
        logits.insert(logits.end(), {std::log(std::exp(1.0) - 1.0), 0.0});
        targets.push_back(1);
    }
    number_case(
        "a row of loss 2^24 and 1000 of loss 1 in fp32: is the loss summed in fp64?",
        {{"logits", tensor_input({1001, 2}, DType::fp32, logits)}, {"targets", targets}, {"weight", 1.0}},
        0x1p24 + 1000.0, 1000 * 16 * roundoff(DType::fp32));
    judge("cross_entropy", cases);
}

TEST_CASE("01.6 cross_entropy_backward: dlogits, in the memory of the logits", "[01.6]")
{
    judge("cross_entropy", for_all(all_shapes, "cross_entropy_backward", backward_inputs, backward_problem));
}

TEST_CASE("01.6 cross_entropy_backward: the derivative of cross_entropy_forward", "[01.6]")
{
    const Shapes s{{2, 4, 5}, true};
    json backward = backward_inputs(s, DType::fp64);
    judge_derivative("cross_entropy", {"cross_entropy_forward",
                                       "cross_entropy_backward",
                                       forward_inputs(s, DType::fp64),
                                       backward,
                                       "loss",
                                       tensor_input({1}, DType::fp64, {dloss}),
                                       {{"logits"}}});
}
