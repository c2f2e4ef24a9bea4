#include "lib/tools/train/checkpoints_of_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/tools/train/checkpoint.hpp"
#include "lib/tools/train/sharded.hpp"
#include "lib/tools/train/step_folder.hpp"
#include "lib/tools/train/whole_model.hpp"

namespace shardlings {

namespace {

TrainingState state_of(const TrainOptions& options, Trainer& trainer, std::int64_t step)
{
    TrainingState state;
    state.step = step;
    state.optimizer_step = trainer.replica().optimizer->states(0).step;
    state.seed = options.seed;
    state.dtype = options.dtype;
    state.loss_scale = trainer.loss_scale();
    return state;
}

void save_whole(Comm& world, const TrainOptions& options, Trainer& trainer, std::int64_t step)
{
    const auto whole = collect_whole(world, trainer.replica(),
                                     options.layout.zero > 0 || trainer.groups().data.data.rank() == 0,
                                     options.shape, options.dtype);
    if (whole == nullptr) return;
    const auto folder = save_checkpoint(options.save, options.shape, whole->parameters(), whole->states(),
                                        state_of(options, trainer, step));
    fmt::print("saved {}\n", folder.string());
}

/// Does its part of what all ranks do together and learns whether all could. When not, `folder` goes, and
/// with it what was written; then a rank that could not throws why, and the others wait for it to end the
/// job.
void do_together(Comm& world, std::optional<StepFolder>& folder, const std::function<void()>& part)
{
    std::string problem;
    try {
        part();
    } catch (const std::exception& error) {
        problem = error.what();
    }
    double failed = problem.empty() ? 0.0 : 1.0;
    collectives::recursive_doubling_all_reduce(world, buffer_of(std::span(&failed, 1)));
    if (failed == 0.0) return;
    folder.reset();
    world.barrier();
    if (!problem.empty()) throw Error(problem);
    world.barrier();
}

void save_sharded(Comm& world, const TrainOptions& options, Trainer& trainer, std::int64_t step)
{
    std::optional<StepFolder> folder;
    const bool first = world.rank() == 0;
    do_together(world, folder, [&] {
        if (first) folder.emplace(options.save, step);
    });
    do_together(world, folder, [&] {
        write_shard(
            StepFolder::path_while_filled(options.save, step) / shard_name(world.rank(), world.size()),
            trainer.replica(), options.shape,
            [&](const Parameter& parameter) { return trainer.stands_for(parameter); });
    });
    do_together(world, folder, [&] {
        if (!first) return;
        write_model_config(folder->path() / "config.json", options.shape, options.dtype);
        write_training_state(folder->path() / "training.json", state_of(options, trainer, step));
        fmt::print("saved {} in {} shards\n", folder->commit().string(), world.size());
    });
}

}  // namespace

void check_can_save(const TrainOptions& options)
{
    const std::filesystem::path folder = std::filesystem::weakly_canonical(options.save);
    {
        const StepFolder probe(folder, 0);
    }
    const std::filesystem::path loaded = std::filesystem::weakly_canonical(options.load);
    const bool goes_on = !options.load.empty() && (loaded == folder || loaded.parent_path() == folder);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        check(goes_on || !entry.path().filename().string().starts_with("step-"),
              "{} holds the checkpoints of an earlier run: go on from them with --load {}, or save elsewhere",
              options.save, options.save);
}

void save_step(Comm& world, const TrainOptions& options, Trainer& trainer, std::int64_t step)
{
    options.save_shards ? save_sharded(world, options, trainer, step)
                        : save_whole(world, options, trainer, step);
}

std::int64_t resume(const TrainOptions& options, Trainer& trainer, bool says)
{
    if (options.load.empty()) return 0;
    WholeModel whole(options.shape, options.dtype);
    const LoadedCheckpoint loaded =
        load_checkpoint(options.load, options.shape, whole.parameters(), &whole.states());
    trainer.loss_scale() = loaded.state.loss_scale;
    check(loaded.state.step < options.steps, "{} has done {}: ask for more --steps than {} to go on",
          loaded.folder.string(), counted(loaded.state.step, "step"), options.steps);
    take_part(whole, trainer.replica());
    if (says) fmt::print("loaded {}\n", loaded.folder.string());
    return loaded.state.step;
}

}  // namespace shardlings
