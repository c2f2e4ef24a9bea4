#include "lessons/01_transformer/attention.hpp"

#include <cmath>

#include "tests/01_transformer/support.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

struct Shapes {
    std::int64_t sequences, tokens, heads, head_size;

    std::int64_t hidden() const { return heads * head_size; }
    Shape qkv() const { return {sequences, tokens, 3 * hidden()}; }
    Shape y() const { return {sequences, tokens, hidden()}; }
    /// Of one product of every head's (T, d) and (d, T), or (T, T) and (T, d).
    double product_flops() const { return 2.0 * static_cast<double>(sequences * tokens * tokens * hidden()); }
    std::string name(DType dtype) const
    {
        return fmt::format("B = {}, T = {}, a = {}, d = {}, {}", sequences, tokens, heads, head_size,
                           name_of(dtype));
    }
};

const std::vector<Shapes> all_shapes{{2, 5, 3, 4}, {1, 1, 1, 1}, {1, 7, 1, 6}, {3, 1, 2, 3}, {2, 9, 4, 1}};

json forward_inputs(const Shapes& s, DType dtype)
{
    return {{"qkv", random_tensor("attention qkv", s.qkv(), dtype)}, {"heads", s.heads}};
}

transformer::AttentionOutput reference(Device& device, const json& in)
{
    return transformer::attention_forward(exact(device, in.at("qkv")), in.at("heads").get<std::int64_t>());
}

/// Roundings in a probability, of numbers up to `most`² sqrt(d) (a score) or 1: the score is d products, it
/// and the row's largest move by as many; exp, the sum over T and the quotient.
double probability_steps(const Shapes& s, double most)
{
    const auto d = static_cast<double>(s.head_size);
    return 2 * (2 * (d + 2) + 2) * most * most * std::sqrt(d) + 8 + static_cast<double>(s.tokens) + 2;
}

std::string forward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const transformer::AttentionOutput expected = reference(device, in);
    const double most = largest(in.at("qkv"));
    const double steps = probability_steps(s, most);
    // y averages V with the probabilities, T products and sums; these may have been rounded to 16 bits
    // before.
    Tolerance y_tolerance = rounding(dtype, steps + static_cast<double>(s.tokens) + 1, most);
    if (is_sixteen_bit(dtype)) y_tolerance.absolute += roundoff(dtype) * most;
    const json y = as_expected(expected.y, dtype);
    const json probabilities = as_expected(expected.probabilities, dtype);
    return join({compare("probabilities", got.outputs.at("probabilities"), probabilities,
                         rounding(dtype, steps, 1.0)),
                 compare("y", got.outputs.at("y"), y, y_tolerance),
                 broken_promise(got, {{y, probabilities}, 0.0, 2 * s.product_flops(), dtype})});
}

json backward_inputs(const Shapes& s, DType dtype)
{
    json in = forward_inputs(s, dtype);
    Device device{DeviceOptions{}};
    Tensor rounded(device, {s.sequences, s.heads, s.tokens, s.tokens}, dtype, Category::activations);
    from_doubles(to_doubles(reference(device, in).probabilities), rounded);
    in["probabilities"] = tensor_input(rounded);
    in["dy"] = random_tensor("attention dy", s.y(), dtype);
    return in;
}

std::string backward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const Tensor expected =
        transformer::attention_backward(exact(device, in.at("dy")), exact(device, in.at("qkv")),
                                        exact(device, in.at("probabilities")), s.heads);
    const auto d = static_cast<double>(s.head_size);
    const auto t = static_cast<double>(s.tokens);
    const double most = largest(in.at("qkv"));
    const double dy = largest(in.at("dy"));
    // dP <= d |dy| |V| after d roundings, dS <= 2 P dP after T more, both dQ and dK sum T of P (a column of P
    // sums to T at most) times K or Q / sqrt(d) after T more; dV sums T of P |dy|.
    const double steps = 2 * d + 4 * t + 16;
    const double size = t * dy * std::max(1.0, 2 * d * most * most / std::sqrt(d));
    const json dqkv = as_expected(expected, dtype);
    const double one_head =
        static_cast<double>(s.tokens * s.tokens) * static_cast<double>(size_of(sum_dtype(dtype)));
    return join({compare("dqkv", got.outputs.at("dqkv"), dqkv, rounding(dtype, steps, size)),
                 broken_promise(got, {{dqkv}, one_head, 4 * s.product_flops(), dtype})});
}

}  // namespace

TEST_CASE("01.4 attention_forward: y and the probabilities", "[01.4]")
{
    judge("attention", for_all(all_shapes, "attention_forward", forward_inputs, forward_problem));
}

TEST_CASE("01.4 attention_forward: two tokens by hand, future tokens unseen, large scores", "[01.4]")
{
    std::vector<Judged> cases;
    // d = 4: q1 k0 = 0 and q1 k1 = 2 log 3, over sqrt(4): token 1 sees tokens 0 and 1 as 1 : 3.
    const double a = 2.0 * std::log(3.0);
    const std::vector<double> qkv{7, 7, 7, 7, 0, 5, 5, 5, 4, 8, 0, 0,  //
                                  a, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 4};
    cases.push_back(
        {"T = 2, d = 4, scores of token 1: 0 and log 3",
         one_rank("attention_forward", {{"qkv", tensor_input({1, 2, 12}, DType::fp64, qkv)}, {"heads", 1}}),
         [](const RankResult& got) {
             const Tolerance close{0.0, 64 * roundoff(DType::fp64)};  // numbers up to 8, 8 roundings
             return join({compare("probabilities", got.outputs.at("probabilities"),
                                  tensor_input({1, 1, 2, 2}, DType::fp64, {1, 0, 0.25, 0.75}), close),
                          compare("y", got.outputs.at("y"),
                                  tensor_input({1, 2, 4}, DType::fp64, {4, 8, 0, 0, 7, 2, 0, 3}), close)});
         }});
    // Scores of ±10⁴: exp overflows every type unless the row's largest is subtracted.
    const Shapes s{1, 3, 1, 2};
    const json large = {{"qkv", random_tensor("attention large", s.qkv(), DType::fp32, 100.0)}, {"heads", 1}};
    cases.push_back({"scores of thousands: is the largest of the row subtracted before exp?",
                     one_rank("attention_forward", large),
                     [=](const RankResult& got) { return forward_problem(got, s, DType::fp32, large); }});
    judge("attention", cases);
}

TEST_CASE("01.4 attention_forward: what comes later changes nothing before", "[01.4]")
{
    const Shapes s{2, 5, 2, 3};
    const json before = forward_inputs(s, DType::fp64);
    json after = before;
    const auto row = static_cast<std::size_t>(3 * s.hidden());
    std::vector<double> values = before.at("qkv").at("values").get<std::vector<double>>();
    for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < row; ++i) values[(b * 5 + 4) * row + i] += 1.0;  // the last token
    after["qkv"]["values"] = values;
    const std::vector<CaseResult> results =
        run_cases("attention", {one_rank("attention_forward", before), one_rank("attention_forward", after)});
    for (const CaseResult& result : results)
        if (!result.failure.empty()) FAIL(result.failure);
    const auto y_before = results[0].ranks[0].outputs.at("y").at("values").get<std::vector<double>>();
    const auto y_after = results[1].ranks[0].outputs.at("y").at("values").get<std::vector<double>>();
    const auto width = static_cast<std::size_t>(s.hidden());
    for (std::size_t i = 0; i < y_before.size(); ++i)
        if (i / width % 5 != 4 && y_before[i] != y_after[i])
            FAIL(fmt::format("y of token {} changes when token 4 does: token i may see tokens 0..i only",
                             i / width % 5));
}

TEST_CASE("01.4 attention_backward: dqkv", "[01.4]")
{
    judge("attention", for_all(all_shapes, "attention_backward", backward_inputs, backward_problem));
}

TEST_CASE("01.4 attention_backward: the derivative of attention_forward", "[01.4]")
{
    const Shapes s{2, 4, 2, 3};
    const json backward = backward_inputs(s, DType::fp64);
    judge_derivative("attention", {"attention_forward",
                                   "attention_backward",
                                   forward_inputs(s, DType::fp64),
                                   backward,
                                   "y",
                                   backward.at("dy"),
                                   {{"qkv"}}});
}
