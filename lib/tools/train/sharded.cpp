#include "lib/tools/train/sharded.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "lessons/01_transformer/model.hpp"
#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/tools/train/runs.hpp"

namespace shardlings {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* places_key = "shardlings.places";

constexpr int most_ranks = 1'000'000;

/// Ranks in all, of "shard-00003-of-00008.safetensors" and the like.
std::optional<int> ranks_of(std::string_view name)
{
    constexpr std::string_view begin = "shard-";
    constexpr std::string_view middle = "-of-";
    const auto of = name.find(middle);
    if (!name.starts_with(begin) || of == std::string_view::npos) return std::nullopt;
    int ranks = 0;
    const std::string_view number = name.substr(of + middle.size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ranks);
    const bool whole = std::string_view(end, number.data() + number.size()) == ".safetensors";
    if (error != std::errc{} || !whole || ranks < 1 || ranks > most_ranks) return std::nullopt;
    return ranks;
}

/// One quantity of a replica ("", "m.", …): the part of a bucket that is updated.
struct Quantity {
    std::string prefix;
    std::vector<Tensor> parts;  // by bucket
};

std::vector<Quantity> quantities_of(data_parallel::Replica& replica)
{
    std::vector<Quantity> all;
    for (const char* prefix : {"", "m.", "v.", "master."}) all.push_back({prefix, {}});
    for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
        const collectives::Chunk part = replica.optimizer->part(b);
        const data_parallel::Held held = replica.values->held(b);
        const training::OptimizerStates& states = replica.optimizer->states(b);
        const auto view = [&](const Tensor& tensor, std::int64_t first) {
            return tensor.empty() ? Tensor() : tensor.view(first, {part.count});
        };
        all[0].parts.push_back(view(held.tensor, part.offset - held.part.offset));
        all[1].parts.push_back(view(states.m, 0));
        all[2].parts.push_back(view(states.v, 0));
        all[3].parts.push_back(view(states.master, 0));
    }
    if (all.back().parts.empty() || all.back().parts.front().empty()) all.pop_back();
    return all;
}

/// What a shard has of one parameter: runs in one bucket's part.
struct OwnPart {
    const Parameter* parameter;
    std::size_t bucket;
    std::vector<Run> runs;
    std::int64_t elements = 0;
};

std::vector<OwnPart> own_parts(data_parallel::Replica& replica, const std::vector<std::string>& names,
                               const std::function<bool(const Parameter&)>& writes)
{
    std::vector<OwnPart> parts;
    for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
        const data_parallel::Bucket& bucket = (*replica.buckets)[b];
        const std::vector<Run> runs = runs_of(bucket, replica.optimizer->part(b), names);
        for (const FlatEntry& entry : bucket.entries) {
            OwnPart part{entry.parameter, b, {}};
            for (const Run& run : runs)
                if (names[static_cast<std::size_t>(run.parameter)] == entry.parameter->name) {
                    part.runs.push_back(run);
                    part.elements += run.count;
                }
            if (part.elements > 0 && writes(*entry.parameter)) parts.push_back(std::move(part));
        }
    }
    return parts;
}

/// The shapes are the model's: a cut parameter may give its own other dimensions.
json places_of(const std::vector<OwnPart>& parts, const ModelShape& shape)
{
    std::map<std::string, Shape> shapes;
    const Modules model = transformer::make_gpt(shape);
    for (const Parameter* parameter : parameters_of(model)) shapes[parameter->name] = parameter->slice.global;
    json places = json::object();
    for (const OwnPart& part : parts) {
        json runs = json::array();
        for (const Run& run : part.runs) runs.push_back({run.begin, run.count});
        places[part.parameter->name] = {{"shape", shapes.at(part.parameter->name)},
                                        {"runs", std::move(runs)}};
    }
    return places;
}

/// Whether a tensor can have this shape; its elements can then be counted.
bool is_possible(const Shape& shape)
{
    std::int64_t left = std::int64_t{1} << 48;
    for (const std::int64_t size : shape) {
        if (size < 1 || size > left) return false;
        left /= size;
    }
    return true;
}

/// "m.wte.weight" -> "wte.weight".
std::string_view parameter_name(std::string_view name)
{
    for (const std::string_view prefix : {"m.", "v.", "master."})
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    return name;
}

}  // namespace

std::string shard_name(int rank, int ranks)
{
    return fmt::format("shard-{:05}-of-{:05}.safetensors", rank, ranks);
}

bool is_shard_name(std::string_view name)
{
    return ranks_of(name).has_value();
}

std::vector<std::string> shard_names_in(const fs::path& folder)
{
    int ranks = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const int here = ranks_of(entry.path().filename().string()).value_or(0);
        if (here == 0) continue;
        check(ranks == 0 || ranks == here, "'{}' holds shards of {} and of {} ranks: one checkpoint only",
              folder.string(), ranks, here);
        ranks = here;
    }
    std::vector<std::string> names;
    for (int rank = 0; rank < ranks; ++rank) names.push_back(shard_name(rank, ranks));
    return names;
}

void write_shard(const fs::path& file, data_parallel::Replica& replica, const ModelShape& shape,
                 const std::function<bool(const Parameter&)>& writes)
{
    const std::vector<OwnPart> parts = own_parts(replica, names_of(shape), writes);
    const std::vector<Quantity> quantities = quantities_of(replica);
    std::vector<TensorDescription> tensors;
    for (const OwnPart& part : parts)
        for (const Quantity& quantity : quantities)
            tensors.push_back({quantity.prefix + part.parameter->name,
                               quantity.parts[part.bucket].dtype(),
                               {part.elements}});
    SafetensorsWriter writer(file, tensors, {{places_key, places_of(parts, shape).dump()}});
    for (const OwnPart& part : parts)
        for (const Quantity& quantity : quantities) {
            std::int64_t first = 0;
            for (const Run& run : part.runs) {
                writer.write(quantity.prefix + part.parameter->name, first,
                             quantity.parts[part.bucket].buffer().part(run.in_part, run.count));
                first += run.count;
            }
        }
    writer.commit();
}

ShardedTensors::ShardedTensors(const std::vector<fs::path>& files) : folder_(files.front().parent_path())
{
    for (const fs::path& file : files) files_.emplace_back(file);
    for (std::size_t i = 0; i < files_.size(); ++i) add(i);
    for (const auto& [name, whole] : tensors_) check_complete(whole);
}

/// Takes the pieces of one file.
void ShardedTensors::add(std::size_t file)
{
    const SafetensorsFile& shard = files_[file];
    const auto damaged = [&](std::string_view why) {
        return Error(fmt::format("'{}' is no shard of a checkpoint: {}", shard.path().string(), why));
    };
    const auto text = shard.metadata().find(places_key);
    if (text == shard.metadata().end()) throw damaged("it does not say which elements it holds");
    try {
        const json places = json::parse(text->second);
        for (const auto& [name, tensor] : shard.tensors()) {
            const json& place = places.at(std::string(parameter_name(name)));
            Piece piece{file, &tensor, place.at("runs").get<decltype(Piece::runs)>()};
            const Shape shape = place.at("shape").get<Shape>();
            if (!is_possible(shape))
                throw damaged(fmt::format("'{}' has the shape {}", name, to_string(shape)));
            if (!tensor.dtype || *tensor.dtype > DType::fp16)
                throw damaged(
                    fmt::format("'{}' holds {}: expected F64, F32, BF16 or F16", name, tensor.dtype_name));
            std::int64_t elements = 0;
            for (const auto& [begin, count] : piece.runs) {
                if (begin < 0 || count < 1 || begin > elements_of(shape) - count)
                    throw damaged(fmt::format("elements of '{}' lie outside of it", name));
                elements += count;
            }
            if (elements != elements_of(tensor.shape))
                throw damaged(fmt::format("it has {} of '{}' and names {}",
                                          counted(elements_of(tensor.shape), "element"), name, elements));
            Whole& whole = tensors_[name];
            if (whole.pieces.empty()) {
                whole.tensor = tensor;
                whole.tensor.shape = shape;
            } else if (whole.tensor.shape != shape || whole.tensor.dtype != tensor.dtype) {
                throw damaged(fmt::format("'{}' has another shape or dtype than in the other shards", name));
            }
            whole.pieces.push_back(std::move(piece));
        }
    } catch (const json::exception&) {
        throw damaged("what it says of the elements it holds is damaged: save the checkpoint again");
    }
}

/// Error unless the pieces of a tensor have every element of it once.
void ShardedTensors::check_complete(const Whole& whole) const
{
    std::vector<std::array<std::int64_t, 2>> runs;
    for (const Piece& piece : whole.pieces) runs.insert(runs.end(), piece.runs.begin(), piece.runs.end());
    std::ranges::sort(runs);
    std::int64_t next = 0;
    for (const auto& [begin, count] : runs) {
        check(begin == next, "the shards in '{}' have element {} of '{}' {}", folder_.string(),
              std::min(begin, next), whole.tensor.name, begin < next ? "twice" : "not at all");
        next = begin + count;
    }
    check(next == elements_of(whole.tensor.shape), "the shards in '{}' have element {} of '{}' not at all",
          folder_.string(), next, whole.tensor.name);
}

const FileTensor* ShardedTensors::find(std::string_view name) const
{
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second.tensor;
}

void ShardedTensors::read(const FileTensor& tensor, const Slice& slice, Buffer values) const
{
    check(slice.global == tensor.shape && slice.shape == tensor.shape,
          "of '{}' in shards only the whole can be read", tensor.name);
    for (const Piece& piece : tensors_.find(tensor.name)->second.pieces) {
        std::int64_t first = 0;
        for (const auto& [begin, count] : piece.runs) {
            files_[piece.file].read(*piece.tensor, first, values.part(begin, count));
            first += count;
        }
    }
}

}  // namespace shardlings
