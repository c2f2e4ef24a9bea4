// The backward pass of every layer of lesson 01 against differences of its forward pass.
#include "lessons/01_transformer/attention.hpp"
#include "lessons/01_transformer/cross_entropy.hpp"
#include "lessons/01_transformer/embedding.hpp"
#include "lessons/01_transformer/gelu.hpp"
#include "lessons/01_transformer/layer_norm.hpp"
#include "lessons/01_transformer/linear.hpp"
#include "tests/lib/differences.hpp"

using namespace differences;

TEST_CASE("linear: gradients are the derivative", "[differences]")
{
    struct Sizes {
        std::int64_t sequences, tokens, n, m;
    };
    for (const Sizes& s : {Sizes{2, 3, 5, 4}, Sizes{1, 1, 1, 1}, Sizes{1, 7, 3, 9}, Sizes{3, 1, 8, 2}}) {
        Device device{DeviceOptions{}};
        Tensor x = random_tensor(device, "x", {s.sequences, s.tokens, s.n});
        Tensor w = random_tensor(device, "w", {s.n, s.m});
        Tensor b = random_tensor(device, "b", {s.m});
        const Tensor dy = random_tensor(device, "dy", {s.sequences, s.tokens, s.m});
        Tensor dw = zeros(device, w.shape());
        Tensor db = zeros(device, b.shape());
        const Tensor dx = transformer::linear_backward(dy, x, w, dw, db);
        check_gradients("linear", [&] { return dot(dy, transformer::linear_forward(x, w, b)); },
                        {{"x", &x, to_doubles(dx)}, {"w", &w, to_doubles(dw)}, {"b", &b, to_doubles(db)}});
    }
}

TEST_CASE("gelu: the gradient is the derivative", "[differences]")
{
    Device device{DeviceOptions{}};
    Tensor x = random_tensor(device, "x", {3, 7, 5}, 2.0);
    const Tensor dy = random_tensor(device, "dy", x.shape());
    const Tensor dx = transformer::gelu_backward(dy, x);
    check_gradients("gelu", [&] { return dot(dy, transformer::gelu_forward(x)); },
                    {{"x", &x, to_doubles(dx)}});
}

TEST_CASE("layer norm: gradients are the derivative", "[differences]")
{
    for (const Shape& shape : {Shape{2, 3, 5}, Shape{1, 1, 1}, Shape{1, 1, 7}, Shape{9, 4}}) {
        Device device{DeviceOptions{}};
        Tensor x = random_tensor(device, "x", shape);
        Tensor gain = random_tensor(device, "gain", {shape.back()}, 0.3, 1.0);
        Tensor bias = random_tensor(device, "bias", {shape.back()});
        const Tensor dy = random_tensor(device, "dy", shape);
        const transformer::LayerNormOutput out = transformer::layer_norm_forward(x, gain, bias);
        Tensor dgain = zeros(device, gain.shape());
        Tensor dbias = zeros(device, bias.shape());
        const Tensor dx = transformer::layer_norm_backward(dy, x, gain, out.mean, out.rstd, dgain, dbias);
        check_gradients("layer norm",
                        [&] { return dot(dy, transformer::layer_norm_forward(x, gain, bias).y); },
                        {{"x", &x, to_doubles(dx)},
                         {"gain", &gain, to_doubles(dgain)},
                         {"bias", &bias, to_doubles(dbias)}});
    }
}

TEST_CASE("attention: the gradient is the derivative", "[differences]")
{
    struct Sizes {
        std::int64_t sequences, tokens, heads, head_size;
    };
    for (const Sizes& s :
         {Sizes{2, 5, 3, 2}, Sizes{1, 1, 1, 1}, Sizes{1, 7, 1, 4}, Sizes{3, 1, 2, 3}, Sizes{2, 3, 4, 1}}) {
        Device device{DeviceOptions{}};
        const std::int64_t hidden = s.heads * s.head_size;
        Tensor qkv = random_tensor(device, "qkv", {s.sequences, s.tokens, 3 * hidden});
        const Tensor dy = random_tensor(device, "dy", {s.sequences, s.tokens, hidden});
        const transformer::AttentionOutput out = transformer::attention_forward(qkv, s.heads);
        const Tensor dqkv = transformer::attention_backward(dy, qkv, out.probabilities, s.heads);
        check_gradients("attention", [&] { return dot(dy, transformer::attention_forward(qkv, s.heads).y); },
                        {{"qkv", &qkv, to_doubles(dqkv)}});
    }
}

TEST_CASE("embedding: gradients are the derivative", "[differences]")
{
    struct Sizes {
        std::int64_t sequences, tokens, positions, vocabulary, hidden;
    };
    for (const Sizes& s : {Sizes{2, 5, 6, 3, 4}, Sizes{1, 1, 1, 1, 1}, Sizes{1, 3, 3, 17, 2}}) {
        Device device{DeviceOptions{}};
        const std::vector<std::int32_t> ids = random_ids("ids", s.sequences * s.tokens, s.vocabulary);
        Tensor wte = random_tensor(device, "wte", {s.vocabulary, s.hidden});
        Tensor wpe = random_tensor(device, "wpe", {s.positions, s.hidden});
        const Tensor dy = random_tensor(device, "dy", {s.sequences, s.tokens, s.hidden});
        Tensor dwte = zeros(device, wte.shape());
        Tensor dwpe = zeros(device, wpe.shape());
        transformer::embedding_backward(dy, ids, dwte, dwpe);
        check_gradients("embedding",
                        [&] { return dot(dy, transformer::embedding_forward(ids, s.sequences, wte, wpe)); },
                        {{"wte", &wte, to_doubles(dwte)}, {"wpe", &wpe, to_doubles(dwpe)}});
    }
}

TEST_CASE("cross-entropy: the gradient is the derivative", "[differences]")
{
    for (const Shape& shape : {Shape{2, 3, 5}, Shape{1, 1}, Shape{7, 19}, Shape{1, 1, 2}}) {
        Device device{DeviceOptions{}};
        constexpr double dloss = 3.0;
        Tensor logits = random_tensor(device, "logits", shape);
        std::vector<std::int32_t> targets = random_ids("targets", logits.rows(), logits.columns());
        if (targets.size() > 2) targets[1] = -1;
        const double weight = 0.5 / static_cast<double>(targets.size());
        const auto loss = [&] {
            return dloss * to_doubles(transformer::cross_entropy_forward(logits, targets, weight).loss)[0];
        };
        const transformer::CrossEntropyOutput out =
            transformer::cross_entropy_forward(logits, targets, weight);
        const Tensor dlogits = transformer::cross_entropy_backward(dloss, logits.clone(Category::activations),
                                                                   out.log_denominator, targets, weight);
        check_gradients("cross-entropy", loss, {{"logits", &logits, to_doubles(dlogits)}});
    }
}

TEST_CASE("ids and targets outside the vocabulary, and sequences that are too long, are errors", "[layers]")
{
    Device device{DeviceOptions{}};
    const Tensor wte = random_tensor(device, "wte", {3, 2});
    const Tensor wpe = random_tensor(device, "wpe", {2, 2});
    const auto message = [](auto call) {
        try {
            call();
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    const auto embed = [&](std::vector<std::int32_t> ids) {
        return message([&] { transformer::embedding_forward(ids, 1, wte, wpe); });
    };
    CHECK(embed({0, 2}) == "no error");
    CHECK(embed({0, 3}) == "token 3 is outside the vocabulary: expected 0 to 2");
    CHECK(embed({-1, 0}) == "token -1 is outside the vocabulary: expected 0 to 2");
    CHECK(embed({0, 1, 2}) == "a sequence of 3 tokens does not fit the model's 2 positions");
    const auto score = [&](std::vector<std::int32_t> targets) {
        return message([&] { transformer::cross_entropy_forward(wpe, targets, 1.0); });
    };
    CHECK(score({-1, 1}) == "no error");
    CHECK(score({0, 2}) ==
          "target 2 is outside the vocabulary: expected 0 to 1, or -1 where nothing is predicted");
    CHECK(score({-2, 0}) ==
          "target -2 is outside the vocabulary: expected 0 to 1, or -1 where nothing is predicted");
    CHECK(score({0}) == "1 targets for 2 rows of logits");
}
