#include "lib/machine/base/model_shape.hpp"

#include <string_view>

#include "lib/machine/base/error.hpp"

namespace shardlings {

std::int64_t ModelShape::parameters() const
{
    return layers * (12 * hidden * hidden + 13 * hidden) + vocabulary * hidden + sequence * hidden +
           2 * hidden;
}

void ModelShape::validate() const
{
    const auto positive = [](std::string_view name, std::int64_t value, std::int64_t limit) {
        check(value >= 1 && value <= limit, "--{} is {}: expected 1 to {}", name, value, limit);
    };
    positive("layers", layers, 10'000);
    positive("hidden", hidden, 1'000'000);
    positive("heads", heads, hidden);
    positive("seq", sequence, 10'000'000);
    positive("vocab", vocabulary, 10'000'000);
    check(hidden % heads == 0,
          "--hidden {} is not divisible by --heads {}: every head has hidden / heads columns, choose sizes "
          "that divide",
          hidden, heads);
}

}  // namespace shardlings
