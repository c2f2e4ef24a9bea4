// Checkpoints: what is saved is what is loaded, in any dtype, from our own files and from Hugging Face's.
#include "lib/tools/train/checkpoint.hpp"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lessons/02_training_step/accumulation.hpp"
#include "lib/tools/data/batch.hpp"
#include "lib/tools/train/safetensors.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"
#include "tests/lib/small_model.hpp"

using namespace shardlings;

namespace {

constexpr std::array dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};

std::filesystem::path save(const TemporaryFolder& folder, const SmallModel& model, TrainingState state)
{
    return save_checkpoint(folder.path(), small_shape, model.parameters, model.states, state);
}

TrainingState at_step(std::int64_t step)
{
    TrainingState state;
    state.step = step;
    return state;
}

/// The tensor's elements as doubles.
std::vector<double> values_of(const SafetensorsFile& file, const std::string& name)
{
    const FileTensor* tensor = file.find(name);
    check(tensor != nullptr, "no tensor {}", name);
    std::vector<double> values(static_cast<std::size_t>(elements_of(tensor->shape)));
    file.read(
        *tensor, 0,
        {reinterpret_cast<std::byte*>(values.data()), static_cast<std::int64_t>(values.size()), DType::fp64});
    return values;
}

/// One training step on a fixed text; every step has its own batch.
void train(SmallModel& model, training::LossScale* loss_scale, std::int64_t step)
{
    std::string bytes;
    for (int i = 0; i < 400; ++i) bytes += static_cast<char>(i * i % 251);
    const Batch batch = make_batch(Text(bytes, "t"), 1, step, 4, small_shape.sequence);
    model.parameters.gradients().fill_zero();
    training::accumulate_gradients(model.modules, training::split_batch(batch.view(), 2),
                                   loss_scale != nullptr ? loss_scale->scale : 1.0);
    training::update_parameters({}, 1.0, loss_scale, model.parameters, model.states);
}

/// Saves `model`'s parameters as Hugging Face does: `prefix` before the names, attention's constant buffers
/// and the tied output layer among them.
void save_like_hugging_face(const std::filesystem::path& path, const SmallModel& model,
                            const std::string& prefix)
{
    const DType dtype = model.parameters.values().dtype();
    std::vector<TensorDescription> tensors{{"lm_head.weight", dtype, {256, 8}},
                                           {prefix + "h.0.attn.bias", DType::byte, {1, 1, 6, 6}},
                                           {prefix + "h.0.attn.masked_bias", DType::fp32, {}}};
    for (const FlatEntry& entry : model.parameters.layout().entries)
        tensors.push_back({prefix + entry.parameter->name, dtype, entry.parameter->slice.global});
    SafetensorsWriter writer(path, tensors, {{"format", "pt"}});
    const std::vector<std::byte> mask(36, std::byte{1});
    const std::vector<float> masked{-std::numeric_limits<float>::infinity()};
    writer.write("lm_head.weight", 0, std::as_const(model.parameter("wte.weight").value).buffer());
    writer.write(prefix + "h.0.attn.bias", 0, {mask.data(), 36, DType::byte});
    writer.write(prefix + "h.0.attn.masked_bias", 0,
                 {reinterpret_cast<const std::byte*>(masked.data()), 1, DType::fp32});
    for (const FlatEntry& entry : model.parameters.layout().entries)
        writer.write(prefix + entry.parameter->name, 0, std::as_const(entry.parameter->value).buffer());
    writer.commit();
}

}  // namespace

TEST_CASE("a checkpoint comes back bit by bit in every dtype", "[checkpoint]")
{
    for (const DType dtype : dtypes) {
        INFO(name_of(dtype));
        const TemporaryFolder folder;
        SmallModel saved(dtype, 1);
        saved.scramble(2);
        saved.states.step = 98;
        TrainingState state = at_step(100);
        state.seed = 18446744073709551615u;
        state.loss_scale = {0.1, 17, 33, 1e30, 1e-3};
        const std::filesystem::path step = save(folder, saved, state);
        CHECK(step.string() == (folder / "step-00000100").string());

        for (const std::filesystem::path& path : {step, folder.path()}) {
            SmallModel loaded(dtype, 7);
            const LoadedCheckpoint result =
                load_checkpoint(path, small_shape, loaded.parameters, &loaded.states);
            CHECK(difference(saved, loaded) == "");
            CHECK(result.folder.string() == step.string());
            CHECK(result.resumable);
            CHECK(result.state.step == 100);
            CHECK(result.state.optimizer_step == 98);
            CHECK(result.state.seed == state.seed);
            CHECK(result.state.dtype == dtype);
            CHECK(result.state.loss_scale.scale == 0.1);
            CHECK(result.state.loss_scale.good_steps == 17);
            CHECK(result.state.loss_scale.growth_interval == 33);
            CHECK(result.state.loss_scale.largest == 1e30);
            CHECK(result.state.loss_scale.smallest == 1e-3);
            CHECK(read_model_shape(path) == small_shape);
            CHECK(read_model_dtype(path) == dtype);
        }
        SmallModel alone(dtype, 7);
        load_checkpoint(step, small_shape, alone.parameters, nullptr);
        CHECK(same_bits(alone.parameters.values(), saved.parameters.values()));
    }
}

TEST_CASE("training that was saved and loaded is the uninterrupted one, bit by bit", "[checkpoint]")
{
    for (const DType dtype : dtypes) {
        INFO(name_of(dtype));
        const TemporaryFolder folder;
        training::LossScale scale{1024.0, 0, 2};
        training::LossScale* const used = dtype == DType::fp16 ? &scale : nullptr;
        SmallModel straight(dtype, 1);
        for (std::int64_t step = 0; step < 3; ++step) train(straight, used, step);
        TrainingState state = at_step(3);
        state.loss_scale = scale;
        save(folder, straight, state);

        SmallModel resumed(dtype, 5);
        training::LossScale resumed_scale =
            load_checkpoint(folder.path(), small_shape, resumed.parameters, &resumed.states).state.loss_scale;
        for (std::int64_t step = 3; step < 6; ++step) {
            train(straight, used, step);
            train(resumed, used != nullptr ? &resumed_scale : nullptr, step);
        }
        CHECK(difference(straight, resumed) == "");
        if (used == nullptr) continue;
        CHECK(resumed_scale.scale == scale.scale);
        CHECK(scale.scale == 8192.0);  // six good steps of two each
        CHECK(resumed_scale.good_steps == scale.good_steps);
    }
}

TEST_CASE("a saved model has GPT2LMHeadModel's names, shapes and configuration", "[checkpoint]")
{
    const TemporaryFolder folder;
    SmallModel model(DType::bf16, 1);
    const std::filesystem::path step = save(folder, model, at_step(1));

    std::map<std::string, Shape> expected{{"transformer.wte.weight", {256, 8}},
                                          {"transformer.wpe.weight", {6, 8}},
                                          {"transformer.ln_f.weight", {8}},
                                          {"transformer.ln_f.bias", {8}}};
    const std::map<std::string, Shape> block{{"ln_1.weight", {8}},
                                             {"ln_1.bias", {8}},
                                             {"attn.c_attn.weight", {8, 24}},
                                             {"attn.c_attn.bias", {24}},
                                             {"attn.c_proj.weight", {8, 8}},
                                             {"attn.c_proj.bias", {8}},
                                             {"ln_2.weight", {8}},
                                             {"ln_2.bias", {8}},
                                             {"mlp.c_fc.weight", {8, 32}},
                                             {"mlp.c_fc.bias", {32}},
                                             {"mlp.c_proj.weight", {32, 8}},
                                             {"mlp.c_proj.bias", {8}}};
    for (const char* layer : {"transformer.h.0.", "transformer.h.1."})
        for (const auto& [name, shape] : block) expected[layer + name] = shape;

    const SafetensorsFile file(step / "model.safetensors");
    std::map<std::string, Shape> found;
    for (const auto& [name, tensor] : file.tensors()) {
        found[name] = tensor.shape;
        CHECK(tensor.dtype_name == "BF16");
        CHECK(values_of(file, name) == to_doubles(model.parameter(name.substr(12)).value));
    }
    CHECK(found == expected);
    CHECK(file.metadata() == Metadata{{"format", "pt"}});

    const auto config = nlohmann::json::parse(std::ifstream(step / "config.json"));
    const nlohmann::json wanted = {{"architectures", {"GPT2LMHeadModel"}},
                                   {"model_type", "gpt2"},
                                   {"n_layer", 2},
                                   {"n_head", 2},
                                   {"n_embd", 8},
                                   {"n_positions", 6},
                                   {"vocab_size", 256},
                                   {"activation_function", "gelu_new"},
                                   {"layer_norm_epsilon", 1e-5},
                                   {"tie_word_embeddings", true},
                                   {"torch_dtype", "bfloat16"},
                                   {"embd_pdrop", 0.0},
                                   {"resid_pdrop", 0.0},
                                   {"attn_pdrop", 0.0},
                                   {"bos_token_id", nullptr},
                                   {"eos_token_id", nullptr}};
    CHECK(config == wanted);
}

TEST_CASE("Hugging Face's folders and files are loaded, with fresh optimizer states", "[checkpoint]")
{
    SmallModel saved(DType::fp32, 1);
    saved.scramble(3);
    for (const std::string prefix : {"transformer.", ""}) {
        const TemporaryFolder folder;
        save_like_hugging_face(folder / "model.safetensors", saved, prefix);
        std::ofstream(folder / "config.json")
            << R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 8, "n_head": 2, "n_positions": 6, "n_ctx": 6,
                   "vocab_size": 256, "n_inner": null, "activation_function": "gelu_new"})";
        for (const std::filesystem::path& path : {folder.path(), folder / "model.safetensors"}) {
            SmallModel loaded(DType::fp32, 7);
            loaded.scramble(9);
            loaded.states.step = 5;
            const LoadedCheckpoint result =
                load_checkpoint(path, small_shape, loaded.parameters, &loaded.states);
            CHECK_FALSE(result.resumable);
            CHECK(result.state.step == 0);
            CHECK(same_bits(loaded.parameters.values(), saved.parameters.values()));
            CHECK(difference(loaded, [&]() -> const SmallModel& {
                      saved.states = training::make_optimizer_states(saved.parameters.values());
                      return saved;
                  }()) == "");
            CHECK(read_model_shape(path) == small_shape);
            CHECK(read_model_dtype(path) == DType::fp32);
        }
        std::filesystem::remove(folder / "config.json");
        SmallModel loaded(DType::fp32, 7);
        load_checkpoint(folder.path(), small_shape, loaded.parameters, &loaded.states);
        CHECK(same_bits(loaded.parameters.values(), saved.parameters.values()));
        CHECK(contains(error_of([&] { read_model_shape(folder.path()); }), "there is no config.json beside"));
    }
}

TEST_CASE("any dtype is loaded into any other, from the most precise copy", "[checkpoint]")
{
    for (const DType from : dtypes) {
        const TemporaryFolder folder;
        SmallModel saved(from, 1);
        saved.scramble(4);
        saved.states.step = 3;
        save(folder, saved, at_step(3));
        const Tensor& precise = saved.states.master.empty() ? saved.parameters.values() : saved.states.master;
        for (const DType to : dtypes) {
            INFO(name_of(from) << " to " << name_of(to));
            SmallModel loaded(to, 7);
            load_checkpoint(folder.path(), small_shape, loaded.parameters, &loaded.states);

            SmallModel expected(to, 8);
            if (!expected.states.master.empty()) convert(precise.buffer(), expected.states.master.buffer());
            const Tensor& weights = expected.states.master.empty() ? precise : expected.states.master;
            convert(weights.buffer(), expected.parameters.values().buffer());
            convert(std::as_const(saved.states.m).buffer(), expected.states.m.buffer());
            convert(std::as_const(saved.states.v).buffer(), expected.states.v.buffer());
            expected.states.step = 3;
            CHECK(difference(expected, loaded) == "");
        }
    }
}

TEST_CASE("the newest complete step is loaded, and one step by its own folder", "[checkpoint]")
{
    const TemporaryFolder folder;
    SmallModel model(DType::fp32, 1);
    const auto loaded_step = [&](const std::filesystem::path& path) {
        SmallModel loaded(DType::fp32, 7);
        return load_checkpoint(path, small_shape, loaded.parameters, &loaded.states).state.step;
    };
    for (const std::int64_t step : {9, 100, 123456789, 20}) save(folder, model, at_step(step));
    CHECK(loaded_step(folder.path()) == 123456789);
    CHECK(loaded_step(folder / "step-00000009") == 9);
    std::filesystem::remove(folder / "step-123456789/training.json");
    CHECK(loaded_step(folder.path()) == 100);
    CHECK(contains(error_of([&] { loaded_step(folder / "step-123456789"); }),
                   "is not complete: it has no training.json"));
    // Names that only look like steps.
    for (const char* name : {"step-00000500.tmp", "step-0500x", "step-", "step--7", "old-step-00000600"})
        std::filesystem::copy(folder / "step-00000100", folder / name);
    std::ofstream(folder / "step-00000700") << "a file";
    CHECK(loaded_step(folder.path()) == 100);
}

TEST_CASE("a step that is saved again replaces the old one", "[checkpoint]")
{
    const TemporaryFolder folder;
    SmallModel first(DType::fp32, 1), second(DType::fp32, 2), loaded(DType::fp32, 7);
    save(folder, first, at_step(5));
    save(folder, second, at_step(5));
    load_checkpoint(folder.path(), small_shape, loaded.parameters, &loaded.states);
    CHECK(difference(second, loaded) == "");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}
