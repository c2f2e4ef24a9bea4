#include "lib/tools/train/run.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numbers>
#include <utility>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/comm/comm.hpp"
#include "lib/tools/data/batch.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/schedule/named.hpp"
#include "lib/tools/trace/collect.hpp"
#include "lib/tools/trace/trace.hpp"
#include "lib/tools/train/checkpoint.hpp"
#include "lib/tools/train/checkpoints_of_run.hpp"
#include "lib/tools/train/file.hpp"
#include "lib/tools/train/report.hpp"

namespace shardlings {

namespace {

/// The model's sizes and dtype as the checkpoint to load has them, unless flags ask for others.
void take_from_checkpoint(TrainOptions& options)
{
    if (options.load.empty()) return;
    if (!options.shape_given) options.shape = read_model_shape(options.load);
    if (!options.dtype_given) options.dtype = read_model_dtype(options.load);
}

bool records(const TrainOptions& options)
{
    return !options.trace.empty() || !options.report.empty();
}

/// What the run's files show: all for --trace; for --report alone, the steps that a page has room for.
std::vector<RankTrace> traces_for(const TrainOptions& options, Comm& world)
{
    constexpr std::size_t most_events = 200'000;  // of all ranks
    if (!options.trace.empty()) return collect_traces(world);
    if (options.report.empty()) return {};
    const std::size_t most = most_events / static_cast<std::size_t>(world.size());
    return collect_traces(world, trace_of_last_steps(world.device(), most));
}

DeviceOptions device_options(const TrainOptions& options, int rank)
{
    DeviceOptions device;
    device.rank = rank;
    device.budget = options.budget;
    device.topology = options.topology;
    device.record = records(options);
    return device;
}

/// Error when no file can be made there; nothing is left.
void check_can_write(const std::filesystem::path& file)
{
    const OutputFile probe(file);
}

double validate(Trainer& trainer, const Text& text, const TrainOptions& options)
{
    double sum = 0.0;
    double counted = 0.0;
    const std::int64_t batches = validation_batches(text, options.batch, options.shape.sequence);
    for (std::int64_t i = 0; i < batches; ++i) {
        const Batch batch = make_validation_batch(text, i, options.batch, options.shape.sequence);
        const auto tokens = static_cast<double>(batch.counted());
        if (tokens == 0.0) continue;
        sum += tokens * trainer.evaluate(batch.view());
        counted += tokens;
    }
    return sum / counted / std::numbers::ln2;
}

void say_what_runs(const TrainOptions& o, const Text& text)
{
    fmt::print("{}, hidden {}, {}, {} a sequence: {} parameters in {}\n", counted(o.shape.layers, "layer"),
               o.shape.hidden, counted(o.shape.heads, "head"), counted(o.shape.sequence, "token"),
               o.shape.parameters(), name_of(o.dtype));
    fmt::print("{} bytes of {}\n", text.training().size() + text.validation().size(), text.origin());
}

void say_layout(const Layout& layout)
{
    if (layout.world_size() == 1) return;
    fmt::print("{} devices: data parallelism {}, ZeRO stage {}", layout.world_size(), layout.dp, layout.zero);
    if (layout.tp > 1)
        fmt::print(", tensor parallelism {}{}", layout.tp,
                   layout.sequence_parallel ? " with sequence parallelism" : "");
    if (layout.pp > 1) fmt::print(", {} pipeline stages, schedule {}", layout.pp, layout.schedule);
    if (layout.virtual_stages > 1) fmt::print(" with {} chunks a stage", layout.virtual_stages);
    fmt::print("\n");
}

/// "stage 1 of 4, data-parallel rank 0 of 2".
std::string place_of(int rank, const Layout& layout)
{
    const grid::Coordinates at = grid::coordinates_of(rank, grid_of(layout));
    return fmt::format("stage {} of {}, data-parallel rank {} of {}, tensor-parallel rank {} of {}", at.pp,
                       layout.pp, at.dp, layout.dp, at.tp, layout.tp);
}

/// Leaves the rank's process and place for who started it, should the rank be killed.
void note_place(int rank, const Layout& layout)
{
    if (const char* folder = std::getenv(run_folder_variable))
        write_text(fmt::format("{}/rank-{}", folder, rank),
                   fmt::format("{}\n{}\n", getpid(), place_of(rank, layout)));
}

void say_memory(const Device& device)
{
    const MemoryUse& memory = device.memory();
    fmt::print(
        "memory of rank {}: parameters {}, gradients {}, optimizer states {}, activations at most {}\n",
        device.rank(), format_bytes(memory.current_of(Category::parameters)),
        format_bytes(memory.current_of(Category::gradients)),
        format_bytes(memory.current_of(Category::optimizer_states)),
        format_bytes(memory.peak_of(Category::activations)));
}

/// What the devices did with the virtual time of the last step: rank 0 waiting, all of them computing.
void say_last_step(const std::vector<StepFigures>& history, const std::vector<RankFigures>& ranks,
                   const TrainOptions& options)
{
    if (options.layout.world_size() == 1) return;
    const StepFigures& last = history.back();
    const double begin = history.size() > 1 ? history[history.size() - 2].virtual_seconds : 0.0;
    const double step = last.virtual_seconds - begin;
    fmt::print("exposed communication, {} overlap: {} of the last step's {} of virtual time ({:.1f} %)\n",
               options.overlap ? "with" : "without", format_seconds(last.report.exposed_seconds),
               format_seconds(step), step > 0.0 ? 100.0 * last.report.exposed_seconds / step : 0.0);
    if (options.layout.pp == 1 || step == 0.0) return;
    double busy = 0.0;
    for (const RankFigures& rank : ranks) busy += rank.at("last_step").at("busy_seconds").get<double>();
    const double utilisation = busy / step / static_cast<double>(ranks.size());
    fmt::print("the devices computed for {:.1f} % of it and stood idle for {:.1f} %\n", 100.0 * utilisation,
               100.0 * (1.0 - utilisation));
}

void say_validation(const ValidationFigures& figures)
{
    fmt::print("validation: {:.4f} bits per byte (order-0 entropy {:.4f}, bigram model {:.4f})\n",
               figures.bits_per_byte, figures.statistics.order_0, figures.statistics.bigram);
}

std::vector<StepFigures> train_steps(Comm& world, const TrainOptions& options, const Text& text,
                                     Trainer& trainer, std::int64_t first_step)
{
    Device& device = world.device();
    std::vector<StepFigures> history;
    ProgressLine progress(options, first_step);
    for (std::int64_t step = first_step; step <= options.steps; ++step) {
        const Batch batch = make_batch(text, options.seed, step - 1, options.batch, options.shape.sequence);
        const double begin = device.clock().now();
        const StepReport report = trainer.step(batch.view(), step);
        check(options.dtype == DType::fp16 || std::isfinite(report.loss),
              "the loss of step {} is {}: the run has diverged, use a smaller --lr or clip the gradient "
              "(--clip 1)",
              step, report.loss);
        device.record({fmt::format("step {}", step), "step", begin, device.clock().now()});
        history.push_back({step, report, device.clock().now()});
        if (world.rank() == 0) progress.show(history.back(), device);
        const bool due = options.save_every > 0 && step % options.save_every == 0;
        if (!options.save.empty() && (due || step == options.steps)) save_step(world, options, trainer, step);
    }
    return history;
}

PictureOptions picture_of(const TrainOptions& options)
{
    const Layout& layout = options.layout;
    PictureOptions picture;
    if (layout.pp == 1) return picture;
    picture.stages = layout.pp;
    picture.tensor_ranks = layout.tp;
    picture.title = title_of_schedule(layout.schedule, layout.pp, static_cast<int>(options.micro_batches),
                                      layout.virtual_stages);
    return picture;
}

}  // namespace

Text text_of(const TrainOptions& options)
{
    return options.data.empty() ? load_course_text(find_project_root()) : load_text(options.data);
}

void prepare_training(TrainOptions options)
{
    take_from_checkpoint(options);
    options.validate();
    check_vocabulary(options.shape.vocabulary);
    check_long_enough(text_of(options), options.shape.sequence);
    if (!options.trace.empty()) trace_format_of(options.trace);
    for (const std::string& file : {options.json, options.trace, options.report})
        if (!file.empty()) check_can_write(file);
    if (!options.save.empty()) check_can_save(options);
}

namespace {

void run_on_rank(const TrainOptions& options, MpiSession& session, const ReportWriter& write_report)
{
    const Text text = text_of(options);
    Device device(device_options(options, session.rank()));
    check(session.size() == options.layout.world_size(),
          "started on {}, but pp {} x dp {} x tp {} is {}: start as many ranks as the layout has",
          counted(session.size(), "rank"), options.layout.pp, options.layout.dp, options.layout.tp,
          options.layout.world_size());
    if (options.layout.world_size() > 1) note_place(session.rank(), options.layout);
    Comm world = Comm::world(device);
    Trainer trainer(world, options);
    const bool says = world.rank() == 0;
    if (says) {
        say_what_runs(options, text);
        say_layout(options.layout);
    }
    const std::int64_t first_step = resume(options, trainer, says) + 1;

    const std::vector<StepFigures> history = train_steps(world, options, text, trainer, first_step);
    const RankFigures figures = figures_of(device, options.layout, trainer, history.back().report);
    const std::vector<RankTrace> traces = traces_for(options, world);
    const ValidationFigures validation{validate(trainer, text, options), measure_statistics(text)};
    const std::vector<RankFigures> ranks = collect_figures(world, figures);
    if (!says) return;
    say_memory(device);
    say_last_step(history, ranks, options);
    say_validation(validation);
    const nlohmann::json run = report_of(options, history, validation, ranks);
    if (!options.json.empty()) write_json_report(options.json, run);
    if (!options.trace.empty()) write_trace(options.trace, traces, picture_of(options));
    if (!options.report.empty()) write_report({options, run, traces});
}

}  // namespace

void run_training(TrainOptions options, MpiSession& session, const ReportWriter& write_report)
{
    take_from_checkpoint(options);
    try {
        run_on_rank(options, session, write_report);
    } catch (const DeviceOutOfMemory& error) {
        if (options.layout.pp == 1) throw;
        throw DeviceOutOfMemory(fmt::format("{}\nRank {} is {}.", error.what(), session.rank(),
                                            place_of(session.rank(), options.layout)));
    }
}

}  // namespace shardlings
