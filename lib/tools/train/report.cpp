#include "lib/tools/train/report.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "lib/machine/base/units.hpp"
#include "lib/tools/trace/collect.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

json config_of(const TrainOptions& o)
{
    return {{"layers", o.shape.layers},
            {"hidden", o.shape.hidden},
            {"heads", o.shape.heads},
            {"seq", o.shape.sequence},
            {"vocab", o.shape.vocabulary},
            {"parameters", o.shape.parameters()},
            {"batch", o.batch},
            {"microbatches", o.micro_batches},
            {"steps", o.steps},
            {"lr", o.adamw.learning_rate},
            {"lr_final", o.final_learning_rate},
            {"warmup", o.warmup},
            {"weight_decay", o.adamw.weight_decay},
            {"clip", o.max_norm},
            {"seed", o.seed},
            {"dtype", name_of(o.dtype)},
            {"recompute", o.recompute             ? "full"
                          : o.recompute_attention ? "selective"
                                                  : "none"},
            {"dropout", o.dropout},
            {"sequence_parallel", o.layout.sequence_parallel},
            {"dp", o.layout.dp},
            {"tp", o.layout.tp},
            {"pp", o.layout.pp},
            {"zero", o.layout.zero},
            {"bucket_bytes", o.bucket_bytes},
            {"overlap", o.overlap},
            {"zero3_fetch", o.zero.fetch == zero::Fetch::broadcast ? "broadcast" : "all-gather"},
            {"gradient_buckets", o.zero.gradient_buckets},
            {"zero_accumulate", o.zero.accumulate_in_shards ? "shards" : "full"},
            {"schedule", o.layout.schedule},
            {"virtual_stages", o.layout.virtual_stages},
            {"data", o.data}};
}

json sent_by(const Traffic& traffic)
{
    return {{"messages", traffic.total.messages},
            {"bytes", traffic.total.bytes},
            {"inter_node_bytes", traffic.inter_node.bytes}};
}

json sent_to_each(const Traffic& traffic)
{
    json list = json::array();
    for (const auto& [peer, count] : traffic.to)
        list.push_back({{"rank", peer}, {"messages", count.messages}, {"bytes", count.bytes}});
    return list;
}

}  // namespace

RankFigures figures_of(const Device& device, const Layout& layout, const Trainer& trainer,
                       const StepReport& last)
{
    const grid::Coordinates at = grid::coordinates_of(device.rank(), grid_of(layout));
    const MemoryUse& memory = device.memory();
    json budget;  // null: no limit
    if (device.budget() != std::numeric_limits<std::uint64_t>::max()) budget = device.budget();
    return {{"rank", device.rank()},
            {"coordinates", {{"pp", at.pp}, {"dp", at.dp}, {"tp", at.tp}}},
            {"memory",
             {{"parameters", memory.current_of(Category::parameters)},
              {"gradients", memory.current_of(Category::gradients)},
              {"optimizer_states", memory.current_of(Category::optimizer_states)},
              {"parameters_peak", memory.peak_of(Category::parameters)},
              {"gradients_peak", memory.peak_of(Category::gradients)},
              {"activations_peak", memory.peak_of(Category::activations)},
              {"communication_peak", memory.peak_of(Category::communication)},
              {"workspace_peak", memory.peak_of(Category::workspace)},
              {"peak", memory.peak},
              {"budget", budget}}},
            {"sent", sent_by(device.traffic())},
            {"sent_to", sent_to_each(device.traffic())},
            {"sent_data_parallel", sent_by(trainer.groups().data.data.traffic())},
            {"sent_tensor_parallel", sent_by(trainer.groups().tensor.traffic())},
            {"sent_pipeline", sent_by(trainer.groups().pipeline.traffic())},
            {"last_step", {{"busy_seconds", last.busy_seconds}, {"exposed_seconds", last.exposed_seconds}}},
            {"flops", device.flops()}};
}

std::vector<RankFigures> collect_figures(Comm& comm, const RankFigures& own)
{
    std::vector<RankFigures> all;
    for (const auto& bytes : gather_bytes(comm, json::to_cbor(own))) all.push_back(json::from_cbor(bytes));
    return all;
}

ProgressLine::ProgressLine(const TrainOptions& options, std::int64_t first_step)
    : options_(options),
      first_step_(first_step),
      terminal_(std::getenv("SHARDLINGS_TERMINAL") != nullptr),
      begin_(std::chrono::steady_clock::now())
{
}

void ProgressLine::show(const StepFigures& figures, const Device& device)
{
    const std::int64_t step = figures.step;
    if (figures.report.skipped)
        fmt::print("step {}: fp16 overflow, the step is skipped and the loss scale halved\n", step);
    const bool last = step == options_.steps;
    if (step % options_.log_every != 0 && step != first_step_ && !last) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const auto done = static_cast<double>(step - first_step_ + 1);
    const double tokens = done * static_cast<double>(options_.batch * options_.shape.sequence);
    const bool limited = device.budget() != std::numeric_limits<std::uint64_t>::max();
    const std::string line = fmt::format(
        "step {:>{}}/{}  loss {:.4f}  {:.0f} tokens/s  peak memory {}{}  {:.0f} s left", step,
        std::to_string(options_.steps).size(), options_.steps, figures.report.loss, tokens / seconds,
        format_bytes(device.memory().peak), limited ? " of " + format_bytes(device.budget()) : "",
        seconds / done * static_cast<double>(options_.steps - step));
    fmt::print("{}{}", terminal_ ? "\r\033[K" + line : line, terminal_ && !last ? "" : "\n");
    std::fflush(stdout);
}

json report_of(const TrainOptions& options, const std::vector<StepFigures>& steps,
               const std::vector<RankFigures>& ranks)
{
    json list = json::array();
    for (const StepFigures& one : steps)
        list.push_back({{"step", one.step},
                        {"loss", one.report.loss},
                        {"grad_norm", one.report.gradient_norm},
                        {"skipped", one.report.skipped},
                        {"exposed_seconds", one.report.exposed_seconds},
                        {"virtual_seconds", one.virtual_seconds}});
    return {{"config", config_of(options)}, {"steps", std::move(list)}, {"ranks", ranks}};
}

json report_of(const TrainOptions& options, const std::vector<StepFigures>& steps,
               const ValidationFigures& validation, const std::vector<RankFigures>& ranks)
{
    json report = report_of(options, steps, ranks);
    report["validation"] = {{"bits_per_byte", validation.bits_per_byte},
                            {"order_0_entropy", validation.statistics.order_0},
                            {"bigram_cross_entropy", validation.statistics.bigram}};
    return report;
}

void write_json_report(const std::string& path, const json& report)
{
    write_text(path, report.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace shardlings
