#include "lib/tools/agreement/compare.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "lib/machine/base/rounding.hpp"

namespace shardlings::agreement {

namespace {

constexpr double rounding_tolerance = 1e-12;
constexpr double precision_factor = 4.0;

using Values = std::span<const double>;

Values cut(const Observation& observation, Quantity quantity, const TensorPlace& place)
{
    return Values(observation.of(quantity))
        .subspan(static_cast<std::size_t>(place.begin), static_cast<std::size_t>(place.count));
}

double largest(Values values)
{
    double result = 0.0;
    for (const double value : values) result = std::max(result, std::abs(value));
    return result;
}

double root_mean_square(Values a, Values b)
{
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum / static_cast<double>(a.size()));
}

/// The largest distance of two elements; one that is NaN on one side is infinitely far.
struct Furthest {
    double distance = 0.0;
    std::int64_t index = 0;
};
Furthest furthest(Values a, Values b)
{
    Furthest result;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
        const double distance = same ? 0.0 : std::abs(a[i] - b[i]);
        if (distance > result.distance || std::isnan(distance))
            result = {std::isnan(distance) ? INFINITY : distance, static_cast<std::int64_t>(i)};
    }
    return result;
}

/// How far a tensor is off and how far it may be.
struct Measured {
    double error;
    double allowed;
};
using Measure = std::function<Measured(Quantity, std::size_t tensor, const Furthest&)>;

double excess(const Deviation& deviation)
{
    if (deviation.allowed > 0.0) return deviation.error / deviation.allowed;
    return deviation.kept() ? 0.0 : INFINITY;
}

std::vector<Deviation> worst_of_each(const Observation& expected, const Observation& got,
                                     const std::vector<TensorPlace>& places, const Measure& measure)
{
    std::vector<Deviation> worst;
    for (const Quantity quantity : quantities) {
        if (expected.of(quantity).empty()) continue;
        Deviation largest_one{quantity, 0.0, 0.0, places.front().name, 0, 0.0, 0.0};
        bool first = true;
        for (std::size_t tensor = 0; tensor < places.size(); ++tensor) {
            const TensorPlace& place = places[tensor];
            const Values a = cut(expected, quantity, place);
            const Values b = cut(got, quantity, place);
            const Furthest far = furthest(a, b);
            const Measured m = measure(quantity, tensor, far);
            const auto at = static_cast<std::size_t>(far.index);
            const Deviation one{quantity, m.error, m.allowed, place.name, far.index, a[at], b[at]};
            if (first || excess(one) > excess(largest_one)) largest_one = one;
            first = false;
        }
        worst.push_back(largest_one);
    }
    return worst;
}

double relative(double expected, double got)
{
    if (expected == got) return 0.0;
    return std::abs(got - expected) / std::abs(expected);
}

}  // namespace

bool Comparison::kept() const
{
    return loss_error <= loss_allowed && norm_error <= norm_allowed &&
           std::ranges::all_of(deviations, &Deviation::kept);
}

Comparison compare_bitwise(const Observation& expected, const Observation& got,
                           const std::vector<TensorPlace>& places, bool loss_too)
{
    Comparison result;
    result.loss_error = relative(expected.report.loss, got.report.loss);
    result.loss_allowed = loss_too ? 0.0 : 1e-14;
    result.norm_error = relative(expected.report.gradient_norm, got.report.gradient_norm);
    result.deviations = worst_of_each(expected, got, places, [](Quantity, std::size_t, const Furthest& far) {
        return Measured{far.distance, 0.0};
    });
    return result;
}

Judge::Judge(const TrainOptions& options)
    : options_(options),
      places_(places_of(options.shape)),
      slack_(static_cast<std::size_t>(places_.back().begin + places_.back().count)),
      response_(places_.size())
{
}

double Judge::gradient_allowed(const Observation& exact, const Observation& single,
                               const TensorPlace& place) const
{
    const Values truth = cut(exact, Quantity::gradient, place);
    if (options_.dtype == DType::fp64) return rounding_tolerance * largest(truth);
    return precision_factor * std::max(furthest(truth, cut(single, Quantity::gradient, place)).distance,
                                       unit_roundoff(options_.dtype) * largest(truth));
}

void Judge::move_parameters(const Observation& exact, const Observation& single)
{
    ++step_;
    const auto t = static_cast<double>(step_);
    const double norm = exact.report.gradient_norm;
    const double clip = options_.max_norm > 0.0 ? std::min(1.0, options_.max_norm / norm) : 1.0;
    const double correction = 1.0 - std::pow(options_.adamw.beta2, t);
    for (const TensorPlace& place : places_) {
        const double d = clip * gradient_allowed(exact, single, place);
        const Values v = cut(exact, Quantity::v, place);
        for (std::size_t i = 0; i < v.size(); ++i)
            slack_[static_cast<std::size_t>(place.begin) + i] +=
                options_.adamw.learning_rate *
                std::min(2.0 * std::sqrt(t),
                         (1.0 + std::sqrt(t)) * d / (std::sqrt(v[i] / correction) + options_.adamw.epsilon));
    }
}

double Judge::distance_of(std::span<const double> a, std::span<const double> b) const
{
    return options_.dtype == DType::fp64 ? furthest(a, b).distance : root_mean_square(a, b);
}

void Judge::respond(const Observation& exact)
{
    const Values gradient(exact.of(Quantity::gradient));
    for (std::size_t i = 0; i < places_.size() && !previous_.empty(); ++i) {
        const auto begin = static_cast<std::size_t>(places_[i].begin);
        const auto count = static_cast<std::size_t>(places_[i].count);
        response_[i] +=
            part_off_ * distance_of(gradient.subspan(begin, count), Values(previous_).subspan(begin, count));
    }
    previous_.assign(gradient.begin(), gradient.end());
}

double Judge::allowed(const Observation& exact, const Observation& single, Quantity quantity,
                      std::size_t tensor) const
{
    const TensorPlace& place = places_[tensor];
    // The exact run has no master weights: its parameters are as good.
    const bool is_parameter = quantity == Quantity::parameter || quantity == Quantity::master;
    const Values truth = cut(exact, is_parameter ? Quantity::parameter : quantity, place);
    const Values slack = Values(slack_).subspan(static_cast<std::size_t>(place.begin), truth.size());
    // m and v hold weighted sums of gradients and of their squares: what those may be off by, so may they.
    const double weight = quantity == Quantity::m   ? 1.0 - options_.adamw.beta1
                          : quantity == Quantity::v ? (1.0 - options_.adamw.beta2) * 2.0 *
                                                          largest(cut(exact, Quantity::gradient, place))
                                                    : 1.0;
    if (options_.dtype == DType::fp64)
        return (quantity == Quantity::v ? 2.0 : 1.0) * rounding_tolerance * largest(truth) +
               (is_parameter ? largest(slack) : weight * response_[tensor]);
    const auto own = [&](Quantity which) {
        const Values there = cut(exact, which == Quantity::master ? Quantity::parameter : which, place);
        return std::max(root_mean_square(there, cut(single, which, place)),
                        unit_roundoff(options_.dtype) * largest(there));
    };
    const std::vector<double> zero(truth.size());
    if (is_parameter) return precision_factor * own(quantity) + root_mean_square(slack, zero);
    const double gradient = own(Quantity::gradient) + response_[tensor];
    if (quantity == Quantity::gradient) return precision_factor * gradient;
    return precision_factor * (own(quantity) + weight * gradient);
}

double Judge::norm_allowed(const Observation& exact, const Observation& single) const
{
    double sum = 0.0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const double distance = allowed(exact, single, Quantity::gradient, i);
        sum += static_cast<double>(places_[i].count) * distance * distance;
    }
    return std::sqrt(sum) / exact.report.gradient_norm;
}

Comparison Judge::compare(const Observation& exact, const Observation& single, const Observation& got)
{
    respond(exact);
    move_parameters(exact, single);
    const bool is_exact = options_.dtype == DType::fp64;
    const auto number_allowed = [&](double exact_value, double single_value) {
        return is_exact ? rounding_tolerance
                        : precision_factor *
                              std::max(relative(exact_value, single_value), unit_roundoff(options_.dtype));
    };
    Comparison result;
    result.loss_error = relative(exact.report.loss, got.report.loss);
    result.loss_allowed = number_allowed(exact.report.loss, single.report.loss);
    result.norm_error = relative(exact.report.gradient_norm, got.report.gradient_norm);
    result.norm_allowed = is_exact ? rounding_tolerance : norm_allowed(exact, single);
    result.deviations =
        worst_of_each(single, got, places_, [&](Quantity quantity, std::size_t tensor, const Furthest& far) {
            const Quantity there = quantity == Quantity::master ? Quantity::parameter : quantity;
            const TensorPlace& place = places_[tensor];
            const double error = is_exact
                                     ? far.distance
                                     : root_mean_square(cut(exact, there, place), cut(got, quantity, place));
            return Measured{error, allowed(exact, single, quantity, tensor)};
        });
    part_off_ = distance_of(single.of(Quantity::parameter), got.of(Quantity::parameter)) /
                options_.adamw.learning_rate;
    return result;
}

}  // namespace shardlings::agreement
