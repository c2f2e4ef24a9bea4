// The gradients that a rank's backward pass adds, made alike by the driver that runs the code and by the
// judge.
#pragma once

#include <cmath>

#include "lib/machine/tensor/arithmetic.hpp"
#include "lib/machine/tensor/random.hpp"
#include "tests/04_data_parallel/parameter_model.hpp"

namespace data_parallel_test {

/// Which backward pass: of module `module` over a micro-batch of a step on a rank.
struct Pass {
    int rank = 0;
    std::int64_t step = 0;
    std::int64_t micro_batch = 0;
    std::size_t module = 0;
};

/// Random numbers; or, without a seed, small whole numbers times 2^rank, of which a sum says whose gradients
/// it holds and how often. A silent rank has gradients of zero, as when none of its targets counts.
struct GradientPattern {
    std::uint64_t seed = 0;
    int silent_rank = -1;  // none
};

inline std::vector<double> pattern_values(const GradientPattern& pattern, const Pass& pass, int parameter,
                                          std::int64_t count)
{
    std::vector<double> values(static_cast<std::size_t>(count));
    if (pass.rank == pattern.silent_rank) return values;
    const auto number =
        static_cast<std::int64_t>(pass.module) * 5 + pass.micro_batch * 7 + pass.step * 11 + parameter * 3;
    if (pattern.seed == 0) {
        for (std::int64_t i = 0; i < count; ++i)
            values[static_cast<std::size_t>(i)] =
                std::exp2(pass.rank) * static_cast<double>(1 + (i + number) % 8);
        return values;
    }
    const RandomStream stream(pattern.seed, fmt::format("rank {} {} {}", pass.rank, parameter, number));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = stream.normal(i);
    return values;
}

/// Adds what the pass gives to the gradients of the parameters that its module uses: to the second gradient,
/// where it is the first of several users.
inline void add_gradients(const GradientPattern& pattern, const Pass& pass, ParameterModel& model)
{
    for (Parameter* parameter : model.modules()[pass.module]->parameters()) {
        check(!parameter->gradient.empty(), "the gradient of {} is bound to no buffer", parameter->name);
        Tensor change = make_like(parameter->gradient, Category::workspace);
        from_doubles(pattern_values(pattern, pass, model.index_of(parameter), parameter->elements()), change);
        if (!model.is_lookup(pass.module, parameter)) {
            add(change, parameter->gradient);
            continue;
        }
        if (parameter->second_gradient.empty()) {
            parameter->second_gradient = make_like(parameter->gradient, Category::workspace);
            parameter->second_gradient.fill_zero();
        }
        add(change, parameter->second_gradient);
    }
}

}  // namespace data_parallel_test
