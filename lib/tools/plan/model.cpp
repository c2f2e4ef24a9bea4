#include "lib/tools/plan/model.hpp"

#include "lib/machine/base/error.hpp"

namespace shardlings::plan {

void Model::finish()
{
    const auto given = [](std::string_view what, std::int64_t value, std::int64_t limit) {
        check(value >= 1 && value <= limit,
              "the model's {} are {}: expected 1 to {}; choose a --model, or give --layers, --hidden and "
              "--heads",
              what, value, limit);
    };
    given("layers", layers, 10'000);
    given("hidden columns", hidden, 1'000'000);
    given("heads", heads, hidden);
    if (kv_heads == 0) kv_heads = heads;
    if (mlp == 0) mlp = 4 * hidden;
    given("heads of keys and values", kv_heads, heads);
    given("MLP columns", mlp, 10'000'000);
    given("tokens a sequence", sequence, 10'000'000);
    given("vocabulary entries", vocabulary, 10'000'000);
    check(hidden % heads == 0,
          "the hidden size {} is not divisible by {} heads: every head has hidden / heads columns", hidden,
          heads);
    check(heads % kv_heads == 0,
          "{} heads are not divisible by {} heads of keys and values: every one of those serves heads / kv "
          "heads",
          heads, kv_heads);
}

BlockParameters block_parameters(const Model& m)
{
    const std::int64_t h = m.hidden;
    BlockParameters result{m.qkv_columns() * h + h * h + m.mlp_matrices() * h * m.mlp,
                           2 * (m.rms_norm ? h : 2 * h)};
    if (m.biases) {
        result.cut += m.qkv_columns() + (m.mlp_matrices() - 1) * m.mlp;
        result.whole += 2 * h;
    }
    return result;
}

RoughParameters rough_parameters(const Model& m)
{
    const auto h = static_cast<double>(m.hidden);
    const auto layers = static_cast<double>(m.layers);
    return {layers * h * static_cast<double>(m.qkv_columns() + m.hidden),
            layers * h * static_cast<double>(m.mlp_matrices() * m.mlp),
            (m.tied ? 1.0 : 2.0) * static_cast<double>(m.vocabulary) * h,
            m.positions ? static_cast<double>(m.sequence) * h : 0.0};
}

std::int64_t exact_parameters(const Model& m)
{
    return m.layers * block_parameters(m).all() + (m.tied ? 1 : 2) * m.vocabulary * m.hidden +
           (m.positions ? m.sequence * m.hidden : 0) + (m.rms_norm ? 1 : 2) * m.hidden;
}

counting::SequenceFlops sequence_flops(const Model& m)
{
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    counting::SequenceFlops flops =
        counting::sequence_flops({number(m.layers), number(m.hidden), number(m.mlp), number(m.heads),
                                  number(m.hidden / m.heads), number(m.sequence), number(m.vocabulary)});
    flops.qkv *= number(m.qkv_columns()) / number(3 * m.hidden);
    flops.mlp *= number(m.mlp_matrices()) / 2.0;
    return flops;
}

}  // namespace shardlings::plan
