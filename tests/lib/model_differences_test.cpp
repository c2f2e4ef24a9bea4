// The gradients of a block, of the head and of the whole model against differences of the forward pass.
#include "lessons/01_transformer/model.hpp"
#include "tests/lib/differences.hpp"

using namespace differences;

namespace {

struct Sizes {
    ModelShape shape;
    std::int64_t sequences, tokens;
};

const std::vector<Sizes> all_sizes{
    {{2, 6, 3, 5, 7}, 2, 4},   // fewer tokens than positions
    {{1, 4, 1, 1, 3}, 1, 1},   // one head, one token, one sequence
    {{1, 5, 1, 3, 11}, 1, 3},  // odd sizes, more vocabulary than tokens
};

/// Memory for the modules' parameters with random values, large enough for attention far from uniform, and
/// zero gradients.
FlatParameters load(Device& device, const std::vector<Parameter*>& parameters)
{
    FlatParameters flat(device, make_flat_layout(parameters, 1), DType::fp64);
    for (Parameter* parameter : parameters) {
        const bool is_embedding = parameter->name.starts_with("w");
        const double scale = is_embedding ? 1.0 : 0.4;
        from_doubles(to_doubles(random_tensor(device, parameter->name, parameter->slice.shape, scale,
                                              parameter->initialisation.constant)),
                     parameter->value);
    }
    return flat;
}

std::vector<Variable> variables_of(const std::vector<Parameter*>& parameters)
{
    std::vector<Variable> variables;
    for (Parameter* parameter : parameters)
        variables.push_back({parameter->name, &parameter->value, to_doubles(parameter->gradient)});
    return variables;
}

/// A batch with a target that is not counted where there are others.
struct Batch {
    explicit Batch(const Sizes& s)
        : ids(random_ids("ids", s.sequences * s.tokens, s.shape.vocabulary)),
          targets(random_ids("targets", s.sequences * s.tokens, s.shape.vocabulary))
    {
        if (targets.size() > 1) targets[0] = -1;
        batch.sequences = s.sequences;
        batch.tokens = s.tokens;
        batch.inputs = ids;
        batch.targets = targets;
        batch.token_weight = 1.0 / static_cast<double>(targets.size());
    }
    std::vector<std::int32_t> ids, targets;
    MicroBatch batch;
};

/// One module from x, whose objective is Σ dy y.
void check_module(const std::string& name, Module& module, const MicroBatch& batch, Tensor x,
                  const Tensor& dy)
{
    const auto forward = [&](Saved& saved) {
        return module.forward(batch, x.clone(Category::activations), saved);
    };
    Saved saved;
    forward(saved);
    const Tensor dx = module.backward(batch, dy.clone(Category::activations), saved);
    CHECK(saved.size() == 0);
    std::vector<Variable> variables = variables_of(module.parameters());
    variables.push_back({"x", &x, to_doubles(dx)});
    const auto objective = [&] {
        Saved unused;
        return dot(dy, forward(unused));
    };
    check_gradients(name, objective, variables);
}

}  // namespace

TEST_CASE("block: gradients are the derivative", "[differences]")
{
    for (const Sizes& s : all_sizes) {
        Device device{DeviceOptions{}};
        const auto block = transformer::make_block(s.shape, 0);
        const FlatParameters flat = load(device, block->parameters());
        const Shape shape{s.sequences, s.tokens, s.shape.hidden};
        check_module("block", *block, {}, random_tensor(device, "x", shape),
                     random_tensor(device, "dy", shape));
    }
}

TEST_CASE("head: gradients are the derivative", "[differences]")
{
    for (const Sizes& s : all_sizes) {
        Device device{DeviceOptions{}};
        const auto embedding = transformer::make_embedding(s.shape, true);
        const auto head = transformer::make_head(s.shape, *embedding->parameters().front());
        const FlatParameters flat = load(device, head->parameters());
        const Batch batch(s);
        check_module("head", *head, batch.batch,
                     random_tensor(device, "x", {s.sequences, s.tokens, s.shape.hidden}),
                     random_tensor(device, "dloss", {1}));
    }
}

TEST_CASE("model: every gradient is the derivative of the loss", "[differences]")
{
    for (const Sizes& s : all_sizes) {
        Device device{DeviceOptions{}};
        const Modules gpt = transformer::make_gpt(s.shape);
        const std::vector<Parameter*> parameters = parameters_of(gpt);
        const FlatParameters flat = load(device, parameters);
        const Batch batch(s);
        const auto forward = [&](Saved& saved) {
            Tensor x;
            for (const auto& module : gpt) x = module->forward(batch.batch, std::move(x), saved);
            return to_doubles(x)[0];
        };
        Saved saved;
        forward(saved);
        Tensor dy(device, {1}, DType::fp64, Category::activations);
        dy.span<double>()[0] = 1.0;
        for (std::size_t i = gpt.size(); i-- > 0;) dy = gpt[i]->backward(batch.batch, std::move(dy), saved);
        for (Parameter* parameter : parameters) merge_second_gradient(*parameter);
        const auto objective = [&] {
            Saved unused;
            return forward(unused);
        };
        check_gradients("model", objective, variables_of(parameters));
    }
}

TEST_CASE("model: sizes that do not fit are errors", "[layers]")
{
    CHECK_THROWS_AS(transformer::make_gpt({1, 6, 4, 3, 5}), Error);
    CHECK_THROWS_AS(transformer::make_gpt({0, 6, 2, 3, 5}), Error);
    CHECK_THROWS_AS(transformer::make_gpt({1, 6, 2, 3, -1}), Error);
}
