#include "lib/tools/train/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/tools/train/safetensors.hpp"
#include "lib/tools/train/sharded.hpp"
#include "lib/tools/train/step_folder.hpp"

namespace shardlings {

namespace {

using training::OptimizerStates;

constexpr const char* model_prefix = "transformer.";

Buffer part_of(Tensor& flat, const FlatEntry& entry)
{
    return flat.buffer().part(entry.offset, entry.parameter->elements());
}

ConstBuffer part_of(const Tensor& flat, const FlatEntry& entry)
{
    return flat.buffer().part(entry.offset, entry.parameter->elements());
}

/// A flat buffer that is saved parameter by parameter, under the parameters' names behind a prefix.
struct NamedBuffer {
    std::string prefix;
    const Tensor* flat;
};

void save_buffers(const std::filesystem::path& path, const FlatLayout& layout,
                  const std::vector<NamedBuffer>& buffers)
{
    std::vector<TensorDescription> tensors;
    for (const FlatEntry& entry : layout.entries)
        for (const NamedBuffer& buffer : buffers)
            tensors.push_back(
                {buffer.prefix + entry.parameter->name, buffer.flat->dtype(), entry.parameter->slice.global});
    SafetensorsWriter writer(path, tensors, {{"format", "pt"}});
    for (const FlatEntry& entry : layout.entries)
        for (const NamedBuffer& buffer : buffers)
            writer.write(buffer.prefix + entry.parameter->name, entry.parameter->slice,
                         part_of(*buffer.flat, entry));
    writer.commit();
}

void check_finite(ConstBuffer values, const std::string& name, const std::filesystem::path& path)
{
    constexpr std::int64_t chunk = 4096;
    std::vector<double> doubles(chunk);
    for (std::int64_t i = 0; i < values.count; i += chunk) {
        const std::int64_t count = std::min(chunk, values.count - i);
        convert(values.part(i, count), {reinterpret_cast<std::byte*>(doubles.data()), count, DType::fp64});
        const auto end = doubles.begin() + count;
        const auto bad =
            std::find_if(doubles.begin(), end, [](double value) { return !std::isfinite(value); });
        check(bad == end, "'{}': element {} of tensor '{}' is NaN, infinite or too large for {}",
              path.string(), i + (bad - doubles.begin()), name, name_of(values.dtype));
    }
}

/// The tensor called `name`, with or without one of the prefixes that models are saved with.
const FileTensor& tensor_of(const TensorSource& file, std::string_view name)
{
    const FileTensor* tensor = file.find(fmt::format("{}{}", model_prefix, name));
    if (tensor == nullptr) tensor = file.find(std::string(name));
    check(tensor != nullptr, "'{}' has no tensor '{}'", file.path().string(), name);
    return *tensor;
}

void read_finite(const TensorSource& file, const FileTensor& tensor, const Slice& slice, Buffer values)
{
    check(tensor.shape == slice.global, "'{}': tensor '{}' has the shape {}, this model's has {}",
          file.path().string(), tensor.name, to_string(tensor.shape), to_string(slice.global));
    file.read(tensor, slice, values);
    check_finite(values, tensor.name, file.path());
}

/// The files of a model, opened.
struct OpenCheckpoint {
    std::shared_ptr<const TensorSource> model;
    std::shared_ptr<const TensorSource> optimizer;  // the same one, of shards; nullptr: there is none

    explicit OpenCheckpoint(const CheckpointFiles& files)
    {
        if (!files.shards.empty()) {
            model = optimizer = std::make_shared<ShardedTensors>(files.shards);
            return;
        }
        model = std::make_shared<SafetensorsFile>(files.model);
        if (files.optimizer) optimizer = std::make_shared<SafetensorsFile>(*files.optimizer);
    }

    /// The master weights, if there are any.
    const FileTensor* master_of(const Parameter& parameter) const
    {
        return optimizer ? optimizer->find("master." + parameter.name) : nullptr;
    }

    /// values = the parameter, from the master weights where those hold more digits of what is asked for.
    void read_weights(const Parameter& parameter, Buffer values) const
    {
        const FileTensor& saved = tensor_of(*model, parameter.name);
        const FileTensor* master = master_of(parameter);
        const bool finer = saved.dtype && size_of(values.dtype) > size_of(*saved.dtype);
        if (master != nullptr && finer)
            read_finite(*optimizer, *master, parameter.slice, values);
        else
            read_finite(*model, saved, parameter.slice, values);
    }

    /// Error unless the saved parameter is `values`, which are the master weights rounded to its dtype.
    void check_belongs(const Parameter& parameter, ConstBuffer values) const
    {
        const FileTensor& saved = tensor_of(*model, parameter.name);
        if (saved.dtype != values.dtype || master_of(parameter) == nullptr) return;
        std::vector<std::byte> bytes(values.bytes());
        read_finite(*model, saved, parameter.slice, {bytes.data(), values.count, values.dtype});
        check(
            std::memcmp(bytes.data(), values.data, bytes.size()) == 0,
            "'{}' and '{}' do not belong together: the master weights of '{}' are not those of the parameter",
            model->path().string(), optimizer->path().string(), parameter.name);
    }
};

void load_weights(const OpenCheckpoint& files, FlatParameters& parameters, OptimizerStates* states)
{
    for (const FlatEntry& entry : parameters.layout().entries) {
        const Parameter& parameter = *entry.parameter;
        const Buffer values = part_of(parameters.values(), entry);
        if (states == nullptr || states->master.empty()) {
            files.read_weights(parameter, values);
            continue;
        }
        const Buffer master = part_of(states->master, entry);
        files.read_weights(parameter, master);
        convert(master, values);
        check_finite(values, parameter.name, files.model->path());
        files.check_belongs(parameter, values);
    }
}

void load_moments(const OpenCheckpoint& files, const FlatLayout& layout, OptimizerStates& states)
{
    if (!files.optimizer) {
        states.m.fill_zero();
        states.v.fill_zero();
        return;
    }
    const auto read = [&](const std::string& name, const FlatEntry& entry, Tensor& flat) {
        const FileTensor* tensor = files.optimizer->find(name);
        check(tensor != nullptr, "'{}' has no tensor '{}'", files.optimizer->path().string(), name);
        read_finite(*files.optimizer, *tensor, entry.parameter->slice, part_of(flat, entry));
    };
    for (const FlatEntry& entry : layout.entries) {
        read("m." + entry.parameter->name, entry, states.m);
        read("v." + entry.parameter->name, entry, states.v);
    }
}

std::string describe(const ModelShape& shape)
{
    return fmt::format("--layers {} --hidden {} --heads {} --seq {} --vocab {}", shape.layers, shape.hidden,
                       shape.heads, shape.sequence, shape.vocabulary);
}

/// Error when the file holds a larger or smaller model than `shape`.
void check_model(const CheckpointFiles& files, const TensorSource& model, const ModelShape& shape)
{
    if (files.config) {
        const ModelShape saved = read_model_config(*files.config).shape;
        check(saved == shape, "'{}' holds a model of {}, not of {}", files.folder.string(), describe(saved),
              describe(shape));
    }
    const std::string beyond = fmt::format("h.{}.ln_1.weight", shape.layers);
    check(model.find(beyond) == nullptr && model.find(model_prefix + beyond) == nullptr,
          "'{}' holds a model of more than {}", model.path().string(), counted(shape.layers, "layer"));
}

}  // namespace

std::filesystem::path save_checkpoint(const std::filesystem::path& folder, const ModelShape& shape,
                                      const FlatParameters& parameters, const OptimizerStates& states,
                                      TrainingState state)
{
    state.optimizer_step = states.step;
    state.dtype = parameters.values().dtype();
    StepFolder step(folder, state.step);
    save_buffers(step.path() / "model.safetensors", parameters.layout(),
                 {{model_prefix, &parameters.values()}});
    std::vector<NamedBuffer> buffers{{"m.", &states.m}, {"v.", &states.v}};
    if (!states.master.empty()) buffers.push_back({"master.", &states.master});
    save_buffers(step.path() / "optimizer.safetensors", parameters.layout(), buffers);
    write_model_config(step.path() / "config.json", shape, state.dtype);
    write_training_state(step.path() / "training.json", state);
    return step.commit();
}

LoadedCheckpoint load_checkpoint(const std::filesystem::path& path, const ModelShape& shape,
                                 FlatParameters& parameters, OptimizerStates* states)
{
    const CheckpointFiles files = find_checkpoint(path);
    LoadedCheckpoint loaded{files.folder, files.training.has_value(), {}};
    if (files.training) loaded.state = read_training_state(*files.training);
    const OpenCheckpoint open(files);
    check_model(files, *open.model, shape);
    load_weights(open, parameters, states);
    if (states != nullptr) {
        load_moments(open, parameters.layout(), *states);
        states->step = loaded.state.optimizer_step;
    }
    return loaded;
}

ModelShape read_model_shape(const std::filesystem::path& path)
{
    const CheckpointFiles files = find_checkpoint(path);
    check(files.config.has_value(), "there is no config.json beside '{}' to say what model it is",
          files.model.string());
    return read_model_config(*files.config).shape;
}

DType read_model_dtype(const std::filesystem::path& path)
{
    const CheckpointFiles files = find_checkpoint(path);
    const OpenCheckpoint open(files);
    const FileTensor& embedding = tensor_of(*open.model, "wte.weight");
    check(embedding.dtype.has_value(), "'{}': tensor '{}' holds {}, not a floating-point dtype",
          open.model->path().string(), embedding.name, embedding.dtype_name);
    return *embedding.dtype;
}

}  // namespace shardlings
