// The folders of a checkpoint: FOLDER/step-00000100/, one for each step that was saved.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "lib/tools/train/file.hpp"

namespace shardlings {

/// The files of one saved model. Those of the training state are there together or not at all: a model from
/// elsewhere has none.
struct CheckpointFiles {
    std::filesystem::path folder;
    std::filesystem::path model;                     // safetensors; not there when there are shards
    std::optional<std::filesystem::path> config;     // JSON
    std::optional<std::filesystem::path> optimizer;  // safetensors
    std::optional<std::filesystem::path> training;   // JSON
    std::vector<std::filesystem::path> shards{};     // see sharded.hpp; all, whether there or not
};

/// The model at `path`: a folder that holds one, the newest complete step in a folder of steps, or a
/// safetensors file, with a config.json beside it if there is one. Error when there is none, or a folder
/// has one of optimizer.safetensors and training.json without the other.
CheckpointFiles find_checkpoint(const std::filesystem::path& path);

/// A step folder that is filled under another name, step-00000100.tmp, and gets its own at commit().
///
/// Whenever the process ends, a folder of the right name is whole, and older ones are as they were; one that
/// was there already is replaced in one exchange. Without commit() nothing is left. What processes that were
/// killed left behind is removed by the next StepFolder of the same parent, which only one process may have
/// at a time: another is told so by an Error.
class StepFolder {
  public:
    /// Makes `parent` when it is not there; Error when that cannot be.
    StepFolder(std::filesystem::path parent, std::int64_t step);
    ~StepFolder();
    StepFolder(const StepFolder&) = delete;
    StepFolder& operator=(const StepFolder&) = delete;

    /// Where the files of a step are written before it has its name.
    static std::filesystem::path path_while_filled(const std::filesystem::path& parent, std::int64_t step);
    /// The same of this one.
    const std::filesystem::path& path() const { return temporary_; }
    /// Returns the folder's place.
    std::filesystem::path commit();

  private:
    std::filesystem::path parent_;
    std::filesystem::path final_;
    std::filesystem::path temporary_;
    FileDescriptor lock_;
};

}  // namespace shardlings
