#include "tests/01_transformer/model_reference.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lessons/01_transformer/model.hpp"

namespace lesson01 {

namespace {

ModelShape shape_of(const json& in)
{
    return {in.at("layers"), in.at("hidden"), in.at("heads"), in.at("sequence"), in.at("vocabulary")};
}

/// Memory for the parameters in fp64, with the values and the gradients' start of the inputs.
FlatParameters load(Device& device, const std::vector<Parameter*>& parameters, const json& in)
{
    FlatParameters flat(device, make_flat_layout(parameters, 1), DType::fp64);
    for (Parameter* parameter : parameters) {
        const auto values = in.at(parameter->name).at("values").get<std::vector<double>>();
        from_doubles(values, parameter->value);
        from_doubles(std::vector<double>(values.size(), in.at("start").get<double>()), parameter->gradient);
    }
    return flat;
}

DType dtype_of(const json& in)
{
    return parse_dtype(in.at("dtype").get<std::string>());
}

void take_gradients(ModelResult& result, std::vector<Parameter*> parameters, const json& in)
{
    result.start = in.at("start").get<double>();
    std::reverse(parameters.begin(), parameters.end());
    for (const Parameter* parameter : parameters)
        result.gradients.emplace_back(parameter->name,
                                      Expected{as_expected(parameter->gradient, dtype_of(in)), 0.0});
}

Tensor one_number(Device& device, double number)
{
    Tensor tensor(device, {1}, DType::fp64, Category::activations);
    tensor.span<double>()[0] = number;
    return tensor;
}

MicroBatch batch_of(const json& in, std::span<const std::int32_t> ids, std::span<const std::int32_t> targets)
{
    MicroBatch batch;
    batch.sequences = in.at("sequences");
    batch.tokens = static_cast<std::int64_t>(targets.size()) / batch.sequences;
    batch.inputs = ids;
    batch.targets = targets;
    batch.token_weight = in.at("token_weight");
    return batch;
}

}  // namespace

json model_inputs(const ModelShape& shape, DType dtype)
{
    json in = {{"layers", shape.layers},
               {"hidden", shape.hidden},
               {"heads", shape.heads},
               {"sequence", shape.sequence},
               {"vocabulary", shape.vocabulary},
               {"dtype", name_of(dtype)},
               {"start", 0.25}};
    const Modules gpt = transformer::make_gpt(shape);
    for (const Parameter* parameter : parameters_of(gpt)) {
        const Shape& sizes = parameter->slice.shape;
        const bool is_embedding = parameter->name.starts_with("w");
        const double scale = is_embedding ? 0.5 : sizes.size() == 2 ? 0.4 : 0.3;
        json value = random_tensor(parameter->name, sizes, DType::fp64, scale);
        for (json& number : value["values"])
            number = number.get<double>() + parameter->initialisation.constant;
        Device device{DeviceOptions{}};
        Tensor rounded(device, sizes, dtype, Category::parameters);
        from_doubles(value["values"].get<std::vector<double>>(), rounded);
        in[parameter->name] = tensor_input(rounded);
    }
    return in;
}

json from_zero(json inputs)
{
    inputs["start"] = 0.0;
    return inputs;
}

ModelResult block_reference(const json& in)
{
    Device device{DeviceOptions{}};
    const auto module = transformer::make_block(shape_of(in), in.at("layer").get<std::int64_t>());
    const FlatParameters flat = load(device, module->parameters(), in);
    ModelResult result;
    Saved saved;
    result.y.value = as_expected(module->forward({}, exact(device, in.at("x")), saved), dtype_of(in));
    result.dx.value = as_expected(module->backward({}, exact(device, in.at("dy")), saved), dtype_of(in));
    take_gradients(result, module->parameters(), in);
    return result;
}

ModelResult head_reference(const json& in)
{
    Device device{DeviceOptions{}};
    const auto embedding = transformer::make_embedding(shape_of(in), true);
    const auto module = transformer::make_head(shape_of(in), *embedding->parameters().front());
    const FlatParameters flat = load(device, module->parameters(), in);
    const auto targets = in.at("targets").get<std::vector<std::int32_t>>();
    const MicroBatch batch = batch_of(in, {}, targets);
    ModelResult result;
    Saved saved;
    result.y.value = as_expected(module->forward(batch, exact(device, in.at("x")), saved), DType::fp64);
    result.dx.value =
        as_expected(module->backward(batch, one_number(device, in.at("dloss")), saved), dtype_of(in));
    take_gradients(result, module->parameters(), in);
    return result;
}

ModelResult gpt_reference(const json& in)
{
    Device device{DeviceOptions{}};
    const Modules gpt = transformer::make_gpt(shape_of(in));
    const std::vector<Parameter*> parameters = parameters_of(gpt);
    const FlatParameters flat = load(device, parameters, in);
    const auto ids = in.at("ids").get<std::vector<std::int32_t>>();
    const auto targets = in.at("targets").get<std::vector<std::int32_t>>();
    const auto count = in.at("micro_batches").get<std::size_t>();
    const std::size_t tokens = ids.size() / count;
    ModelResult result;
    std::vector<double> losses;
    for (std::size_t m = 0; m < count; ++m) {
        const MicroBatch batch = batch_of(in, std::span(ids).subspan(m * tokens, tokens),
                                          std::span(targets).subspan(m * tokens, tokens));
        if (m == 0) result.y.value = as_expected(transformer::predict(gpt, batch), dtype_of(in));
        Saved saved;
        Tensor x;
        for (const auto& module : gpt) x = module->forward(batch, std::move(x), saved);
        losses.push_back(to_doubles(x).at(0));
        Tensor dy = one_number(device, in.at("dloss"));
        for (std::size_t i = gpt.size(); i-- > 0;) dy = gpt[i]->backward(batch, std::move(dy), saved);
    }
    result.losses.value = tensor_input({in.at("micro_batches").get<std::int64_t>()}, DType::fp64, losses);
    for (Parameter* parameter : parameters) merge_second_gradient(*parameter);
    take_gradients(result, parameters, in);
    return result;
}

namespace {

constexpr double small = 0x1p-20;  // a relative change whose effect is linear, and far from fp64's rounding

/// The inputs with every number of every tensor changed by small, relative to it, up or down.
json moved(json in)
{
    for (auto& [name, tensor] : in.items()) {
        if (!tensor.is_object()) continue;
        auto values = tensor.at("values").get<std::vector<double>>();
        const auto signs =
            random_values("moved " + name, static_cast<std::int64_t>(values.size()), DType::fp64);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1.0 + std::copysign(small, signs[i]);
        tensor["values"] = values;
    }
    return in;
}

void set_size(Expected& expected, const Expected& other)
{
    if (expected.value.is_null()) return;
    const auto values = expected.value.at("values").get<std::vector<double>>();
    const auto moved_values = other.value.at("values").get<std::vector<double>>();
    double most = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i)
        most = std::max(most, std::abs(values[i] - moved_values[i]));
    expected.size = largest(expected.value) + most / small;
}

}  // namespace

ModelResult with_sizes(Reference reference, const json& inputs)
{
    ModelResult result = reference(inputs);
    const ModelResult other = reference(moved(inputs));
    set_size(result.y, other.y);
    set_size(result.dx, other.dx);
    set_size(result.losses, other.losses);
    for (std::size_t i = 0; i < result.gradients.size(); ++i)
        set_size(result.gradients[i].second, other.gradients[i].second);
    return result;
}

Tolerance chained(DType dtype, double computed, double stored, const Expected& expected)
{
    const double v = is_sixteen_bit(dtype) ? roundoff(dtype) : 0.0;
    return {0.0, (computed * roundoff(sum_dtype(dtype)) + stored * v) * expected.size};
}

std::string gradient_problem(const RankResult& got, const ModelResult& expected, DType dtype, double computed,
                             double stored)
{
    for (const auto& [name, gradient] : expected.gradients) {
        json before = gradient.value;
        for (json& number : before["values"]) number = expected.start;
        const std::string problem =
            compare_added("gradient of " + name, got.outputs.at("gradient." + name), gradient.value, before,
                          chained(dtype, computed, stored, gradient));
        if (!problem.empty()) return problem;
    }
    return "";
}

std::string count_problem(const RankResult& got, const std::string& name, const std::string& label,
                          std::int64_t expected)
{
    const auto value = got.outputs.at(name).get<double>();
    if (value == static_cast<double>(expected)) return "";
    return fmt::format("{}: {:.0f}, expected {}", label, value, expected);
}

double block_steps(const ModelShape& shape)
{
    // Forward: two layer norms (2 h and a few each), sums of h, d, T, T, h, h and 4 h products, GELU.
    // Backward: each product twice, in a row.
    const auto h = static_cast<double>(shape.hidden);
    return 3 * (2 * (2 * h + 10) + 8 * h + 2 * static_cast<double>(shape.sequence) + 16);
}

double model_steps(const ModelShape& shape)
{
    // All blocks and the head, which is no longer than a block but for its sums over the vocabulary.
    return static_cast<double>(shape.layers + 1) * block_steps(shape) + static_cast<double>(shape.vocabulary);
}

std::int64_t block_saved_bytes(const ModelShape& shape, std::int64_t sequences, std::int64_t tokens,
                               DType dtype)
{
    const std::int64_t rows = sequences * tokens;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const auto statistic = static_cast<std::int64_t>(size_of(sum_dtype(dtype)));
    return (16 * rows * shape.hidden + rows * shape.heads * tokens) * size + 4 * rows * statistic;
}

std::int64_t head_saved_bytes(const ModelShape& shape, std::int64_t sequences, std::int64_t tokens,
                              DType dtype)
{
    const std::int64_t rows = sequences * tokens;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const auto statistic = static_cast<std::int64_t>(size_of(sum_dtype(dtype)));
    return (2 * rows * shape.hidden + rows * shape.vocabulary) * size + 3 * rows * statistic;
}

}  // namespace lesson01
