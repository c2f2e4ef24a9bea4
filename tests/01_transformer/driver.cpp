// Runs one case of lesson 01 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers; the gradients that a function adds to are inputs of the name of what comes out.
#include "lib/tools/grade/driver.hpp"

#include "lessons/01_transformer/attention.hpp"
#include "lessons/01_transformer/cross_entropy.hpp"
#include "lessons/01_transformer/embedding.hpp"
#include "lessons/01_transformer/gelu.hpp"
#include "lessons/01_transformer/layer_norm.hpp"
#include "lessons/01_transformer/linear.hpp"
#include "tests/01_transformer/driver_model.hpp"

using namespace grade;

namespace {

/// What the inputs held at first, so that a change can be told.
class Unchanged {
  public:
    explicit Unchanged(std::vector<std::pair<std::string, const Tensor*>> inputs) : inputs_(std::move(inputs))
    {
        for (const auto& [name, tensor] : inputs_) before_.push_back(bytes_of(*tensor));
    }
    /// Output "changed": the names of the inputs that are not what they were.
    void put(Case& c) const
    {
        std::string changed;
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            if (bytes_of(*inputs_[i].second) != before_[i])
                changed += (changed.empty() ? "" : ", ") + inputs_[i].first;
        c.put("changed", changed);
    }

  private:
    static std::string bytes_of(const Tensor& tensor)
    {
        const ConstBuffer buffer = tensor.buffer();
        return {reinterpret_cast<const char*>(buffer.data), buffer.bytes()};
    }

    std::vector<std::pair<std::string, const Tensor*>> inputs_;
    std::vector<std::string> before_;
};

void linear_forward(Case& c)
{
    const Tensor x = c.tensor("x");
    const Tensor w = c.tensor("w", Category::parameters);
    const Tensor b = c.tensor("b", Category::parameters);
    const Unchanged unchanged({{"x", &x}, {"w", &w}, {"b", &b}});
    c.start_measuring();
    const Tensor y = transformer::linear_forward(x, w, b);
    c.stop_measuring();
    unchanged.put(c);
    c.put("y", y);
}

void linear_backward(Case& c)
{
    const Tensor dy = c.tensor("dy");
    const Tensor x = c.tensor("x");
    const Tensor w = c.tensor("w", Category::parameters);
    Tensor dw = c.tensor("dw", Category::gradients);
    Tensor db = c.tensor("db", Category::gradients);
    const Unchanged unchanged({{"dy", &dy}, {"x", &x}, {"w", &w}});
    c.start_measuring();
    const Tensor dx = transformer::linear_backward(dy, x, w, dw, db);
    c.stop_measuring();
    unchanged.put(c);
    c.put("dx", dx);
    c.put("dw", dw);
    c.put("db", db);
}

void gelu_forward(Case& c)
{
    const Tensor x = c.tensor("x");
    const Unchanged unchanged({{"x", &x}});
    c.start_measuring();
    const Tensor y = transformer::gelu_forward(x);
    c.stop_measuring();
    unchanged.put(c);
    c.put("y", y);
}

void gelu_backward(Case& c)
{
    const Tensor dy = c.tensor("dy");
    const Tensor x = c.tensor("x");
    const Unchanged unchanged({{"dy", &dy}, {"x", &x}});
    c.start_measuring();
    const Tensor dx = transformer::gelu_backward(dy, x);
    c.stop_measuring();
    unchanged.put(c);
    c.put("dx", dx);
}

void layer_norm_forward(Case& c)
{
    const Tensor x = c.tensor("x");
    const Tensor gain = c.tensor("gain", Category::parameters);
    const Tensor bias = c.tensor("bias", Category::parameters);
    const Unchanged unchanged({{"x", &x}, {"gain", &gain}, {"bias", &bias}});
    c.start_measuring();
    const transformer::LayerNormOutput out = transformer::layer_norm_forward(x, gain, bias);
    c.stop_measuring();
    unchanged.put(c);
    c.put("y", out.y);
    c.put("mean", out.mean);
    c.put("rstd", out.rstd);
}

void layer_norm_backward(Case& c)
{
    const Tensor dy = c.tensor("dy");
    const Tensor x = c.tensor("x");
    const Tensor gain = c.tensor("gain", Category::parameters);
    const Tensor mean = c.tensor("mean");
    const Tensor rstd = c.tensor("rstd");
    Tensor dgain = c.tensor("dgain", Category::gradients);
    Tensor dbias = c.tensor("dbias", Category::gradients);
    const Unchanged unchanged({{"dy", &dy}, {"x", &x}, {"gain", &gain}, {"mean", &mean}, {"rstd", &rstd}});
    c.start_measuring();
    const Tensor dx = transformer::layer_norm_backward(dy, x, gain, mean, rstd, dgain, dbias);
    c.stop_measuring();
    unchanged.put(c);
    c.put("dx", dx);
    c.put("dgain", dgain);
    c.put("dbias", dbias);
}

void attention_forward(Case& c)
{
    const Tensor qkv = c.tensor("qkv");
    const Unchanged unchanged({{"qkv", &qkv}});
    c.start_measuring();
    const transformer::AttentionOutput out = transformer::attention_forward(qkv, c.integer("heads"));
    c.stop_measuring();
    unchanged.put(c);
    c.put("y", out.y);
    c.put("probabilities", out.probabilities);
}

void attention_backward(Case& c)
{
    const Tensor dy = c.tensor("dy");
    const Tensor qkv = c.tensor("qkv");
    const Tensor probabilities = c.tensor("probabilities");
    const Unchanged unchanged({{"dy", &dy}, {"qkv", &qkv}, {"probabilities", &probabilities}});
    c.start_measuring();
    const Tensor dqkv = transformer::attention_backward(dy, qkv, probabilities, c.integer("heads"));
    c.stop_measuring();
    unchanged.put(c);
    c.put("dqkv", dqkv);
}

void embedding_forward(Case& c)
{
    const std::vector<std::int32_t> ids = c.ids("ids");
    const Tensor wte = c.tensor("wte", Category::parameters);
    const Tensor wpe = c.tensor("wpe", Category::parameters);
    const Unchanged unchanged({{"wte", &wte}, {"wpe", &wpe}});
    c.start_measuring();
    const Tensor y = transformer::embedding_forward(ids, c.integer("sequences"), wte, wpe);
    c.stop_measuring();
    unchanged.put(c);
    c.put("y", y);
}

void embedding_backward(Case& c)
{
    const std::vector<std::int32_t> ids = c.ids("ids");
    const Tensor dy = c.tensor("dy");
    Tensor dwte = c.tensor("dwte", Category::gradients);
    Tensor dwpe = c.tensor("dwpe", Category::gradients);
    const Unchanged unchanged({{"dy", &dy}});
    c.start_measuring();
    transformer::embedding_backward(dy, ids, dwte, dwpe);
    c.stop_measuring();
    unchanged.put(c);
    c.put("dwte", dwte);
    c.put("dwpe", dwpe);
}

void cross_entropy_forward(Case& c)
{
    const std::vector<std::int32_t> targets = c.ids("targets");
    const Tensor logits = c.tensor("logits");
    const Unchanged unchanged({{"logits", &logits}});
    c.start_measuring();
    const transformer::CrossEntropyOutput out =
        transformer::cross_entropy_forward(logits, targets, c.number("weight"));
    c.stop_measuring();
    unchanged.put(c);
    c.put("loss", out.loss);
    c.put("log_denominator", out.log_denominator);
}

void cross_entropy_backward(Case& c)
{
    const std::vector<std::int32_t> targets = c.ids("targets");
    Tensor logits = c.tensor("logits");
    const Tensor log_denominator = c.tensor("log_denominator");
    const Unchanged unchanged({{"log_denominator", &log_denominator}});
    c.start_measuring();
    const Tensor dlogits = transformer::cross_entropy_backward(c.number("dloss"), std::move(logits),
                                                               log_denominator, targets, c.number("weight"));
    c.stop_measuring();
    unchanged.put(c);
    c.put("dlogits", dlogits);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv,
                      {{"linear_forward", linear_forward},
                       {"linear_backward", linear_backward},
                       {"gelu_forward", gelu_forward},
                       {"gelu_backward", gelu_backward},
                       {"layer_norm_forward", layer_norm_forward},
                       {"layer_norm_backward", layer_norm_backward},
                       {"attention_forward", attention_forward},
                       {"attention_backward", attention_backward},
                       {"embedding_forward", embedding_forward},
                       {"embedding_backward", embedding_backward},
                       {"cross_entropy_forward", cross_entropy_forward},
                       {"cross_entropy_backward", cross_entropy_backward},
                       {"block_forward", driver::block_forward},
                       {"block", driver::block},
                       {"head_forward", driver::head_forward},
                       {"head", driver::head},
                       {"model", driver::model}});
}
