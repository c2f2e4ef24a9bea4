// The safetensors format: named tensors in one file.
//
//   8 bytes                N, the header's length, little-endian
//   N bytes                JSON: {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets":
//   [begin, end]}} the rest               the tensors' elements, row-major, little-endian; offsets count from
//   here and leave
//                          no byte out
//
// Tensors are read and written part by part, addressed by a Slice or by a run of row-major elements, so that
// a file is never held in memory as a whole and any shard can be moved.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/machine/nn/parameter.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

using Metadata = std::map<std::string, std::string>;

/// One tensor as the header describes it.
struct FileTensor {
    std::string name;
    std::string dtype_name;      // the file's: "F32", "BF16", ...
    std::optional<DType> dtype;  // none for those that can be skipped but not read, such as "BOOL"
    Shape shape;
    std::uint64_t begin = 0;  // bytes from the end of the header
    std::uint64_t end = 0;
};

/// Tensors by their names: of one file, or put together from several.
class TensorSource {
  public:
    virtual ~TensorSource() = default;
    /// For messages.
    virtual const std::filesystem::path& path() const = 0;
    /// nullptr when there is none of this name.
    virtual const FileTensor* find(std::string_view name) const = 0;
    /// The slice's elements, in row-major order, rounded to the dtype of `values`. Error when slice.global is
    /// not the tensor's shape.
    virtual void read(const FileTensor& tensor, const Slice& slice, Buffer values) const = 0;
};

/// A file whose header has been read and found to describe exactly the bytes that follow it.
class SafetensorsFile : public TensorSource {
  public:
    /// Error naming the file when it is missing, truncated, of another format, or contradicts itself.
    explicit SafetensorsFile(const std::filesystem::path& path);

    const std::filesystem::path& path() const override { return file_.path(); }
    const Metadata& metadata() const { return metadata_; }
    const std::map<std::string, FileTensor, std::less<>>& tensors() const { return tensors_; }
    const FileTensor* find(std::string_view name) const override;

    /// values[i] = element first + i, rounded to the dtype of `values`. Error when the tensor ends before, or
    /// its dtype cannot be converted.
    void read(const FileTensor& tensor, std::int64_t first, Buffer values) const;
    void read(const FileTensor& tensor, const Slice& slice, Buffer values) const override;

  private:
    void check_coverage() const;

    InputFile file_;
    Metadata metadata_;
    std::map<std::string, FileTensor, std::less<>> tensors_;
    std::uint64_t data_begin_ = 0;
};

struct TensorDescription {
    std::string name;
    DType dtype;
    Shape shape;
};

/// A new file, written in any order; it gets its name at commit() (see OutputFile).
class SafetensorsWriter {
  public:
    SafetensorsWriter(const std::filesystem::path& path, const std::vector<TensorDescription>& tensors,
                      const Metadata& metadata);

    /// Elements first, first + 1, … of the tensor; `values` must have its dtype.
    void write(std::string_view name, std::int64_t first, ConstBuffer values);
    /// The slice's elements, in row-major order.
    void write(std::string_view name, const Slice& slice, ConstBuffer values);
    /// Error unless as many elements were written as each tensor has.
    void commit();

  private:
    struct Place {
        TensorDescription tensor;
        std::uint64_t offset;  // bytes from the start of the file
        std::int64_t written = 0;
    };
    Place& place_of(std::string_view name);

    OutputFile file_;
    std::map<std::string, Place, std::less<>> places_;
};

}  // namespace shardlings
