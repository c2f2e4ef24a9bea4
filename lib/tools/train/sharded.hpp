// Sharded checkpoints: every rank writes what it updates, so that no device and no process ever holds the
// whole model.
//
//   FOLDER/step-00000100/
//     shard-00000-of-00008.safetensors   of rank 0: "wte.weight", "m.wte.weight", "v.…", "master.…", each the
//                                        elements that this rank updates, one behind the other; in the
//                                        metadata which those are: {"wte.weight": {"shape": [256, 64],
//                                        "runs":
//                                        [[begin, count], …]}}, as row-major indices of the whole tensor
//     …
//     config.json, training.json         as in checkpoints that are saved whole
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lessons/04_data_parallel/replica.hpp"
#include "lib/machine/base/model_shape.hpp"
#include "lib/tools/train/safetensors.hpp"

namespace shardlings {

/// "shard-00003-of-00008.safetensors".
std::string shard_name(int rank, int ranks);

/// True for such a name.
bool is_shard_name(std::string_view name);

/// The names of all shards that belong to those of which some are in a folder, by rank; empty when there are
/// none. Error when shards of several checkpoints are there.
std::vector<std::string> shard_names_in(const std::filesystem::path& folder);

/// Writes the elements that a replica updates. `writes(parameter)` is false for a parameter that another rank
/// writes, too.
void write_shard(const std::filesystem::path& file, data_parallel::Replica& replica, const ModelShape& shape,
                 const std::function<bool(const Parameter&)>& writes);

/// The whole tensors, of which each file has parts.
class ShardedTensors : public TensorSource {
  public:
    /// Error naming the file when one is missing, damaged or no shard, and when the shards together do not
    /// have every element of a tensor exactly once.
    explicit ShardedTensors(const std::vector<std::filesystem::path>& files);

    const std::filesystem::path& path() const override { return folder_; }
    const FileTensor* find(std::string_view name) const override;
    /// Whole tensors only: slice.shape is slice.global.
    void read(const FileTensor& tensor, const Slice& slice, Buffer values) const override;

  private:
    struct Piece {
        std::size_t file;
        const FileTensor* tensor;
        std::vector<std::array<std::int64_t, 2>> runs;
    };
    struct Whole {
        FileTensor tensor;
        std::vector<Piece> pieces;
    };
    void add(std::size_t file);
    void check_complete(const Whole& whole) const;

    std::filesystem::path folder_;
    std::vector<SafetensorsFile> files_;
    std::map<std::string, Whole, std::less<>> tensors_;
};

}  // namespace shardlings
