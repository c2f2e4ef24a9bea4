#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/plan_flags.hpp"
#include "lib/tools/plan/as_run.hpp"
#include "lib/tools/plan/report.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

struct CountFlags {
    PlanFlags shared;
    plan::Split split;
    std::string schedule = "1f1b";
    std::string recompute = "none";
    std::string json;
    bool as_run = false;
};

void run_count(const CountFlags& flags)
{
    plan::Split split = flags.split;
    split.schedule = plan::parse_schedule(flags.schedule);
    split.recompute = plan::parse_recompute(flags.recompute);
    // The degrees are checked with the run, before the cluster counts its devices.
    const plan::Run run = run_of(flags.shared, plan::named_cluster(flags.shared.cluster));
    plan::check_split(run, split);
    const plan::Cluster cluster = cluster_of(flags.shared, split.devices());
    std::string as_run;
    if (flags.as_run) as_run = plan::as_run_text(run, split, cluster, dtype_of(flags.shared, cluster));
    if (!flags.json.empty()) write_text(flags.json, plan::count_json(run, split, cluster));
    fmt::print("{}{}", plan::count_text(run, split, cluster), as_run);
}

}  // namespace

void add_count_command(CLI::App& app)
{
    auto flags = std::make_shared<CountFlags>();
    CLI::App* command = app.add_subcommand(
        "count",
        "parameters, memory, FLOPs, traffic and step time of a model in a layout, without running it");
    add_plan_flags(*command, flags->shared);
    plan::Split& split = flags->split;
    command->add_option("--pp", split.pp, "pipeline stages")->capture_default_str();
    command->add_option("--dp", split.dp, "data-parallel degree")->capture_default_str();
    command->add_option("--tp", split.tp, "tensor-parallel degree")->capture_default_str();
    command->add_option("--zero", split.zero, "ZeRO stage, 0 to 3")->capture_default_str();
    command->add_option("--schedule", flags->schedule, "of the pipeline: gpipe, 1f1b or interleaved")
        ->capture_default_str();
    command->add_option("--virtual-stages", split.virtual_stages, "chunks on each stage, interleaved")
        ->capture_default_str();
    command->add_option("--micro-batch", split.micro_batch, "sequences in a micro-batch")
        ->capture_default_str();
    command->add_option("--recompute", flags->recompute, "none, selective or full")->capture_default_str();
    command->add_flag("--sequence-parallel", split.sequence_parallel,
                      "with --tp: norms and residuals by rows");
    command->add_flag("--as-run", flags->as_run,
                      "also what this program's devices count when they run it, exactly (lesson 10)");
    command->add_option("--json", flags->json, "file for all of it as JSON");
    command->callback([flags] { run_count(*flags); });
}

}  // namespace shardlings
