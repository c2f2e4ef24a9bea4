#include "lessons/08_tensor_parallel/model.hpp"

#include <cmath>
#include <utility>

#include "lessons/01_transformer/attention.hpp"
#include "lessons/01_transformer/gelu.hpp"
#include "lessons/01_transformer/layer_norm.hpp"
#include "lessons/08_tensor_parallel/linear.hpp"
#include "lessons/08_tensor_parallel/vocabulary.hpp"
#include "lib/machine/tensor/arithmetic.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace tensor_parallel;

namespace {

constexpr double initial_deviation = 0.02;  // GPT-2's

/// The part of a tensor that this rank has: an equal part of dimension `dimension`, all of the others.
Slice cut(const Shape& global, std::size_t dimension, const Comm& group)
{
    // BEGIN SOLUTION 08.4 cut
    Slice slice = Slice::whole(global);
    slice.shape[dimension] = global[dimension] / group.size();
    slice.offset[dimension] = slice.shape[dimension] * group.rank();
    return slice;
    // END SOLUTION
}

Parameter matrix(std::string name, Slice slice, double deviation = initial_deviation)
{
    return {std::move(name), std::move(slice), {0.0, deviation}, true, {}, {}, {}};
}

Parameter vector(std::string name, Slice slice, double constant)
{
    return {std::move(name), std::move(slice), {constant, 0.0}, false, {}, {}, {}};
}

/// A parameter's tensor as the matrix (rows, columns), however many dimensions its slice has.
Tensor as_matrix(const Tensor& tensor, std::int64_t rows)
{
    return tensor.view(0, {rows, tensor.elements() / rows});
}

Tensor as_vector(const Tensor& tensor)
{
    return tensor.view(0, {tensor.elements()});
}

/// A column-parallel layer's parameters and passes, with x, as outside, saved in between.
struct ColumnLinear {
    Parameter weight;
    Parameter bias;

    Tensor forward(Boundary& boundary, const MicroBatch& batch, Tensor x, Saved& saved)
    {
        const std::int64_t n = weight.slice.shape.front();
        Tensor y =
            column_parallel_forward(boundary, batch, x, as_matrix(weight.value, n), as_vector(bias.value));
        saved.push(std::move(x));
        return y;
    }
    Tensor backward(Boundary& boundary, const MicroBatch& batch, const Tensor& dy, Saved& saved)
    {
        const std::int64_t n = weight.slice.shape.front();
        const Tensor x = saved.pop();
        Tensor dw = as_matrix(weight.gradient, n);
        Tensor db = as_vector(bias.gradient);
        return column_parallel_backward(boundary, batch, dy, x, as_matrix(weight.value, n), dw, db);
    }
};

/// The same for a row-parallel layer; x is inside.
struct RowLinear {
    Parameter weight;
    Parameter bias;

    Tensor forward(Boundary& boundary, Tensor x, Saved& saved)
    {
        Tensor y = row_parallel_forward(boundary, x, weight.value, bias.value);
        saved.push(std::move(x));
        return y;
    }
    Tensor backward(Boundary& boundary, const MicroBatch& batch, const Tensor& dy, Saved& saved)
    {
        const Tensor x = saved.pop();
        return row_parallel_backward(boundary, batch, dy, x, weight.value, weight.gradient, bias.gradient);
    }
};

/// A layer norm over the rows outside. On `saved`: mean, then rstd; x stays with the caller.
struct LayerNorm {
    Parameter gain;
    Parameter bias;

    LayerNorm(const std::string& name, std::int64_t hidden)
        : gain(vector(name + ".weight", Slice::whole({hidden}), 1.0)),
          bias(vector(name + ".bias", Slice::whole({hidden}), 0.0))
    {
    }

    Tensor forward(const Tensor& x, Saved& saved)
    {
        transformer::LayerNormOutput out = transformer::layer_norm_forward(x, gain.value, bias.value);
        saved.push(std::move(out.mean));
        saved.push(std::move(out.rstd));
        return std::move(out.y);
    }
    /// Where rows are shared out, the gradients of the own ones are summed over the group before they are
    /// added.
    Tensor backward(Boundary& boundary, const Tensor& dy, const Tensor& x, Saved& saved)
    {
        const Tensor rstd = saved.pop();
        const Tensor mean = saved.pop();
        if (!boundary.shares_rows())
            return transformer::layer_norm_backward(dy, x, gain.value, mean, rstd, gain.gradient,
                                                    bias.gradient);
        const std::int64_t hidden = gain.elements();
        Tensor sums(x.device(), {2, hidden}, x.dtype(), Category::workspace);
        sums.fill_zero();
        Tensor dgain = sums.view(0, {hidden});
        Tensor dbias = sums.view(hidden, {hidden});
        Tensor dx = transformer::layer_norm_backward(dy, x, gain.value, mean, rstd, dgain, dbias);
        boundary.sum_over_rows(sums);
        add(dgain, gain.gradient);
        add(dbias, bias.gradient);
        return dx;
    }
};

class Embedding : public Module {
  public:
    Embedding(Boundary& boundary, const ModelShape& shape, bool tied, const Dropout& dropout)
        : boundary_(boundary),
          dropout_(dropout),
          entries_(collectives::chunk_of(shape.vocabulary, boundary.group().size(), boundary.group().rank())),
          wte_(matrix(
              "wte.weight",
              {{shape.vocabulary, shape.hidden}, {entries_.offset, 0}, {entries_.count, shape.hidden}})),
          wpe_(matrix("wpe.weight", Slice::whole({shape.sequence, shape.hidden}))),
          tied_(tied)
    {
    }

    std::vector<Parameter*> parameters() override { return {&wte_, &wpe_}; }
    bool backward_reads_values() const override { return false; }

    Tensor forward(const MicroBatch& batch, Tensor, Saved&) override
    {
        Tensor y = embedding_forward(boundary_, batch, entries_, wte_.value, wpe_.value);
        apply_dropout(dropout_, "embedding", batch, boundary_.first_row(batch), y);
        return y;
    }

    Tensor backward(const MicroBatch& batch, Tensor dy, Saved&) override
    {
        if (tied_ && wte_.second_gradient.empty()) {
            wte_.second_gradient = make_like(wte_.gradient, Category::workspace);
            wte_.second_gradient.fill_zero();
        }
        apply_dropout(dropout_, "embedding", batch, boundary_.first_row(batch), dy);
        embedding_backward(boundary_, batch, entries_, dy, tied_ ? wte_.second_gradient : wte_.gradient,
                           wpe_.gradient);
        return {};
    }

  private:
    Boundary& boundary_;
    Dropout dropout_;
    collectives::Chunk entries_;
    Parameter wte_;
    Parameter wpe_;
    bool tied_;
};

class Block : public Module {
  public:
    Block(Boundary& boundary, const ModelShape& shape, std::int64_t layer, const BlockOptions& options)
        : Block(boundary, boundary.group(), shape, "h." + std::to_string(layer),
                initial_deviation / std::sqrt(2.0 * static_cast<double>(shape.layers)), options)
    {
    }

    std::vector<Parameter*> parameters() override
    {
        return {&ln_1_.gain,         &ln_1_.bias,       &attention_.weight, &attention_.bias,
                &projection_.weight, &projection_.bias, &ln_2_.gain,        &ln_2_.bias,
                &mlp_in_.weight,     &mlp_in_.bias,     &mlp_out_.weight,   &mlp_out_.bias};
    }

    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        // BEGIN SOLUTION 08.4 Block::forward
        // u = x + attention half
        Tensor qkv = attention_.forward(boundary_, batch, ln_1_.forward(x, saved), saved);
        transformer::AttentionOutput own_heads = transformer::attention_forward(qkv, heads_);
        saved.push(std::move(qkv));
        if (!options_.recompute_attention) saved.push(std::move(own_heads.probabilities));
        own_heads.probabilities = Tensor();
        Tensor u = projection_.forward(boundary_, std::move(own_heads.y), saved);
        drop(".attn", batch, u);
        add(x, u);
        saved.push(std::move(x));
        // y = u + MLP half
        Tensor inner = mlp_in_.forward(boundary_, batch, ln_2_.forward(u, saved), saved);
        Tensor activated = transformer::gelu_forward(inner);
        saved.push(std::move(inner));
        Tensor y = mlp_out_.forward(boundary_, std::move(activated), saved);
        drop(".mlp", batch, y);
        add(u, y);
        saved.push(std::move(u));
        return y;
        // END SOLUTION
    }

    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        // BEGIN SOLUTION 08.4 Block::backward
        // y = u + mlp_out(gelu(mlp_in(ln_2(u))))
        {
            const Tensor u = saved.pop();
            Tensor d = mlp_out_.backward(boundary_, batch, dropped(".mlp", batch, dy), saved);
            d = transformer::gelu_backward(d, saved.pop());
            d = mlp_in_.backward(boundary_, batch, d, saved);
            add(ln_2_.backward(boundary_, d, u, saved), dy);
        }
        // u = x + projection(attention(c_attn(ln_1(x))))
        const Tensor x = saved.pop();
        Tensor d = projection_.backward(boundary_, batch, dropped(".attn", batch, dy), saved);
        {
            Tensor probabilities;
            if (!options_.recompute_attention) probabilities = saved.pop();
            const Tensor qkv = saved.pop();
            if (options_.recompute_attention)
                probabilities = transformer::attention_forward(qkv, heads_).probabilities;
            d = transformer::attention_backward(d, qkv, probabilities, heads_);
        }
        d = attention_.backward(boundary_, batch, d, saved);
        add(ln_1_.backward(boundary_, d, x, saved), dy);
        return dy;
        // END SOLUTION
    }

  private:
    Block(Boundary& boundary, const Comm& group, const ModelShape& s, const std::string& name,
          double output_deviation, const BlockOptions& options)
        : boundary_(boundary),
          options_(options),
          name_(name),
          heads_(s.heads / group.size()),
          ln_1_(name + ".ln_1", s.hidden),
          // c_attn's columns are [Q | K | V], so that the part of a rank is three runs of columns
          attention_{matrix(name + ".attn.c_attn.weight", cut({s.hidden, 3, s.hidden}, 2, group)),
                     vector(name + ".attn.c_attn.bias", cut({3, s.hidden}, 1, group), 0.0)},
          projection_{
              matrix(name + ".attn.c_proj.weight", cut({s.hidden, s.hidden}, 0, group), output_deviation),
              vector(name + ".attn.c_proj.bias", Slice::whole({s.hidden}), 0.0)},
          ln_2_(name + ".ln_2", s.hidden),
          mlp_in_{matrix(name + ".mlp.c_fc.weight", cut({s.hidden, s.mlp()}, 1, group)),
                  vector(name + ".mlp.c_fc.bias", cut({s.mlp()}, 0, group), 0.0)},
          mlp_out_{matrix(name + ".mlp.c_proj.weight", cut({s.mlp(), s.hidden}, 0, group), output_deviation),
                   vector(name + ".mlp.c_proj.bias", Slice::whole({s.hidden}), 0.0)}
    {
    }

    /// Dropout of what one half of the block adds, or of its gradient.
    void drop(const char* half, const MicroBatch& batch, Tensor& x)
    {
        apply_dropout(options_.dropout, name_ + half, batch, boundary_.first_row(batch), x);
    }

    /// The gradient of what a half adds, with the elements that were dropped zero; dy itself stays for the
    /// residual.
    Tensor dropped(const char* half, const MicroBatch& batch, const Tensor& dy)
    {
        if (options_.dropout.probability == 0.0) return dy.view(0, dy.shape());
        Tensor d = dy.clone(Category::activations);
        drop(half, batch, d);
        return d;
    }

    Boundary& boundary_;
    BlockOptions options_;
    std::string name_;
    std::int64_t heads_;  // of this rank
    LayerNorm ln_1_;
    ColumnLinear attention_;
    RowLinear projection_;
    LayerNorm ln_2_;
    ColumnLinear mlp_in_;
    RowLinear mlp_out_;
};

class Head : public Module {
  public:
    Head(Boundary& boundary, const ModelShape& shape, Parameter& token_embedding)
        : boundary_(boundary),
          entries_(collectives::chunk_of(shape.vocabulary, boundary.group().size(), boundary.group().rank())),
          ln_f_("ln_f", shape.hidden),
          wte_(token_embedding)
    {
    }

    std::vector<Parameter*> parameters() override { return {&ln_f_.gain, &ln_f_.bias, &wte_}; }

    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        // BEGIN SOLUTION 08.4 Head::forward
        Tensor z = ln_f_.forward(x, saved);
        Tensor logits = logits_of(boundary_.enter(batch, z));
        CrossEntropy out =
            cross_entropy_forward(boundary_.group(), entries_, logits, batch.targets, batch.token_weight);
        saved.push(std::move(x));
        saved.push(std::move(z));
        saved.push(std::move(logits));
        saved.push(std::move(out.log_denominator));
        return std::move(out.loss);
        // END SOLUTION
    }

    Tensor backward(const MicroBatch& batch, Tensor dloss, Saved& saved) override
    {
        // BEGIN SOLUTION 08.4 Head::backward
        const Tensor log_denominator = saved.pop();
        const Tensor dlogits = cross_entropy_backward(entries_, dloss.span<double>()[0], saved.pop(),
                                                      log_denominator, batch.targets, batch.token_weight);
        const Tensor z = saved.pop();
        const Tensor x = saved.pop();
        const Tensor dz = boundary_.enter_backward(logits_backward(dlogits, boundary_.enter(batch, z)));
        return ln_f_.backward(boundary_, dz, x, saved);
        // END SOLUTION
    }

  private:
    /// The own entries' logits (B, T, V_r) = z wteᵀ.
    Tensor logits_of(const Tensor& z)
    {
        Tensor logits(z.device(), {z.dim(0), z.dim(1), entries_.count}, z.dtype(), Category::activations);
        with_real(z.dtype(), [&](auto zero) {
            using Real = decltype(zero);
            const Input<Real> z_(z), wte_rows(wte_.value);
            const Output<Real> logits_(logits);
            gemm(z.device(), Real(1), z_.matrix(), transpose(wte_rows.matrix()), Real(0), logits_.matrix());
        });
        return logits;
    }

    /// dz = dlogits wte, a partial sum; adds dlogitsᵀ z to the gradient of the own entries.
    Tensor logits_backward(const Tensor& dlogits, const Tensor& z)
    {
        Tensor dz(z.device(), z.shape(), z.dtype(), Category::activations);
        with_real(z.dtype(), [&](auto zero) {
            using Real = decltype(zero);
            const Input<Real> dlogits_(dlogits), z_(z), wte_rows(wte_.value);
            const Output<Real> dz_(dz);
            const Update<Real> dwte_(wte_.gradient);
            gemm(z.device(), Real(1), dlogits_.matrix(), wte_rows.matrix(), Real(0), dz_.matrix());
            gemm(z.device(), Real(1), transpose(dlogits_.matrix()), z_.matrix(), Real(1), dwte_.matrix());
        });
        return dz;
    }

    Boundary& boundary_;
    collectives::Chunk entries_;
    LayerNorm ln_f_;
    Parameter& wte_;
};

}  // namespace

void tensor_parallel::check_degree(const ModelShape& shape, int degree)
{
    // BEGIN SOLUTION 08.4 check_degree
    check(degree >= 1 && shape.heads % degree == 0,
          "--heads {} cannot be cut for --tp {} ranks: choose a degree that divides the heads", shape.heads,
          degree);
    check(degree <= shape.vocabulary,
          "--vocab {0} cannot be cut for --tp {1} ranks: choose a degree of at most {0}", shape.vocabulary,
          degree);
    // END SOLUTION
}

std::unique_ptr<Module> tensor_parallel::make_embedding(Boundary& boundary, const ModelShape& shape,
                                                        bool tied, const Dropout& dropout)
{
    return std::make_unique<Embedding>(boundary, shape, tied, dropout);
}

std::unique_ptr<Module> tensor_parallel::make_block(Boundary& boundary, const ModelShape& shape,
                                                    std::int64_t layer, const BlockOptions& options)
{
    return std::make_unique<Block>(boundary, shape, layer, options);
}

std::unique_ptr<Module> tensor_parallel::make_head(Boundary& boundary, const ModelShape& shape,
                                                   Parameter& token_embedding)
{
    return std::make_unique<Head>(boundary, shape, token_embedding);
}

Modules tensor_parallel::make_gpt(Boundary& boundary, const ModelShape& shape, const BlockOptions& options)
{
    shape.validate();
    check_degree(shape, boundary.group().size());
    Modules gpt;
    gpt.push_back(make_embedding(boundary, shape, true, options.dropout));
    Parameter& token_embedding = *gpt.front()->parameters().front();
    for (std::int64_t layer = 0; layer < shape.layers; ++layer)
        gpt.push_back(make_block(boundary, shape, layer, options));
    gpt.push_back(make_head(boundary, shape, token_embedding));
    return gpt;
}

bool tensor_parallel::is_replicated(const Parameter& parameter)
{
    return parameter.slice.shape == parameter.slice.global;
}
