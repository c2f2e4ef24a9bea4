#include "lib/machine/nn/parameter.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lib/machine/tensor/arithmetic.hpp"
#include "lib/machine/tensor/random.hpp"

namespace shardlings {

void Slice::for_each_run(const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& run) const
{
    const std::int64_t count = shape.empty() ? 1 : shape.back();
    const std::int64_t rows = count == 0 ? 0 : elements_of(shape) / count;
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t rest = row;
        std::int64_t global_index = shape.empty() ? 0 : offset.back();
        std::int64_t stride = shape.empty() ? 1 : global.back();
        for (std::size_t d = shape.size(); d-- > 1;) {
            global_index += (offset[d - 1] + rest % shape[d - 1]) * stride;
            rest /= shape[d - 1];
            stride *= global[d - 1];
        }
        run(row * count, global_index, count);
    }
}

void initialise(const Parameter& parameter, std::uint64_t seed, std::int64_t begin, Buffer out)
{
    const Initialisation& start = parameter.initialisation;
    std::vector<double> values(static_cast<std::size_t>(out.count), start.constant);
    if (start.standard_deviation > 0.0) {
        const RandomStream stream(seed, parameter.name);
        parameter.slice.for_each_run([&](std::int64_t local, std::int64_t global, std::int64_t count) {
            std::array<double, 4> normals{};
            const std::int64_t first = std::clamp(begin - local, std::int64_t{0}, count);
            const std::int64_t last = std::clamp(begin + out.count - local, std::int64_t{0}, count);
            for (std::int64_t i = first; i < last; ++i) {
                const auto index = static_cast<std::uint64_t>(global + i);
                if (i == first || index % 4 == 0) normals = stream.four_normals(index / 4);
                values[static_cast<std::size_t>(local + i - begin)] +=
                    start.standard_deviation * normals[index % 4];
            }
        });
    }
    convert({reinterpret_cast<const std::byte*>(values.data()), out.count, DType::fp64}, out);
}

void initialise(Parameter& parameter, std::uint64_t seed)
{
    initialise(parameter, seed, 0, parameter.value.buffer());
}

void merge_second_gradient(Parameter& parameter)
{
    if (parameter.second_gradient.empty()) return;
    check(!parameter.gradient.empty(),
          "the second gradient of {} is to be merged, but its gradient is bound to nothing: merge it before "
          "the "
          "gradient is reduced and let go",
          parameter.name);
    add(parameter.second_gradient, parameter.gradient);
    parameter.second_gradient = Tensor();
}

FlatLayout make_flat_layout(std::span<Parameter* const> parameters, std::int64_t degree)
{
    FlatLayout layout;
    for (Parameter* parameter : parameters) {
        layout.entries.push_back({parameter, layout.elements});
        layout.elements += parameter->elements();
    }
    layout.padded = (layout.elements + degree - 1) / degree * degree;
    return layout;
}

FlatParameters::FlatParameters(Device& device, FlatLayout layout, DType dtype)
    : layout_(std::move(layout)),
      values_(device, {layout_.padded}, dtype, Category::parameters),
      gradients_(device, {layout_.padded}, dtype, Category::gradients)
{
    values_.fill_zero();
    gradients_.fill_zero();
    for (const FlatEntry& entry : layout_.entries) {
        entry.parameter->value = values_.view(entry.offset, entry.parameter->slice.shape);
        entry.parameter->gradient = gradients_.view(entry.offset, entry.parameter->slice.shape);
    }
}

}  // namespace shardlings
