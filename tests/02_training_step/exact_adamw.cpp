#include "tests/02_training_step/exact_adamw.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace training_test {

namespace {

using std::abs;

/// 1 − beta^step and the relative error of computing it in double: pow is off by at most 2 units, which the
/// subtraction magnifies, and rounds once more.
Bounded correction(double beta, std::int64_t step)
{
    const long double power = std::pow(static_cast<long double>(beta), static_cast<long double>(step));
    const long double u = unit_roundoff(DType::fp64);
    return {1.0L - power, u * (2.0L * power / (1.0L - power) + 1.0L)};
}

/// How the new weight follows from the new m and v. See exact_update about the errors.
Bounded moved(const Update& update, const Element& e, Variant variant)
{
    const auto& o = update.options;
    const long double u = unit_roundoff(update.dtype), u64 = unit_roundoff(DType::fp64);
    const bool decays = update.decays != (variant == Variant::decay_flipped);
    const long double rate = variant == Variant::decay_without_rate ? 1.0L : o.learning_rate;
    const long double keep = decays ? 1.0L - rate * o.weight_decay : 1.0L;
    Bounded c1 = correction(o.beta1, update.step), c2 = correction(o.beta2, update.step);
    if (variant == Variant::no_correction || variant == Variant::no_correction_of_m) c1 = {1.0L, 0.0L};
    if (variant == Variant::no_correction || variant == Variant::no_correction_of_v) c2 = {1.0L, 0.0L};

    const long double v_hat = e.v.value / c2.value;
    const long double root = variant == Variant::no_root ? v_hat : std::sqrt(v_hat);
    const long double denominator =
        variant == Variant::epsilon_in_root ? std::sqrt(v_hat + o.epsilon) : root + o.epsilon;
    // |√a − √b| <= |a − b| / √a; roundings: √, 1/√correction, their product, the sum; epsilon.
    const long double denominator_error =
        (e.v.value > 0.0L ? root * e.v.error / e.v.value : std::sqrt(e.v.error / c2.value)) +
        denominator * (5.0L * u + c2.error + 2.0L * u64);

    const long double sign = variant == Variant::uphill ? -1.0L : 1.0L;
    const long double move = sign * o.learning_rate * (e.m.value / c1.value) / denominator;
    // Roundings: the step size, its product with m, the quotient.
    const long double move_error = o.learning_rate / c1.value * e.m.error / denominator +
                                   abs(move) * (3.0L * u + c1.error + u64 + denominator_error / denominator);

    const long double kept = keep * e.w.value;
    // Roundings: keep (twice in double), its product with w, the difference.
    return {kept - move, keep * e.w.error + abs(kept) * (3.0L * u + 2.0L * u64) + abs(move) * u + move_error};
}

json tensor_of(const std::vector<Element>& elements, Bounded Element::*what, DType dtype)
{
    std::vector<double> values;
    for (const Element& element : elements) values.push_back(static_cast<double>((element.*what).value));
    return tensor_input({static_cast<std::int64_t>(values.size())}, dtype, rounded(values, dtype));
}

std::vector<double> bounds_of(const std::vector<Element>& elements, Bounded Element::*what, DType dtype)
{
    std::vector<double> bounds;
    for (const Element& element : elements) {
        const Bounded& number = element.*what;
        // Second-order terms are covered by the factor 2, as is a long double no wider than double; the
        // expected value is itself rounded once.
        bounds.push_back(static_cast<double>(2.0L * number.error + unit_roundoff(dtype) * abs(number.value)));
    }
    return bounds;
}

std::string compare_elements(const std::string& name, const json& got, const std::vector<Element>& expected,
                             Bounded Element::*what, DType dtype)
{
    return compare_within(name, got, tensor_of(expected, what, dtype), bounds_of(expected, what, dtype));
}

/// "…" when m holds a constant multiple of the weight beside what it should hold.
std::string decay_in_m(const Update& update, const json& got, const std::vector<Element>& expected,
                       const std::vector<Element>& before)
{
    long double dot = 0.0L, square = 0.0L;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const long double excess = got.at("values").at(i).get<double>() - expected[i].m.value;
        dot += excess * before[i].w.value;
        square += before[i].w.value * before[i].w.value;
    }
    const long double share = square > 0.0L ? dot / square : 0.0L;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const long double excess = got.at("values").at(i).get<double>() - expected[i].m.value;
        const long double rounding = 8.0L * unit_roundoff(update.dtype) * abs(expected[i].m.value);
        if (abs(excess - share * before[i].w.value) > rounding + 1e-3L * abs(excess)) return "";
    }
    return fmt::format(
        "; m has {:.3g} times the weight in it: the decay was added to the gradient (L2), where "
        "AdamW takes it from the weight alone",
        static_cast<double>(share));
}

/// "…" when a moment is what it would be without the factor of the gradient.
std::string without_factor(std::vector<Update> updates, const std::vector<std::vector<double>>& gradients,
                           const std::vector<Element>& before, const json& got, Bounded Element::*what)
{
    for (Update& update : updates) update.gradient_factor = 1.0;
    const std::vector<Element> wrong = exact_updates(updates, gradients, before);
    if (!compare_elements("", got, wrong, what, updates[0].dtype).empty()) return "";
    return "; the gradient counts as gradient_factor times what is stored";
}

std::string cause_of_weights(const std::vector<Update>& updates,
                             const std::vector<std::vector<double>>& gradients,
                             const std::vector<Element>& before, const json& got, const std::string& name)
{
    const std::array<std::pair<Variant, const char*>, 9> known{{
        {Variant::no_correction, "m and v are not divided by their bias corrections 1 - beta^step"},
        {Variant::no_correction_of_m, "m is not divided by its bias correction 1 - beta1^step"},
        {Variant::no_correction_of_v, "v is not divided by its bias correction 1 - beta2^step"},
        {Variant::epsilon_in_root, "epsilon is added below the root, not to it"},
        {Variant::no_root, "the root of v is missing"},
        {Variant::decay_flipped, "the flag `decays` is not obeyed"},
        {Variant::decay_without_rate, "the decay is not multiplied by the learning rate"},
        {Variant::old_moments, "the step is made with m and v as they were before this update"},
        {Variant::uphill, "the step goes up the gradient, not down"},
    }};
    for (const auto& [variant, text] : known) {
        const auto wrong = exact_updates(updates, gradients, before, variant);
        if (compare_elements(name, got, wrong, &Element::w, updates[0].dtype).empty())
            return std::string("; ") + text;
    }
    return "";
}

}  // namespace

// Errors are followed to first order: every operation in the states' dtype adds u times its result, and
// errors of its operands pass through. A coefficient is rounded once on its way from double.
void exact_update(const Update& update, double gradient, Element& e, Variant variant)
{
    const auto& o = update.options;
    const long double u = unit_roundoff(update.dtype);
    const long double smallest = update.dtype == DType::fp32 ? std::numeric_limits<float>::denorm_min()
                                                             : std::numeric_limits<double>::denorm_min();
    const long double b1 = o.beta1, b2 = o.beta2, rest1 = 1.0L - b1, rest2 = 1.0L - b2;
    const Element old = e;
    // g = factor · gradient: both rounded to the states' dtype, and their product.
    const long double g = static_cast<long double>(update.gradient_factor) * gradient;
    const long double g_error = abs(g) * (3.0L * u + update.factor_error);
    // Each term: coefficient, product (two for g²), sum.
    e.m = {b1 * e.m.value + rest1 * g, b1 * e.m.error + rest1 * g_error +
                                           3.0L * u * (abs(b1 * e.m.value) + abs(rest1 * g)) +
                                           3.0L * smallest};
    e.v = {b2 * e.v.value + rest2 * g * g, b2 * e.v.error + 2.0L * rest2 * abs(g) * g_error +
                                               u * (3.0L * b2 * e.v.value + 4.0L * rest2 * g * g) +
                                               3.0L * smallest};
    e.w = moved(update, variant == Variant::old_moments ? old : e, variant);
}

std::vector<Update> consecutive(const Update& first, int count)
{
    std::vector<Update> updates;
    for (int i = 0; i < count; ++i) {
        updates.push_back(first);
        updates.back().step += i;
    }
    return updates;
}

std::vector<Element> exact_updates(const std::vector<Update>& updates,
                                   const std::vector<std::vector<double>>& gradients,
                                   std::vector<Element> elements, Variant variant)
{
    for (std::size_t s = 0; s < updates.size(); ++s)
        for (std::size_t i = 0; i < elements.size(); ++i)
            exact_update(updates[s], gradients[s][i], elements[i], variant);
    return elements;
}

std::vector<Element> elements_from(const std::vector<double>& m, const std::vector<double>& v,
                                   const std::vector<double>& w)
{
    std::vector<Element> elements(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) elements[i] = {{m[i], 0.0L}, {v[i], 0.0L}, {w[i], 0.0L}};
    return elements;
}

std::vector<std::string> check_elements(const std::vector<Update>& updates,
                                        const std::vector<std::vector<double>>& gradients,
                                        const std::vector<Element>& before, const json& m, const json& v,
                                        const json& w, const std::string& name_of_w)
{
    const DType dtype = updates[0].dtype;
    const std::vector<Element> after = exact_updates(updates, gradients, before);
    std::string about_m = compare_elements("m", m, after, &Element::m, dtype);
    if (!about_m.empty() && updates.size() == 1 && m.at("values").size() == before.size())
        about_m += decay_in_m(updates[0], m, after, before);
    if (!about_m.empty()) about_m += without_factor(updates, gradients, before, m, &Element::m);
    std::string about_v = compare_elements("v", v, after, &Element::v, dtype);
    if (!about_v.empty()) about_v += without_factor(updates, gradients, before, v, &Element::v);
    std::string about_w = compare_elements(name_of_w, w, after, &Element::w, dtype);
    if (!about_w.empty() && about_m.empty() && about_v.empty())
        about_w += cause_of_weights(updates, gradients, before, w, name_of_w);
    return {about_m, about_v, about_w};
}

}  // namespace training_test
