#include "lib/tools/train/step_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/tools/train/sharded.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "step-";
constexpr std::string_view suffix = ".tmp";

/// 100 of "step-00000100" and the like.
std::optional<std::int64_t> step_of(std::string_view name)
{
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    const bool digits = name.find_first_not_of("0123456789") == std::string_view::npos;
    if (error != std::errc{} || !digits || end != name.data() + name.size()) return std::nullopt;
    return step;
}

std::optional<fs::path> file_in(const fs::path& folder, const char* name)
{
    std::error_code ignored;
    return fs::is_regular_file(folder / name, ignored) ? std::optional(folder / name) : std::nullopt;
}

CheckpointFiles files_in(const fs::path& folder)
{
    CheckpointFiles files{folder, folder / "model.safetensors", file_in(folder, "config.json"),
                          file_in(folder, "optimizer.safetensors"), file_in(folder, "training.json")};
    if (!file_in(folder, "model.safetensors"))
        for (const std::string& name : shard_names_in(folder)) files.shards.push_back(folder / name);
    return files;
}

bool are_there(const std::vector<fs::path>& files)
{
    return std::ranges::all_of(files, [](const fs::path& file) {
        std::error_code ignored;
        return fs::is_regular_file(file, ignored);
    });
}

bool is_complete(const CheckpointFiles& files)
{
    if (!files.config || !files.training) return false;
    if (!files.shards.empty()) return are_there(files.shards);
    return file_in(files.folder, "model.safetensors") && files.optimizer;
}

std::optional<CheckpointFiles> newest_step(const fs::path& parent)
{
    std::int64_t newest = -1;
    std::optional<CheckpointFiles> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent)) {
        const std::int64_t step = step_of(entry.path().filename().string()).value_or(-1);
        if (step <= newest || !entry.is_directory()) continue;
        CheckpointFiles files = files_in(entry.path());
        if (!is_complete(files)) continue;
        newest = step;
        found = std::move(files);
    }
    return found;
}

/// Gives the folder `from` the name `to`; a folder that is there changes places with it.
void put_in_place(const fs::path& from, const fs::path& to)
{
    if (std::rename(from.c_str(), to.c_str()) == 0) return;
#ifdef RENAME_EXCHANGE
    if ((errno == ENOTEMPTY || errno == EEXIST) &&
        renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
        return;
#endif
    throw Error(fmt::format("cannot replace '{}': {}: remove it or save elsewhere", to.string(),
                            std::generic_category().message(errno)));
}

/// What killed processes left.
void remove_temporaries(const fs::path& parent)
{
    std::vector<fs::path> stale;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent)) {
        const std::string name = entry.path().filename().string();
        const std::string_view start =
            std::string_view(name).substr(0, name.size() - std::min(name.size(), suffix.size()));
        if (name.ends_with(suffix) && step_of(start).has_value()) stale.push_back(entry.path());
    }
    for (const fs::path& path : stale) fs::remove_all(path);
}

}  // namespace

CheckpointFiles find_checkpoint(const fs::path& path)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    check(status.type() != fs::file_type::not_found, "there is no checkpoint '{}'", path.string());
    check(!error, "cannot read '{}': {}", path.string(), error.message());
    check(fs::is_directory(status) || !is_shard_name(path.filename().string()),
          "'{}' is one shard of a checkpoint: name its folder to load all of them", path.string());
    if (!fs::is_directory(status))
        return {path.parent_path(), path, file_in(path.parent_path(), "config.json"), {}, {}};
    try {
        if (!fs::exists(path / "model.safetensors") && shard_names_in(path).empty()) {
            std::optional<CheckpointFiles> newest = newest_step(path);
            check(newest.has_value(),
                  "there is no checkpoint in '{}': expected a model.safetensors or complete folders step-…",
                  path.string());
            return *newest;
        }
    } catch (const fs::filesystem_error& failure) {
        throw Error(fmt::format("cannot read '{}': {}", path.string(), failure.code().message()));
    }
    CheckpointFiles files = files_in(path);
    for (const fs::path& shard : files.shards)
        check(file_in(path, shard.filename().c_str()).has_value(),
              "the checkpoint '{}' is not complete: it has no {}", path.string(), shard.filename().string());
    check(!files.shards.empty() || files.optimizer.has_value() == files.training.has_value(),
          "the checkpoint '{}' is not complete: it has no {}", path.string(),
          files.training ? "optimizer.safetensors" : "training.json");
    return files;
}

fs::path StepFolder::path_while_filled(const fs::path& parent, std::int64_t step)
{
    return parent / fmt::format("{}{:08}{}", prefix, step, suffix);
}

StepFolder::StepFolder(fs::path parent, std::int64_t step)
    : parent_(std::move(parent)),
      final_(parent_ / fmt::format("{}{:08}", prefix, step)),
      temporary_(path_while_filled(parent_, step))
{
    check(step >= 0, "step {} cannot be saved: expected 0 or more", step);
    std::error_code error;
    fs::create_directories(parent_, error);
    if (error) throw_cannot_write(parent_, error.value());
    lock_ = FileDescriptor(open(parent_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock_.number() < 0) throw_cannot_write(parent_, errno);
    // A file system without locks gives another error; then nothing keeps two processes apart.
    check(flock(lock_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
          "another process is saving to '{}': choose another folder for this one", parent_.string());
    try {
        remove_temporaries(parent_);
        fs::create_directory(temporary_);
    } catch (const fs::filesystem_error& failure) {
        throw_cannot_write(failure.path1().empty() ? parent_ : failure.path1(), failure.code().value());
    }
}

StepFolder::~StepFolder()
{
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
}

fs::path StepFolder::commit()
{
    sync_folder(temporary_);
    put_in_place(temporary_, final_);
    sync_folder(parent_);
    return final_;
}

}  // namespace shardlings
