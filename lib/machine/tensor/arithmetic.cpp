#include "lib/machine/tensor/arithmetic.hpp"

#include <Eigen/Core>

namespace shardlings {

namespace {

template <class Stored>
void add_elements(ConstBuffer x, Buffer y)
{
    const Eigen::Map<const Eigen::Array<Stored, Eigen::Dynamic, 1>> from(
        reinterpret_cast<const Stored*>(x.data), x.count);
    Eigen::Map<Eigen::Array<Stored, Eigen::Dynamic, 1>> to(reinterpret_cast<Stored*>(y.data), y.count);
    if constexpr (sizeof(Stored) == 2)
        to = (to.template cast<float>() + from.template cast<float>()).template cast<Stored>();
    else
        to += from;
}

}  // namespace

void add(ConstBuffer x, Buffer y)
{
    check(x.count == y.count && x.dtype == y.dtype, "cannot add {} elements of {} to {} of {}", x.count,
          name_of(x.dtype), y.count, name_of(y.dtype));
    switch (x.dtype) {
        case DType::fp64:
            return add_elements<double>(x, y);
        case DType::fp32:
            return add_elements<float>(x, y);
        case DType::bf16:
            return add_elements<Eigen::bfloat16>(x, y);
        case DType::fp16:
            return add_elements<Eigen::half>(x, y);
        default:
            throw Error(fmt::format("{} elements cannot be added", name_of(x.dtype)));
    }
}

void add(const Tensor& x, Tensor& y)
{
    add(x.buffer(), y.buffer());
}

}  // namespace shardlings
