#include "lib/tools/train/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "lib/machine/base/counted.hpp"

namespace shardlings {

namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian, as this code is");

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the limit of the format's own library
constexpr std::int64_t chunk = 65536;                  // elements converted at a time

struct Encoding {
    std::string_view name;
    std::uint64_t size;
    std::optional<DType> dtype;
};

constexpr std::array<Encoding, 15> encodings{{{"F64", 8, DType::fp64},
                                              {"F32", 4, DType::fp32},
                                              {"BF16", 2, DType::bf16},
                                              {"F16", 2, DType::fp16},
                                              {"I64", 8, DType::i64},
                                              {"I32", 4, DType::i32},
                                              {"U8", 1, DType::byte},
                                              {"I8", 1, {}},
                                              {"I16", 2, {}},
                                              {"U16", 2, {}},
                                              {"U32", 4, {}},
                                              {"U64", 8, {}},
                                              {"BOOL", 1, {}},
                                              {"F8_E4M3", 1, {}},
                                              {"F8_E5M2", 1, {}}}};

const Encoding& encoding_of(DType dtype)
{
    return *std::find_if(encodings.begin(), encodings.end(),
                         [&](const Encoding& e) { return e.dtype == dtype; });
}

/// Calls run(local, global, count) for the slice's runs, those that continue each other joined.
void for_each_joined_run(const Slice& slice,
                         const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& run)
{
    std::int64_t local = 0;
    std::int64_t global = 0;
    std::int64_t count = 0;
    slice.for_each_run([&](std::int64_t next_local, std::int64_t next_global, std::int64_t next_count) {
        if (next_global != global + count) {
            if (count > 0) run(local, global, count);
            local = next_local;
            global = next_global;
            count = 0;
        }
        count += next_count;
    });
    if (count > 0) run(local, global, count);
}

void check_slice(const std::string& name, const Shape& shape, const Slice& slice, std::int64_t count)
{
    check(slice.global == shape, "tensor '{}' has the shape {}: expected {}", name, to_string(shape),
          to_string(slice.global));
    check(elements_of(slice.shape) == count, "a slice of {} of tensor '{}' for {} elements",
          to_string(slice.shape), name, count);
}

bool is_list_of_sizes(const Json& value)
{
    return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& size) {
               return size.is_number_unsigned() &&
                      size.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
           });
}

/// Parses the header; Error for anything that is not a JSON object or names something twice.
Json parse_header(const std::string& text, const std::string& path)
{
    std::set<std::string> names;
    const auto watch_names = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::key && depth == 1)
            check(names.insert(parsed.get<std::string>()).second, "'{}' names tensor '{}' twice", path,
                  parsed.get<std::string>());
        return true;
    };
    try {
        Json header = Json::parse(text, watch_names);
        check(header.is_object(), "'{}' is not a safetensors file: its header is not a JSON object", path);
        return header;
    } catch (const Json::exception&) {
        throw Error(fmt::format("'{}' is not a safetensors file: its header is not JSON", path));
    }
}

Metadata parse_metadata(const Json& json, const std::string& path)
{
    check(json.is_object(), "'{}': __metadata__ is not an object of texts", path);
    Metadata metadata;
    for (const auto& [key, value] : json.items()) {
        check(value.is_string(), "'{}': __metadata__ '{}' is not a text", path, key);
        metadata[key] = value.get<std::string>();
    }
    return metadata;
}

FileTensor parse_tensor(const std::string& name, const Json& json, const std::string& path)
{
    check(json.is_object() && json.contains("dtype") && json["dtype"].is_string() && json.contains("shape") &&
              is_list_of_sizes(json["shape"]) && json.contains("data_offsets") &&
              is_list_of_sizes(json["data_offsets"]) && json["data_offsets"].size() == 2,
          "'{}': tensor '{}' is not described by a dtype, a shape and two data_offsets", path, name);
    FileTensor tensor{name, json["dtype"].get<std::string>(), {}, json["shape"].get<Shape>(), 0, 0};
    tensor.begin = json["data_offsets"][0].get<std::uint64_t>();
    tensor.end = json["data_offsets"][1].get<std::uint64_t>();

    const auto* encoding = std::find_if(encodings.begin(), encodings.end(),
                                        [&](const Encoding& e) { return e.name == tensor.dtype_name; });
    check(encoding != encodings.end(), "'{}': tensor '{}' has the unknown dtype '{}'", path, name,
          tensor.dtype_name);
    tensor.dtype = encoding->dtype;

    // Dimensions up to 2^63 each: their product is compared without being formed when it is too large.
    std::uint64_t bytes = encoding->size;
    const bool has_elements = std::find(tensor.shape.begin(), tensor.shape.end(), 0) == tensor.shape.end();
    for (const std::int64_t dim : tensor.shape) {
        check(!has_elements ||
                  bytes <= std::numeric_limits<std::int64_t>::max() / static_cast<std::uint64_t>(dim),
              "'{}': tensor '{}' of {} is too large", path, name, to_string(tensor.shape));
        bytes = has_elements ? bytes * static_cast<std::uint64_t>(dim) : 0;
    }
    check(tensor.begin <= tensor.end && tensor.end - tensor.begin == bytes,
          "'{}': tensor '{}' of {} {} takes {}, its data_offsets are {} and {}", path, name,
          to_string(tensor.shape), tensor.dtype_name, counted(bytes, "byte"), tensor.begin, tensor.end);
    return tensor;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path)
{
    const std::string name = path.string();
    check(file_.size() >= length_bytes,
          "'{}' is truncated or not a safetensors file: it has {}, the header's length alone takes {}", name,
          counted(file_.size(), "byte"), length_bytes);
    std::uint64_t length = 0;
    file_.read(0, std::as_writable_bytes(std::span(&length, 1)));
    check(length <= longest_header,
          "'{}' is not a safetensors file: its first bytes announce a header of {}, at most {} are "
          "allowed",
          name, counted(length, "byte"), longest_header);
    check(length <= file_.size() - length_bytes,
          "'{}' is truncated or not a safetensors file: its header takes {}, {} follow", name,
          counted(length, "byte"), file_.size() - length_bytes);

    std::string text(static_cast<std::size_t>(length), '\0');
    file_.read(length_bytes, std::as_writable_bytes(std::span(text)));
    data_begin_ = length_bytes + length;
    const Json header = parse_header(text, name);
    for (const auto& [key, value] : header.items()) {
        if (key == "__metadata__")
            metadata_ = parse_metadata(value, name);
        else
            tensors_.emplace(key, parse_tensor(key, value, name));
    }
    check_coverage();
}

void SafetensorsFile::check_coverage() const
{
    std::vector<const FileTensor*> ordered;
    for (const auto& [name, tensor] : tensors_) ordered.push_back(&tensor);
    std::sort(ordered.begin(), ordered.end(), [](const FileTensor* a, const FileTensor* b) {
        return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    });
    std::uint64_t covered = 0;
    for (const FileTensor* tensor : ordered) {
        check(tensor->begin >= covered, "'{}': tensor '{}' overlaps another: it begins at byte {} before {}",
              path().string(), tensor->name, tensor->begin, covered);
        check(tensor->begin == covered, "'{}': bytes {} to {} before tensor '{}' belong to none",
              path().string(), covered, tensor->begin, tensor->name);
        covered = tensor->end;
    }
    const std::uint64_t data = file_.size() - data_begin_;
    check(covered <= data, "'{}' is truncated: its header describes {} of tensors, {} are there",
          path().string(), counted(covered, "byte"), data);
    check(covered == data, "'{}' has {} more than its header describes", path().string(),
          counted(data - covered, "byte"));
}

const FileTensor* SafetensorsFile::find(std::string_view name) const
{
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
}

void SafetensorsFile::read(const FileTensor& tensor, std::int64_t first, Buffer values) const
{
    const auto floating = [](DType dtype) { return dtype <= DType::fp16; };
    check(tensor.dtype.has_value() &&
              (*tensor.dtype == values.dtype || (floating(*tensor.dtype) && floating(values.dtype))),
          "'{}': tensor '{}' holds {}, which cannot be read as {}", path().string(), tensor.name,
          tensor.dtype_name, name_of(values.dtype));
    check(first >= 0 && values.count <= elements_of(tensor.shape) - first,
          "'{}': elements {} to {} of tensor '{}' of {}", path().string(), first, first + values.count,
          tensor.name, to_string(tensor.shape));

    const std::uint64_t size = size_of(*tensor.dtype);
    const std::uint64_t begin = data_begin_ + tensor.begin + static_cast<std::uint64_t>(first) * size;
    if (*tensor.dtype == values.dtype) return file_.read(begin, {values.data, values.bytes()});
    std::vector<std::byte> raw(static_cast<std::size_t>(std::min(chunk, values.count)) * size);
    for (std::int64_t i = 0; i < values.count; i += chunk) {
        const std::int64_t count = std::min(chunk, values.count - i);
        const Buffer part{raw.data(), count, *tensor.dtype};
        file_.read(begin + static_cast<std::uint64_t>(i) * size, {part.data, part.bytes()});
        convert(part, values.part(i, count));
    }
}

void SafetensorsFile::read(const FileTensor& tensor, const Slice& slice, Buffer values) const
{
    check_slice(tensor.name, tensor.shape, slice, values.count);
    for_each_joined_run(slice, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
        read(tensor, global, values.part(local, count));
    });
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     const std::vector<TensorDescription>& tensors, const Metadata& metadata)
    : file_(path)
{
    Json header = Json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::uint64_t end = 0;
    for (const TensorDescription& tensor : tensors) {
        const std::uint64_t begin = end;
        end += static_cast<std::uint64_t>(elements_of(tensor.shape)) * size_of(tensor.dtype);
        header[tensor.name] = {{"dtype", encoding_of(tensor.dtype).name},
                               {"shape", tensor.shape},
                               {"data_offsets", {begin, end}}};
        check(places_.emplace(tensor.name, Place{tensor, begin}).second, "tensor '{}' is to be saved twice",
              tensor.name);
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the elements are aligned
    const std::uint64_t length = text.size();
    file_.write(0, std::as_bytes(std::span(&length, 1)));
    file_.write(length_bytes, std::as_bytes(std::span(text)));
    for (auto& [name, place] : places_) place.offset += length_bytes + length;
}

SafetensorsWriter::Place& SafetensorsWriter::place_of(std::string_view name)
{
    const auto found = places_.find(name);
    check(found != places_.end(), "tensor '{}' is none of those to be saved", name);
    return found->second;
}

void SafetensorsWriter::write(std::string_view name, std::int64_t first, ConstBuffer values)
{
    Place& place = place_of(name);
    check(values.dtype == place.tensor.dtype && first >= 0 &&
              values.count <= elements_of(place.tensor.shape) - first,
          "{} elements of {} at {} do not fit tensor '{}' of {} {}", values.count, name_of(values.dtype),
          first, name, to_string(place.tensor.shape), name_of(place.tensor.dtype));
    file_.write(place.offset + static_cast<std::uint64_t>(first) * size_of(values.dtype),
                {values.data, values.bytes()});
    place.written += values.count;
}

void SafetensorsWriter::write(std::string_view name, const Slice& slice, ConstBuffer values)
{
    check_slice(std::string(name), place_of(name).tensor.shape, slice, values.count);
    for_each_joined_run(slice, [&](std::int64_t local, std::int64_t global, std::int64_t count) {
        write(name, global, values.part(local, count));
    });
}

void SafetensorsWriter::commit()
{
    for (const auto& [name, place] : places_)
        check(place.written == elements_of(place.tensor.shape),
              "{} elements of tensor '{}' of {} were written", place.written, name,
              to_string(place.tensor.shape));
    file_.commit();
}

}  // namespace shardlings
