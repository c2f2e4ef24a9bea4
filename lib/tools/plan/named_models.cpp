#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/tools/plan/model.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings::plan {

namespace {

constexpr std::uint64_t most_file_bytes = 1'000'000;

Model gpt(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
          std::int64_t sequence, std::int64_t vocabulary)
{
    Model model;
    model.name = name;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.sequence = sequence;
    model.vocabulary = vocabulary;
    model.finish();
    return model;
}

Model llama2(const char* name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
             std::int64_t kv_heads, std::int64_t mlp)
{
    Model model = gpt(name, layers, hidden, heads, 4096, 32000);
    model.kv_heads = kv_heads;
    model.mlp = mlp;
    model.gated = model.rms_norm = true;
    model.tied = model.biases = model.positions = model.dropout = false;
    model.finish();
    return model;
}

template <class Value>
void read_member(const nlohmann::json& value, const std::string& key, Value& member)
{
    if constexpr (std::is_same_v<Value, std::int64_t>)
        check(value.is_number_integer(), "'{}' is {}: expected a whole number", key, value.dump());
    else if constexpr (std::is_same_v<Value, bool>)
        check(value.is_boolean(), "'{}' is {}: expected true or false", key, value.dump());
    else
        check(value.is_string(), "'{}' is {}: expected a string", key, value.dump());
    member = value.get<Value>();
}

/// `use(name, member)` for every member that a file may set.
template <class Use>
void each_member(Model& m, Use use)
{
    use("name", m.name);
    use("layers", m.layers);
    use("hidden", m.hidden);
    use("heads", m.heads);
    use("kv_heads", m.kv_heads);
    use("mlp", m.mlp);
    use("sequence", m.sequence);
    use("vocabulary", m.vocabulary);
    use("gated", m.gated);
    use("tied", m.tied);
    use("biases", m.biases);
    use("positions", m.positions);
    use("rms_norm", m.rms_norm);
    use("dropout", m.dropout);
}

void set_member(Model& model, const std::string& key, const nlohmann::json& value)
{
    bool known = false;
    std::vector<std::string> names;
    each_member(model, [&](const char* name, auto& member) {
        names.emplace_back(name);
        if (key != name) return;
        known = true;
        read_member(value, key, member);
    });
    check(known, "'{}' is unknown: expected {}", key, fmt::join(names, ", "));
}

}  // namespace

const std::vector<Model>& named_models()
{
    // Radford et al. 2019; Brown et al. 2020, table 2.1; Touvron et al. 2023 (Llama 2), its published
    // configurations; Korthikanti et al. 2022, table 3.
    static const std::vector<Model> models{
        gpt("gpt2-small", 12, 768, 12, 1024, 50257),        gpt("gpt2-medium", 24, 1024, 16, 1024, 50257),
        gpt("gpt2-large", 36, 1280, 20, 1024, 50257),       gpt("gpt2-xl", 48, 1600, 25, 1024, 50257),
        gpt("gpt3-175b", 96, 12288, 96, 2048, 50257),       llama2("llama2-7b", 32, 4096, 32, 32, 11008),
        llama2("llama2-13b", 40, 5120, 40, 40, 13824),      llama2("llama2-70b", 80, 8192, 64, 8, 28672),
        gpt("megatron-22b", 48, 6144, 64, 2048, 51200),     gpt("megatron-175b", 96, 12288, 96, 2048, 51200),
        gpt("megatron-530b", 105, 20480, 128, 2048, 51200), gpt("megatron-1t", 128, 25600, 160, 2048, 51200),
    };
    return models;
}

Model named_model(std::string_view name)
{
    const std::vector<Model>& models = named_models();
    const auto found =
        std::find_if(models.begin(), models.end(), [&](const Model& model) { return model.name == name; });
    if (found == models.end()) {
        std::vector<std::string_view> names;
        for (const Model& model : models) names.push_back(model.name);
        throw Error(fmt::format("there is no model '{}': expected {}, or a file that ends in .json", name,
                                fmt::join(names, ", ")));
    }
    return *found;
}

Model read_model(const std::string& path)
{
    const auto json = nlohmann::json::parse(read_text(path, most_file_bytes), nullptr, false);
    check(json.is_object(),
          "'{}' is not a JSON object: expected a model's sizes, as in {{\"layers\": 12, \"hidden\": 768, …}}",
          path);
    Model model;
    model.name = path;
    try {
        for (const auto& [key, value] : json.items()) set_member(model, key, value);
        model.finish();
    } catch (const Error& error) {
        throw Error(fmt::format("'{}': {}", path, error.what()));
    }
    return model;
}

}  // namespace shardlings::plan
