#include "lessons/01_transformer/model.hpp"

#include <cmath>
#include <utility>

#include "lessons/01_transformer/attention.hpp"
#include "lessons/01_transformer/cross_entropy.hpp"
#include "lessons/01_transformer/embedding.hpp"
#include "lessons/01_transformer/gelu.hpp"
#include "lessons/01_transformer/layer_norm.hpp"
#include "lessons/01_transformer/linear.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/arithmetic.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace transformer;

namespace {

constexpr double initial_deviation = 0.02;  // GPT-2's

Parameter matrix(std::string name, std::int64_t rows, std::int64_t columns,
                 double deviation = initial_deviation)
{
    return {std::move(name), Slice::whole({rows, columns}), {0.0, deviation}, true, {}, {}, {}};
}

Parameter vector(std::string name, std::int64_t size, double constant)
{
    return {std::move(name), Slice::whole({size}), {constant, 0.0}, false, {}, {}, {}};
}

/// A linear layer's parameters, and its passes with x saved in between.
struct Linear {
    Parameter weight;
    Parameter bias;

    Linear(const std::string& name, std::int64_t n, std::int64_t m, double deviation = initial_deviation)
        : weight(matrix(name + ".weight", n, m, deviation)), bias(vector(name + ".bias", m, 0.0))
    {
    }

    Tensor forward(Tensor x, Saved& saved)
    {
        Tensor y = linear_forward(x, weight.value, bias.value);
        saved.push(std::move(x));
        return y;
    }
    Tensor backward(const Tensor& dy, Saved& saved)
    {
        const Tensor x = saved.pop();
        return linear_backward(dy, x, weight.value, weight.gradient, bias.gradient);
    }
};

/// The same for a layer norm; x stays with the caller, who needs it for the residual too. On `saved`: mean,
/// then rstd.
struct LayerNorm {
    Parameter gain;
    Parameter bias;

    LayerNorm(const std::string& name, std::int64_t hidden)
        : gain(vector(name + ".weight", hidden, 1.0)), bias(vector(name + ".bias", hidden, 0.0))
    {
    }

    Tensor forward(const Tensor& x, Saved& saved)
    {
        LayerNormOutput out = layer_norm_forward(x, gain.value, bias.value);
        saved.push(std::move(out.mean));
        saved.push(std::move(out.rstd));
        return std::move(out.y);
    }
    Tensor backward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd)
    {
        return layer_norm_backward(dy, x, gain.value, mean, rstd, gain.gradient, bias.gradient);
    }
};

class Embedding : public Module {
  public:
    Embedding(const ModelShape& shape, bool tied)
        : wte_(matrix("wte.weight", shape.vocabulary, shape.hidden)),
          wpe_(matrix("wpe.weight", shape.sequence, shape.hidden)),
          tied_(tied)
    {
    }

    std::vector<Parameter*> parameters() override { return {&wte_, &wpe_}; }
    bool backward_reads_values() const override { return false; }

    Tensor forward(const MicroBatch& batch, Tensor, Saved&) override
    {
        return embedding_forward(batch.inputs, batch.sequences, wte_.value, wpe_.value);
    }

    Tensor backward(const MicroBatch& batch, Tensor dy, Saved&) override
    {
        if (tied_ && wte_.second_gradient.empty()) {
            wte_.second_gradient = make_like(wte_.gradient, Category::workspace);
            wte_.second_gradient.fill_zero();
        }
        embedding_backward(dy, batch.inputs, tied_ ? wte_.second_gradient : wte_.gradient, wpe_.gradient);
        return {};
    }

  private:
    Parameter wte_;
    Parameter wpe_;
    bool tied_;
};

class Block : public Module {
  public:
    Block(const ModelShape& shape, std::int64_t layer)
        : Block(shape, "h." + std::to_string(layer), initial_deviation / std::sqrt(2.0 * shape.layers))
    {
    }

    std::vector<Parameter*> parameters() override
    {
        return {&ln_1_.gain,         &ln_1_.bias,       &attention_.weight, &attention_.bias,
                &projection_.weight, &projection_.bias, &ln_2_.gain,        &ln_2_.bias,
                &mlp_in_.weight,     &mlp_in_.bias,     &mlp_out_.weight,   &mlp_out_.bias};
    }

    Tensor forward(const MicroBatch&, Tensor x, Saved& saved) override
    {
        // Your code: see lessons/01_transformer/model.hpp (hints: make hint-01 PART=01.7)
        not_implemented("01.7 Block::forward");
    }

    Tensor backward(const MicroBatch&, Tensor dy, Saved& saved) override
    {
        // Your code: see lessons/01_transformer/model.hpp (hints: make hint-01 PART=01.7)
        not_implemented("01.7 Block::backward");
    }

  private:
    Block(const ModelShape& shape, const std::string& name, double output_deviation)
        : heads_(shape.heads),
          ln_1_(name + ".ln_1", shape.hidden),
          attention_(name + ".attn.c_attn", shape.hidden, 3 * shape.hidden),
          projection_(name + ".attn.c_proj", shape.hidden, shape.hidden, output_deviation),
          ln_2_(name + ".ln_2", shape.hidden),
          mlp_in_(name + ".mlp.c_fc", shape.hidden, shape.mlp()),
          mlp_out_(name + ".mlp.c_proj", shape.mlp(), shape.hidden, output_deviation)
    {
    }

    std::int64_t heads_;
    LayerNorm ln_1_;
    Linear attention_;
    Linear projection_;
    LayerNorm ln_2_;
    Linear mlp_in_;
    Linear mlp_out_;
};

/// logits = z wteᵀ. Shapes: z (B, T, h), wte (V, h), logits (B, T, V).
Tensor output_layer(const Tensor& z, const Tensor& wte)
{
    Tensor logits(z.device(), {z.dim(0), z.dim(1), wte.rows()}, z.dtype(), Category::activations);
    with_real(z.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> z_(z), wte_(wte);
        const Output<Real> logits_(logits);
        // Your code: see lessons/01_transformer/model.hpp (hints: make hint-01 PART=01.7)
        not_implemented("01.7 output_layer");
    });
    return logits;
}

/// Returns dz = dlogits wte; adds dwte += dlogitsᵀ z.
Tensor output_layer_backward(const Tensor& dlogits, const Tensor& z, const Tensor& wte, Tensor& dwte)
{
    Tensor dz = make_like(z, Category::activations);
    with_real(z.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> dlogits_(dlogits), z_(z), wte_(wte);
        const Output<Real> dz_(dz);
        const Update<Real> dwte_(dwte);
        // Your code: see lessons/01_transformer/model.hpp (hints: make hint-01 PART=01.7)
        not_implemented("01.7 output_layer_backward");
    });
    return dz;
}

class Head : public Module {
  public:
    Head(const ModelShape& shape, Parameter& token_embedding)
        : ln_f_("ln_f", shape.hidden), wte_(token_embedding)
    {
    }

    std::vector<Parameter*> parameters() override { return {&ln_f_.gain, &ln_f_.bias, &wte_}; }

    Tensor logits(const Tensor& x)
    {
        Saved unused;
        return output_layer(ln_f_.forward(x, unused), wte_.value);
    }

    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        // Your code: see lessons/01_transformer/model.hpp (hints: make hint-01 PART=01.7)
        not_implemented("01.7 Head::forward");
    }

    Tensor backward(const MicroBatch& batch, Tensor dloss, Saved& saved) override
    {
        // Your code: see lessons/01_transformer/model.hpp (hints: make hint-01 PART=01.7)
        not_implemented("01.7 Head::backward");
    }

  private:
    LayerNorm ln_f_;
    Parameter& wte_;
};

}  // namespace

std::unique_ptr<Module> transformer::make_embedding(const ModelShape& shape, bool tied)
{
    return std::make_unique<Embedding>(shape, tied);
}

std::unique_ptr<Module> transformer::make_block(const ModelShape& shape, std::int64_t layer)
{
    return std::make_unique<Block>(shape, layer);
}

std::unique_ptr<Module> transformer::make_head(const ModelShape& shape, Parameter& token_embedding)
{
    return std::make_unique<Head>(shape, token_embedding);
}

Modules transformer::make_gpt(const ModelShape& shape)
{
    shape.validate();
    Modules gpt;
    gpt.push_back(make_embedding(shape, true));
    Parameter& token_embedding = *gpt.front()->parameters().front();
    for (std::int64_t layer = 0; layer < shape.layers; ++layer) gpt.push_back(make_block(shape, layer));
    gpt.push_back(make_head(shape, token_embedding));
    return gpt;
}

Tensor transformer::predict(const Modules& gpt, const MicroBatch& batch)
{
    Tensor x;
    for (std::size_t i = 0; i + 1 < gpt.size(); ++i) {
        Saved unused;
        x = gpt[i]->forward(batch, std::move(x), unused);
    }
    return dynamic_cast<Head&>(*gpt.back()).logits(x);
}
