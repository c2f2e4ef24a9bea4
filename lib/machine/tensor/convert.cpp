#include <Eigen/Core>
#include <cstring>

#include "lib/machine/tensor/tensor.hpp"

namespace shardlings {

namespace {

template <class Function>
void with_stored_type(DType dtype, Function function)
{
    switch (dtype) {
        case DType::fp64:
            return function(double{});
        case DType::fp32:
            return function(float{});
        case DType::bf16:
            return function(Eigen::bfloat16{});
        case DType::fp16:
            return function(Eigen::half{});
        default:
            throw Error(fmt::format("{} elements cannot be converted", name_of(dtype)));
    }
}

/// double → 16 bits through float rounds twice, which can differ from rounding once. Rounding the first step
/// to odd keeps what the second needs to know (Boldo and Melquiond 2008, "Emulation of FMA and correctly
/// rounded sums").
float round_to_odd(double value)
{
    float nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &nearest, sizeof bits);
    if ((bits & 1u) == 0) bits += std::abs(static_cast<double>(nearest)) > std::abs(value) ? -1u : 1u;
    std::memcpy(&nearest, &bits, sizeof bits);
    return nearest;
}

template <class From, class To>
void convert_elements(const From* from, To* to, Eigen::Index count)
{
    const Eigen::Map<const Eigen::Array<From, Eigen::Dynamic, 1>> source(from, count);
    Eigen::Map<Eigen::Array<To, Eigen::Dynamic, 1>> target(to, count);
    if constexpr (std::is_same_v<From, double> && sizeof(To) == 2)
        target = source.unaryExpr([](double value) { return To(round_to_odd(value)); });
    else if constexpr (sizeof(From) == 2 && !std::is_same_v<To, float>)
        target = source.template cast<float>().template cast<To>();
    else
        target = source.template cast<To>();
}

}  // namespace

void convert(ConstBuffer from, Buffer to)
{
    check(from.count == to.count, "{} elements cannot be converted to {}", from.count, to.count);
    if (from.dtype == to.dtype) {
        std::memcpy(to.data, from.data, to.bytes());
        return;
    }
    with_stored_type(from.dtype, [&](auto from_zero) {
        with_stored_type(to.dtype, [&](auto to_zero) {
            convert_elements(reinterpret_cast<const decltype(from_zero)*>(from.data),
                             reinterpret_cast<decltype(to_zero)*>(to.data), from.count);
        });
    });
}

}  // namespace shardlings
