#include "tests/08_tensor_parallel/model_reference.hpp"

#include <utility>

#include "lessons/01_transformer/attention.hpp"
#include "lessons/01_transformer/gelu.hpp"
#include "lessons/01_transformer/layer_norm.hpp"
#include "lessons/01_transformer/linear.hpp"
#include "lib/machine/tensor/arithmetic.hpp"
#include "lib/machine/tensor/random.hpp"

namespace tensor_parallel_test {

namespace {

/// Element c of token t of sequence s of the global batch is dropped when number ((s T + t) h + c) of the
/// stream is less than p; the others grow by 1 / (1 − p).
void drop(const GptRun& run, const std::string& name, const MicroBatch& batch, Tensor& x)
{
    if (run.dropout == 0.0 || batch.step == 0) return;
    const RandomStream stream(run.seed, fmt::format("dropout {} {}", name, batch.step));
    std::vector<double> values = to_doubles(x);
    const std::int64_t first = batch.first_sequence * batch.tokens * x.columns();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool keeps = stream.uniform(static_cast<std::uint64_t>(first) + i) >= run.dropout;
        values[i] = keeps ? values[i] / (1.0 - run.dropout) : 0.0;
    }
    from_doubles(values, x);
}

class DroppedEmbedding : public Module {
  public:
    explicit DroppedEmbedding(const GptRun& run)
        : run_(run), whole_(transformer::make_embedding(run.shape, true))
    {
    }
    std::vector<Parameter*> parameters() override { return whole_->parameters(); }
    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        Tensor y = whole_->forward(batch, std::move(x), saved);
        drop(run_, "embedding", batch, y);
        return y;
    }
    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        drop(run_, "embedding", batch, dy);
        return whole_->backward(batch, std::move(dy), saved);
    }

  private:
    GptRun run_;
    std::unique_ptr<Module> whole_;
};

/// u = x + drop(attention half), y = u + drop(MLP half), from lesson 01's layers. What the backward pass
/// needs stays here: one micro-batch goes forward and backward before the next.
class DroppedBlock : public Module {
  public:
    DroppedBlock(const GptRun& run, std::int64_t layer)
        : run_(run),
          name_("h." + std::to_string(layer)),
          whole_(transformer::make_block(run.shape, layer)),
          p_(whole_->parameters())
    {
    }
    std::vector<Parameter*> parameters() override { return p_; }
    Tensor forward(const MicroBatch& batch, Tensor x, Saved&) override
    {
        x_ = std::move(x);
        ln_1_ = transformer::layer_norm_forward(x_, p_[0]->value, p_[1]->value);
        qkv_ = transformer::linear_forward(ln_1_.y, p_[2]->value, p_[3]->value);
        heads_ = transformer::attention_forward(qkv_, run_.shape.heads);
        u_ = transformer::linear_forward(heads_.y, p_[4]->value, p_[5]->value);
        drop(run_, name_ + ".attn", batch, u_);
        add(x_, u_);
        ln_2_ = transformer::layer_norm_forward(u_, p_[6]->value, p_[7]->value);
        inner_ = transformer::linear_forward(ln_2_.y, p_[8]->value, p_[9]->value);
        activated_ = transformer::gelu_forward(inner_);
        Tensor y = transformer::linear_forward(activated_, p_[10]->value, p_[11]->value);
        drop(run_, name_ + ".mlp", batch, y);
        add(u_, y);
        return y;
    }
    Tensor backward(const MicroBatch& batch, Tensor dy, Saved&) override
    {
        Tensor d = dy.clone(Category::activations);
        drop(run_, name_ + ".mlp", batch, d);
        d = linear_backward(d, activated_, 10);
        d = linear_backward(transformer::gelu_backward(d, inner_), ln_2_.y, 8);
        add(layer_norm_backward(d, u_, ln_2_, 6), dy);
        d = dy.clone(Category::activations);
        drop(run_, name_ + ".attn", batch, d);
        d = linear_backward(d, heads_.y, 4);
        d = transformer::attention_backward(d, qkv_, heads_.probabilities, run_.shape.heads);
        d = linear_backward(d, ln_1_.y, 2);
        add(layer_norm_backward(d, x_, ln_1_, 0), dy);
        return dy;
    }

  private:
    Tensor linear_backward(const Tensor& dy, const Tensor& x, std::size_t first)
    {
        return transformer::linear_backward(dy, x, p_[first]->value, p_[first]->gradient,
                                            p_[first + 1]->gradient);
    }
    Tensor layer_norm_backward(const Tensor& dy, const Tensor& x, const transformer::LayerNormOutput& out,
                               std::size_t first)
    {
        return transformer::layer_norm_backward(dy, x, p_[first]->value, out.mean, out.rstd,
                                                p_[first]->gradient, p_[first + 1]->gradient);
    }

    GptRun run_;
    std::string name_;
    std::unique_ptr<Module> whole_;
    std::vector<Parameter*> p_;
    Tensor x_, qkv_, u_, inner_, activated_;
    transformer::LayerNormOutput ln_1_, ln_2_;
    transformer::AttentionOutput heads_;
};

Modules make_whole(const GptRun& run)
{
    if (run.dropout == 0.0) return transformer::make_gpt(run.shape);
    Modules modules;
    modules.push_back(std::make_unique<DroppedEmbedding>(run));
    Parameter& token_embedding = *modules.front()->parameters().front();
    for (std::int64_t layer = 0; layer < run.shape.layers; ++layer)
        modules.push_back(std::make_unique<DroppedBlock>(run, layer));
    modules.push_back(transformer::make_head(run.shape, token_embedding));
    return modules;
}

}  // namespace

std::string GptRun::name() const
{
    return fmt::format("{}, {} heads, V = {}{}{}", at.name(), shape.heads, shape.vocabulary,
                       dropout > 0.0 ? fmt::format(", dropout {}", dropout) : "",
                       recompute ? ", recomputed" : "");
}

std::vector<std::int32_t> GptRun::inputs() const
{
    return random_ids(name() + "inputs", sequences() * at.tokens, shape.vocabulary);
}

std::vector<std::int32_t> GptRun::targets() const
{
    std::vector<std::int32_t> ids = random_ids(name() + "targets", sequences() * at.tokens, shape.vocabulary);
    std::fill_n(ids.begin(), ids.size() / 3, -1);
    return ids;
}

json GptRun::input() const
{
    return {{"boundary", at.boundary},
            {"layers", shape.layers},
            {"hidden", shape.hidden},
            {"heads", shape.heads},
            {"positions", shape.sequence},
            {"vocabulary", shape.vocabulary},
            {"dtype", name_of(at.dtype)},
            {"sequences", sequences()},
            {"tokens", at.tokens},
            {"inputs", inputs()},
            {"targets", targets()},
            {"micro_batches", micro_batches},
            {"dropout", dropout},
            {"recompute", recompute},
            {"step", step},
            {"first_sequence", first_sequence},
            {"loss_scale", loss_scale},
            {"seed", seed}};
}

CaseInput GptRun::case_input(const std::string& operation) const
{
    return at.group.input(operation, std::vector<json>(static_cast<std::size_t>(at.group.p), input()));
}

GptBatch::GptBatch(const GptRun& run) : run_(run), inputs_(run.inputs()), targets_(run.targets()) {}

std::vector<MicroBatch> GptBatch::parts() const
{
    MicroBatch batch;
    batch.sequences = run_.sequences();
    batch.tokens = run_.at.tokens;
    batch.inputs = inputs_;
    batch.targets = targets_;
    batch.first_sequence = run_.first_sequence;
    batch.step = run_.step;
    return training::split_batch(batch, run_.micro_batches);
}

SingleProcess::SingleProcess(const GptRun& run, DType dtype)
    : modules_(make_whole(run)), flat_(device_, make_flat_layout(parameters_of(modules_), 1), dtype)
{
    for (const FlatEntry& entry : flat_.layout().entries) {
        Parameter& parameter = *entry.parameter;
        Tensor start(device_, parameter.slice.shape, run.at.dtype, Category::workspace);
        initialise(parameter, run.seed, 0, start.buffer());
        convert(std::as_const(start).buffer(), parameter.value.buffer());
    }
    const GptBatch batch(run);
    loss_ = training::accumulate_gradients(modules_, batch.parts(), run.loss_scale);
}

ByName SingleProcess::numbers(Tensor Parameter::*tensor) const
{
    ByName result;
    for (const FlatEntry& entry : flat_.layout().entries)
        result[entry.parameter->name] = to_doubles(entry.parameter->*tensor);
    return result;
}

}  // namespace tensor_parallel_test
