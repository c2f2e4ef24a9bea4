#include "lessons/10_counting/flops.hpp"

#include "lessons/10_counting/parameters.hpp"
#include "lib/machine/base/error.hpp"

using namespace counting;

FlopsShape counting::flops_shape(const ModelShape& shape)
{
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    return {number(shape.layers),      number(shape.hidden),   number(shape.mlp()),     number(shape.heads),
            number(shape.head_size()), number(shape.sequence), number(shape.vocabulary)};
}

SequenceFlops counting::sequence_flops(const FlopsShape& x)
{
    SequenceFlops flops{};
    // Your code: see lessons/10_counting/flops.hpp (hints: make hint-10 PART=10.3)
    not_implemented("10.3 sequence_flops");
    return flops;
}

double SequenceFlops::forward(bool ends) const
{
    // Your code: see lessons/10_counting/flops.hpp (hints: make hint-10 PART=10.3)
    not_implemented("10.3 SequenceFlops::forward");
}

double counting::ratio_to_6nd(const FlopsShape& shape, double parameters, bool ends)
{
    // Your code: see lessons/10_counting/flops.hpp (hints: make hint-10 PART=10.3)
    not_implemented("10.3 ratio_to_6nd");
}

double counting::device_gemm_flops(const Job& job, const Place& place)
{
    double flops = 0.0;
    // Your code: see lessons/10_counting/flops.hpp (hints: make hint-10 PART=10.3)
    not_implemented("10.3 device_gemm_flops");
    return flops;
}
