#include "lib/tools/train/checkpoint_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "lessons/01_transformer/layer_norm.hpp"
#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t largest_json = 16'000'000;  // bytes; far more than any of these files has
constexpr std::int64_t version = 1;

constexpr std::array<std::pair<DType, std::string_view>, 4> torch_names{{{DType::fp64, "float64"},
                                                                         {DType::fp32, "float32"},
                                                                         {DType::bf16, "bfloat16"},
                                                                         {DType::fp16, "float16"}}};

Json read_object(const std::filesystem::path& path)
{
    const std::string text = read_text(path, largest_json);
    Json json = Json::parse(text, nullptr, false);
    check(json.is_object(), "'{}' is not a JSON object", path.string());
    return json;
}

/// json[key] as messages show it.
std::string shown(const Json& json, const char* key)
{
    return json.contains(key) ? json[key].dump() : "missing";
}

/// json[key] as Value, which must be there.
template <class Value>
Value required(const Json& json, const char* key, const std::filesystem::path& path)
{
    check(json.contains(key), "'{}' has no '{}'", path.string(), key);
    try {
        return json[key].get<Value>();
    } catch (const Json::exception&) {
        throw Error(fmt::format("'{}': '{}' is {}", path.string(), key, shown(json, key)));
    }
}

std::int64_t size(const Json& json, const char* key, const std::filesystem::path& path)
{
    const auto value = required<Json>(json, key, path);
    check(value.is_number_integer(), "'{}': '{}' is {}: expected a whole number", path.string(), key,
          shown(json, key));
    return value.get<std::int64_t>();
}

/// Error unless the setting is left out, null, or what our model computes.
void check_setting(const Json& json, const char* key, const Json& ours, const std::filesystem::path& path)
{
    check(!json.contains(key) || json[key].is_null() || json[key] == ours,
          "'{}': '{}' is {}: this program's model has {}", path.string(), key, shown(json, key), ours.dump());
}

/// Runs `action`; its Error gets the file's name in front.
void naming_file(const std::filesystem::path& path, const std::function<void()>& action)
{
    try {
        action();
    } catch (const Error& error) {
        throw Error(fmt::format("'{}': {}", path.string(), error.what()));
    }
}

}  // namespace

void write_model_config(const std::filesystem::path& path, const ModelShape& shape, DType dtype)
{
    const auto name =
        std::find_if(torch_names.begin(), torch_names.end(), [&](auto& n) { return n.first == dtype; });
    check(name != torch_names.end(), "a model of {} cannot be saved", name_of(dtype));
    Json json;
    json["architectures"] = {"GPT2LMHeadModel"};
    json["model_type"] = "gpt2";
    json["n_layer"] = shape.layers;
    json["n_head"] = shape.heads;
    json["n_embd"] = shape.hidden;
    json["n_positions"] = shape.sequence;
    json["vocab_size"] = shape.vocabulary;
    json["activation_function"] = "gelu_new";
    json["layer_norm_epsilon"] = transformer::layer_norm_epsilon;
    json["tie_word_embeddings"] = true;
    json["embd_pdrop"] = json["resid_pdrop"] = json["attn_pdrop"] = 0.0;
    json["bos_token_id"] = json["eos_token_id"] = nullptr;  // bytes have no such token
    json["torch_dtype"] = name->second;
    write_text(path, json.dump(2) + "\n");
}

ModelConfig read_model_config(const std::filesystem::path& path)
{
    const Json json = read_object(path);
    check(json.contains("model_type") && json["model_type"] == "gpt2",
          "'{}' does not describe a GPT-2: its model_type is {}", path.string(), shown(json, "model_type"));
    ModelConfig config;
    config.shape = {size(json, "n_layer", path), size(json, "n_embd", path), size(json, "n_head", path),
                    size(json, "n_positions", path), size(json, "vocab_size", path)};
    naming_file(path, [&] { config.shape.validate(); });
    check_setting(json, "activation_function", "gelu_new", path);
    check_setting(json, "layer_norm_epsilon", transformer::layer_norm_epsilon, path);
    check_setting(json, "tie_word_embeddings", true, path);
    check_setting(json, "n_inner", config.shape.mlp(), path);
    check_setting(json, "scale_attn_weights", true, path);
    check_setting(json, "scale_attn_by_inverse_layer_idx", false, path);

    const char* key = json.contains("dtype") ? "dtype" : "torch_dtype";  // newer and older names of it
    for (const auto& [dtype, name] : torch_names)
        if (json.contains(key) && json[key] == name) config.dtype = dtype;
    return config;
}

void write_training_state(const std::filesystem::path& path, const TrainingState& state)
{
    const training::LossScale& scale = state.loss_scale;
    Json json;
    json["version"] = version;
    json["step"] = state.step;
    json["optimizer_step"] = state.optimizer_step;
    json["seed"] = state.seed;
    json["dtype"] = name_of(state.dtype);
    json["loss_scale"] = {{"scale", scale.scale},
                          {"good_steps", scale.good_steps},
                          {"growth_interval", scale.growth_interval},
                          {"largest", scale.largest},
                          {"smallest", scale.smallest}};
    write_text(path, json.dump(2) + "\n");
}

TrainingState read_training_state(const std::filesystem::path& path)
{
    const Json json = read_object(path);
    const std::int64_t found = size(json, "version", path);
    check(found == version, "'{}' has version {}: this program reads version {}", path.string(), found,
          version);
    TrainingState state;
    state.step = size(json, "step", path);
    state.optimizer_step = size(json, "optimizer_step", path);
    check(state.step >= 0 && state.optimizer_step >= 0 && state.optimizer_step <= state.step,
          "'{}': {} in {}", path.string(), counted(state.optimizer_step, "optimizer step"),
          counted(state.step, "step"));
    state.seed = required<std::uint64_t>(json, "seed", path);
    naming_file(path, [&] { state.dtype = parse_dtype(required<std::string>(json, "dtype", path)); });
    const Json scale = required<Json>(json, "loss_scale", path);
    check(scale.is_object(), "'{}': 'loss_scale' is {}", path.string(), scale.dump());
    state.loss_scale = {required<double>(scale, "scale", path), size(scale, "good_steps", path),
                        size(scale, "growth_interval", path), required<double>(scale, "largest", path),
                        required<double>(scale, "smallest", path)};
    check(std::isfinite(state.loss_scale.scale) && state.loss_scale.scale > 0.0,
          "'{}': a loss scale of {}: expected more than 0", path.string(), state.loss_scale.scale);
    return state;
}

}  // namespace shardlings
