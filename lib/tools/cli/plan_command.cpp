#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "lib/machine/base/error.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/plan_flags.hpp"
#include "lib/tools/plan/report.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

constexpr std::size_t most_rows = 1000;

struct SearchFlags {
    PlanFlags shared;
    std::optional<std::int64_t> devices;
    double tokens = 0.0;
    plan::Wanted wanted;
    std::string schedule;
    std::string recompute;
    std::size_t rows = 5;
    std::string json;
    std::string picture;
};

void run_plan(const SearchFlags& flags)
{
    check(flags.picture.empty() || flags.picture.ends_with(".svg"),
          "--picture {}: expected a file name that ends in .svg", flags.picture);
    check(flags.rows >= 1 && flags.rows <= most_rows, "--rows is {}: expected 1 to {}", flags.rows,
          most_rows);
    check(flags.tokens >= 0.0 && flags.tokens <= 1e18, "--tokens is {}: expected up to 1e18", flags.tokens);
    plan::Wanted wanted = flags.wanted;
    if (!flags.schedule.empty()) wanted.schedule = plan::parse_schedule(flags.schedule);
    if (!flags.recompute.empty()) wanted.recompute = plan::parse_recompute(flags.recompute);
    const plan::Cluster cluster = cluster_of(flags.shared, flags.devices);
    plan::Run run = run_of(flags.shared, cluster);
    run.tokens = flags.tokens;
    const plan::Plan plan = plan::search(run, cluster, wanted);
    if (plan.fitting == 0) throw Error(plan::what_would_fit(run, cluster, wanted, plan));
    if (!flags.json.empty()) write_text(flags.json, plan::plan_json(run, cluster, plan, flags.rows));
    if (!flags.picture.empty()) write_text(flags.picture, plan::plan_picture(run, cluster, plan, flags.rows));
    fmt::print("{}", plan::plan_text(run, cluster, plan, flags.rows));
}

}  // namespace

void add_plan_command(CLI::App& app)
{
    auto flags = std::make_shared<SearchFlags>();
    CLI::App* command = app.add_subcommand("plan", "the best layouts for a model on a cluster");
    add_plan_flags(*command, flags->shared);
    command->add_option("--devices", flags->devices, "devices of the cluster (default: those of a node)");
    command->add_option("--tokens", flags->tokens, "of the whole training run, as in 300e9");
    plan::Wanted& wanted = flags->wanted;
    command->add_option("--pp", wanted.pp, "only so many pipeline stages");
    command->add_option("--dp", wanted.dp, "only this data-parallel degree");
    command->add_option("--tp", wanted.tp, "only this tensor-parallel degree");
    command->add_option("--zero", wanted.zero, "only this ZeRO stage");
    command->add_option("--schedule", flags->schedule, "only gpipe, 1f1b or interleaved");
    command->add_option("--micro-batch", wanted.micro_batch, "only so many sequences in a micro-batch");
    command->add_option("--recompute", flags->recompute, "only none, selective or full");
    command->add_option("--rows", flags->rows, "layouts that are shown")->capture_default_str();
    command->add_option("--json", flags->json, "file for them as JSON");
    command->add_option("--picture", flags->picture, "file for a picture of time and memory, .svg");
    command->callback([flags] { run_plan(*flags); });
}

}  // namespace shardlings
