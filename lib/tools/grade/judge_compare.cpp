#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/tools/grade/judge.hpp"

namespace grade {

namespace {

std::uint64_t test_seed()
{
    const char* text = std::getenv("SHARDLINGS_TEST_SEED");
    return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

/// "[1, 0, 3]" of a row-major index.
std::string index_text(const Shape& shape, std::int64_t index)
{
    std::string text;
    for (std::size_t d = shape.size(); d-- > 0;) {
        text = std::to_string(index % shape[d]) + (text.empty() ? "" : ", ") + text;
        index /= shape[d];
    }
    return "[" + text + "]";
}

bool within(double got, double expected, Tolerance tolerance)
{
    return std::abs(got - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

bool all_within(const std::vector<double>& got, const std::vector<double>& expected, double factor,
                Tolerance tolerance)
{
    for (std::size_t i = 0; i < got.size(); ++i)
        if (!within(got[i], factor * expected[i], tolerance)) return false;
    return true;
}

/// The factor c with got ≈ c · expected everywhere, if there is one.
std::optional<double> constant_factor(const std::vector<double>& got, const std::vector<double>& expected)
{
    double dot = 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        dot += got[i] * expected[i];
        square += expected[i] * expected[i];
    }
    if (square == 0.0 || got.size() < 2) return std::nullopt;
    const double factor = dot / square;
    const double largest = std::abs(factor) * std::sqrt(square / static_cast<double>(got.size()));
    if (!all_within(got, expected, factor, {1e-3, 1e-3 * largest})) return std::nullopt;
    return factor;
}

bool is_transposed(const std::vector<double>& got, const std::vector<double>& expected, const Shape& shape,
                   Tolerance tolerance)
{
    if (shape.size() != 2) return false;
    const auto rows = static_cast<std::size_t>(shape[0]);
    const auto columns = static_cast<std::size_t>(shape[1]);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            if (!within(got[j * rows + i], expected[i * columns + j], tolerance)) return false;
    return true;
}

/// What a wrong result usually means, where it can be told from its values.
std::string likely_cause(const std::vector<double>& got, const std::vector<double>& expected,
                         const Shape& shape, Tolerance tolerance)
{
    if (std::any_of(got.begin(), got.end(), [](double x) { return std::isnan(x); }))
        return "; it holds NaN: memory that was never written, or 0/0 or inf − inf";
    if (std::all_of(got.begin(), got.end(), [](double x) { return x == 0.0; }))
        return "; every element is 0: nothing was written or added";
    if (is_transposed(got, expected, shape, tolerance)) return "; it is the transpose of what is expected";
    if (const auto factor = constant_factor(got, expected)) {
        if (std::abs(*factor + 1.0) < 1e-3) return "; every element has the wrong sign";
        if (std::abs(*factor - 1.0) > 1e-3)
            return fmt::format("; every element is off by the factor {:.4g}", *factor);
    }
    return "";
}

/// " (3.5 ulp off)": |got − expected| in units of the last place of `expected` in its dtype; empty where that
/// says nothing: far off, or next to zero.
std::string error_in_ulp(double got, double expected, DType dtype)
{
    constexpr double far = 1e6;
    if (expected == 0.0) return "";
    int exponent = 0;
    std::frexp(expected, &exponent);
    const double ulps = std::abs(got - expected) / std::ldexp(epsilon_of(dtype), exponent - 1);
    return ulps < far ? fmt::format(" ({:.3g} ulp off)", ulps) : "";
}

std::string difference(const std::string& name, const Shape& shape, const std::vector<double>& got,
                       const std::vector<double>& expected, DType dtype, Tolerance tolerance)
{
    std::int64_t wrong = 0;
    std::size_t first = got.size();
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (within(got[i], expected[i], tolerance)) continue;
        ++wrong;
        first = std::min(first, i);
    }
    if (wrong == 0) return "";
    return fmt::format("{}{} is {:.9g}, expected {:.9g}{}; {} of {} elements differ{}", name,
                       index_text(shape, static_cast<std::int64_t>(first)), got[first], expected[first],
                       error_in_ulp(got[first], expected[first], dtype), wrong, got.size(),
                       likely_cause(got, expected, shape, tolerance));
}

}  // namespace

json tensor_input(const Shape& shape, DType dtype, const std::vector<double>& values)
{
    return {{"shape", shape}, {"dtype", name_of(dtype)}, {"values", values}};
}

json tensor_input(const Tensor& tensor)
{
    return tensor_input(tensor.shape(), tensor.dtype(), to_doubles(tensor));
}

std::vector<double> random_values(const std::string& name, std::int64_t count, DType dtype, double scale)
{
    const RandomStream stream(test_seed(), name);
    Device device{DeviceOptions{}};
    Tensor rounded(device, {count}, dtype, Category::workspace);
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * stream.normal(i);
    from_doubles(values, rounded);
    return to_doubles(rounded);
}

std::string compare(const std::string& name, const json& got, const json& expected, Tolerance tolerance)
{
    if (!got.is_object() || !got.contains("values")) return fmt::format("{} was not returned", name);
    const auto shape = got.at("shape").get<Shape>();
    const auto expected_shape = expected.at("shape").get<Shape>();
    if (shape != expected_shape)
        return fmt::format("{} has the shape {}, expected {}", name, to_string(shape),
                           to_string(expected_shape));
    const auto dtype = parse_dtype(expected.at("dtype").get<std::string>());
    if (got.at("dtype") != expected.at("dtype"))
        return fmt::format("{} is {}, expected {}", name, got.at("dtype").get<std::string>(), name_of(dtype));
    const auto values = got.at("values").get<std::vector<double>>();
    if (static_cast<std::int64_t>(values.size()) != elements_of(shape))
        return fmt::format("{} has {}, expected {}", name, shardlings::counted(values.size(), "element"),
                           elements_of(shape));
    return difference(name, shape, values, expected.at("values").get<std::vector<double>>(), dtype,
                      tolerance);
}

std::string compare(const std::string& name, const json& got, const Tensor& expected, Tolerance tolerance)
{
    return compare(name, got, tensor_input(expected), tolerance);
}

std::string compare_number(const std::string& name, double got, double expected, Tolerance tolerance)
{
    if (within(got, expected, tolerance)) return "";
    std::string ratio = expected != 0.0 ? fmt::format(" ({:.6g} times that)", got / expected) : "";
    return fmt::format("{} is {:.17g}, expected {:.17g}{}", name, got, expected, ratio);
}

std::string join(const std::vector<std::string>& messages)
{
    std::string text;
    for (const std::string& message : messages)
        if (!message.empty()) text += (text.empty() ? "" : "\n") + message;
    return text;
}

}  // namespace grade
