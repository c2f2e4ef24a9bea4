#include "lib/tools/train/generate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "lessons/01_transformer/model.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/tools/data/batch.hpp"
#include "lib/tools/train/checkpoint.hpp"

namespace shardlings {

namespace {

/// The index drawn from softmax(logits / temperature) by a uniform number in [0, 1); the largest at
/// temperature 0.
std::int32_t choose(std::vector<double> logits, double temperature, double uniform)
{
    const auto largest = std::max_element(logits.begin(), logits.end());
    if (temperature == 0.0) return static_cast<std::int32_t>(largest - logits.begin());
    const double top = *largest;
    double sum = 0.0;
    for (double& logit : logits) sum += logit = std::exp((logit - top) / temperature);
    double rest = uniform * sum;
    for (std::size_t i = 0; i < logits.size(); ++i)
        if ((rest -= logits[i]) < 0.0) return static_cast<std::int32_t>(i);
    return static_cast<std::int32_t>(largest - logits.begin());
}

/// The byte, or '?' for a control character, which could upset a terminal.
int shown(std::int32_t byte)
{
    const bool control = (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f;
    return control ? '?' : byte;
}

/// The logits of the token after `tokens`, of the byte vocabulary only.
std::vector<double> next_logits(const Modules& gpt, std::span<const std::int32_t> tokens)
{
    const MicroBatch batch{1, static_cast<std::int64_t>(tokens.size()), tokens, {}, 0.0, 0};
    const Tensor logits = transformer::predict(gpt, batch);
    const std::int64_t last = logits.rows() - 1;
    return to_doubles(logits.view(last * logits.columns(), {byte_vocabulary}));
}

}  // namespace

void generate(const GenerateOptions& options)
{
    check(!options.prompt.empty(), "--prompt is empty: the model needs at least one byte to go on from");
    check(options.tokens >= 0 && options.tokens <= 1'000'000, "--tokens is {}: expected 0 to 1000000",
          options.tokens);
    check(options.temperature >= 0.0 && std::isfinite(options.temperature),
          "--temperature is {}: expected 0 or more", options.temperature);
    const ModelShape shape = read_model_shape(options.load);
    check_vocabulary(shape.vocabulary);
    Device device{DeviceOptions{}};
    const Modules gpt = transformer::make_gpt(shape);
    FlatParameters parameters(device, make_flat_layout(parameters_of(gpt), 1),
                              read_model_dtype(options.load));
    load_checkpoint(options.load, shape, parameters, nullptr);

    std::vector<std::int32_t> tokens;
    for (const char c : options.prompt) tokens.push_back(static_cast<unsigned char>(c));
    fmt::print("{}", options.prompt);
    const RandomStream stream(options.seed, "generate");
    for (std::int64_t i = 0; i < options.tokens; ++i) {
        const auto window = std::min(tokens.size(), static_cast<std::size_t>(shape.sequence));
        tokens.push_back(choose(next_logits(gpt, std::span(tokens).last(window)), options.temperature,
                                stream.uniform(static_cast<std::uint64_t>(i))));
        std::fputc(shown(tokens.back()), stdout);
    }
    std::fputc('\n', stdout);
}

}  // namespace shardlings
