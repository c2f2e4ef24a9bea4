#include "lessons/02_training_step/adamw.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/tensor.hpp"

using namespace training;

namespace {

constexpr std::int64_t chunk = 1024;  // elements whose gradients are converted at a time

/// The coefficients of one update, computed in double and rounded once to the type of the states.
template <class Real>
struct Coefficients {
    Real gradient_factor, keep, beta1, one_minus_beta1, beta2, one_minus_beta2, step_size,
        inverse_root_correction2, epsilon;

    Coefficients(const AdamW& o, std::int64_t step, double factor, bool decays)
        : gradient_factor(static_cast<Real>(factor)),
          keep(static_cast<Real>(decays ? 1.0 - o.learning_rate * o.weight_decay : 1.0)),
          beta1(static_cast<Real>(o.beta1)),
          one_minus_beta1(static_cast<Real>(1.0 - o.beta1)),
          beta2(static_cast<Real>(o.beta2)),
          one_minus_beta2(static_cast<Real>(1.0 - o.beta2)),
          step_size(
              static_cast<Real>(o.learning_rate / (1.0 - std::pow(o.beta1, static_cast<double>(step))))),
          inverse_root_correction2(
              static_cast<Real>(1.0 / std::sqrt(1.0 - std::pow(o.beta2, static_cast<double>(step))))),
          epsilon(static_cast<Real>(o.epsilon))
    {
    }
};

template <class Real>
void update(const Coefficients<Real>& c, std::int64_t count, const Real* gradient, Real* m, Real* v, Real* w)
{
    // Your code: see lessons/02_training_step/adamw.hpp (hints: make hint-02 PART=02.1)
    not_implemented("02.1 adamw_update");
}

template <class Real>
void update_chunks(const Coefficients<Real>& c, ConstBuffer gradient, Buffer m, Buffer v, Buffer weights)
{
    std::array<Real, chunk> g{};
    const auto at = [](Buffer buffer, std::int64_t i) { return reinterpret_cast<Real*>(buffer.data) + i; };
    for (std::int64_t i = 0; i < gradient.count; i += chunk) {
        const std::int64_t count = std::min(chunk, gradient.count - i);
        convert(gradient.part(i, count), {reinterpret_cast<std::byte*>(g.data()), count, weights.dtype});
        update(c, count, g.data(), at(m, i), at(v, i), at(weights, i));
    }
}

}  // namespace

void training::adamw_update(const AdamW& options, std::int64_t step, double gradient_factor, bool decays,
                            ConstBuffer gradient, Buffer m, Buffer v, Buffer weights)
{
    check(m.dtype == weights.dtype && v.dtype == weights.dtype && m.count == gradient.count &&
              v.count == gradient.count && weights.count == gradient.count,
          "adamw_update: weights, m and v must have one dtype and as many elements as the gradient");
    if (weights.dtype == DType::fp64)
        update_chunks(Coefficients<double>(options, step, gradient_factor, decays), gradient, m, v, weights);
    else
        update_chunks(Coefficients<float>(options, step, gradient_factor, decays), gradient, m, v, weights);
}

double training::learning_rate_at(const LearningRateSchedule& schedule, std::int64_t step)
{
    // Your code: see lessons/02_training_step/adamw.hpp (hints: make hint-02 PART=02.1)
    not_implemented("02.1 learning_rate_at");
}
