#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/train_flags.hpp"
#include "lib/tools/report/report.hpp"
#include "lib/tools/train/generate.hpp"
#include "lib/tools/train/run.hpp"

namespace shardlings {

namespace {

void add_file_flags(CLI::App& command, TrainFlags& flags)
{
    TrainOptions& o = flags.options;
    command.add_option("--data", o.data, "file whose bytes are learned (default: the lessons' texts)");
    command.add_option("--save", o.save, "folder for checkpoints");
    command.add_option("--save-every", o.save_every, "steps between checkpoints (default: at the end only)");
    command.add_flag("--save-shards", o.save_shards, "every rank writes its own part of a checkpoint");
    command.add_option("--load", o.load, "folder of the checkpoint to go on from");
    command.add_option("--json", o.json, "file for the run's figures");
    command.add_option("--trace", o.trace, "file for the timeline: .json for Perfetto, or .svg");
    CLI::Option* report =
        command.add_option("--report", o.report, "file, .html, for a page of the run to open in a browser");
    command
        .add_option("--baseline", flags.baseline,
                    "--json file of another run, whose losses the report shows beside this one's")
        ->needs(report);
    command.add_option("--log-every", o.log_every, "steps between lines of progress")->capture_default_str();
}

std::optional<Baseline> baseline_of(const TrainFlags& flags)
{
    if (flags.baseline.empty()) return std::nullopt;
    return read_baseline(flags.baseline);
}

int train_on_rank(TrainFlags& flags, MpiSession& session)
{
    TrainOptions& options = flags.options;
    options.topology = topology_of_run(session, options.topology, !flags.topology.empty());
    std::optional<Baseline> baseline;  // read before the run, which may write a file of the same name
    if (session.rank() == 0) baseline = baseline_of(flags);
    run_training(options, session,
                 [&](const RunRecord& run) { write_report(options.report, run, baseline); });
    return 0;
}

/// Files of a run are written after its last step: says which are missing, so that nobody takes an older one
/// for its.
void say_what_is_not_written(const TrainOptions& options, std::filesystem::file_time_type begin)
{
    for (const std::string& file : {options.json, options.trace, options.report}) {
        if (file.empty()) continue;
        std::error_code none;
        const auto written = std::filesystem::last_write_time(file, none);
        if (!none && written >= begin) continue;
        fmt::print(stderr, "{}: the run did not get to its end, after which it is written{}\n", file,
                   none ? "" : "; the file that is there is an older one");
    }
}

}  // namespace

void add_train_command(CLI::App& app, const CommandLine& command_line)
{
    auto flags = std::make_shared<TrainFlags>();
    CLI::App* command = app.add_subcommand("train", "train a GPT-2 style model on the bytes of a text");
    add_model_flags(*command, flags->options.shape);
    add_step_flags(*command, *flags);
    add_layout_flags(*command, *flags);
    add_file_flags(*command, *flags);
    command->callback([flags, command, command_line] {
        flags->options.shape_given = command->count("--layers") + command->count("--hidden") +
                                         command->count("--heads") + command->count("--seq") +
                                         command->count("--vocab") >
                                     0;
        flags->options.dtype_given = command->count("--dtype") > 0;
        finish(*flags);
        int code = 0;
        if (started_by_launcher()) {
            code = run_rank(command_line.argc, command_line.argv,
                            [&](MpiSession& session) { return train_on_rank(*flags, session); });
        } else {
            check_report_path(flags->options);
            baseline_of(*flags);
            prepare_training(flags->options);
            const auto begin = std::filesystem::file_time_type::clock::now();
            code = start_on_ranks(flags->options.layout.world_size(), command_line,
                                  {flags->hostfile, flags->options.topology});
            if (code != 0) say_what_is_not_written(flags->options, begin);
        }
        if (code != 0) throw CLI::RuntimeError(code);
    });
}

void add_generate_command(CLI::App& app, const CommandLine&)
{
    auto options = std::make_shared<GenerateOptions>();
    CLI::App* command = app.add_subcommand("generate", "write text with a trained model");
    command->add_option("--load", options->load, "folder of the checkpoint")->required();
    command->add_option("--prompt", options->prompt, "text to go on from")->capture_default_str();
    command->add_option("--tokens", options->tokens, "bytes to write")->capture_default_str();
    command->add_option("--temperature", options->temperature, "0: always the likeliest byte")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "of the choices")
        ->check(refuse_negative)
        ->capture_default_str();
    command->callback([options] { generate(*options); });
}

}  // namespace shardlings
