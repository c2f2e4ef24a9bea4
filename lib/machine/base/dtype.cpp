#include "lib/machine/base/dtype.hpp"

#include <array>
#include <cmath>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

struct Description {
    std::string_view name;
    std::size_t size;
    int fraction_bits;  // 0: not a floating-point type
};

constexpr std::array<Description, 7> descriptions{{{"fp64", 8, 52},
                                                   {"fp32", 4, 23},
                                                   {"bf16", 2, 7},
                                                   {"fp16", 2, 10},
                                                   {"i32", 4, 0},
                                                   {"i64", 8, 0},
                                                   {"byte", 1, 0}}};

const Description& describe(DType dtype)
{
    return descriptions.at(static_cast<std::size_t>(dtype));
}

}  // namespace

std::size_t size_of(DType dtype)
{
    return describe(dtype).size;
}

std::string_view name_of(DType dtype)
{
    return describe(dtype).name;
}

DType parse_dtype(std::string_view name)
{
    for (std::size_t i = 0; i < descriptions.size(); ++i)
        if (descriptions[i].fraction_bits > 0 && descriptions[i].name == name) return static_cast<DType>(i);
    throw Error(fmt::format("unknown dtype '{}': expected fp64, fp32, bf16 or fp16", name));
}

double epsilon_of(DType dtype)
{
    return std::ldexp(1.0, -describe(dtype).fraction_bits);
}

}  // namespace shardlings
