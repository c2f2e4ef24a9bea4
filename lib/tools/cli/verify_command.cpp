#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/tools/agreement/sweep.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/train_flags.hpp"
#include "lib/tools/train/file.hpp"
#include "lib/tools/train/run.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

struct VerifyFlags {
    TrainFlags train;
    std::optional<int> sweep;
    std::optional<int> sample;
    std::optional<std::uint64_t> sample_seed;
    std::string json;
    std::vector<std::string> cases;  // file and folder: what run_sweep starts
};

/// A model that is small and can still be cut in many ways.
TrainFlags small_model()
{
    TrainFlags flags;
    flags.options.shape.layers = 8;
    flags.options.shape.hidden = 48;
    flags.options.shape.heads = 24;
    flags.options.shape.sequence = 5;
    flags.options.steps = 2;
    flags.dtype = "fp64";
    flags.device_flops = 1e9;  // slow beside the links, as devices are with models that are not small
    return flags;
}

void add_flags(CLI::App& command, TrainFlags& flags)
{
    add_model_flags(command, flags.options.shape);
    add_step_flags(command, flags);
    add_layout_flags(command, flags);
    command.add_option("--data", flags.options.data,
                       "file whose bytes are learned (default: the lessons' texts)");
}

TrainOptions parse_flags(const std::string& line)
{
    TrainFlags flags = small_model();
    CLI::App command;
    add_flags(command, flags);
    try {
        command.parse(line);
    } catch (const CLI::ParseError& error) {
        throw Error(error.what());
    }
    finish(flags);
    return flags.options;
}

/// The flags of a sweep's runs that are not the sweep's own choice.
std::string common_flags(const TrainFlags& flags)
{
    const TrainOptions& o = flags.options;
    std::string line = fmt::format(
        "--layers {} --hidden {} --heads {} --seq {} --vocab {} --steps {} --lr {} --weight-decay {} --clip "
        "{} "
        "--seed {} --dtype {} --dropout {} --device-flops {}",
        o.shape.layers, o.shape.hidden, o.shape.heads, o.shape.sequence, o.shape.vocabulary, o.steps,
        o.adamw.learning_rate, o.adamw.weight_decay, o.max_norm, o.seed, flags.dtype, o.dropout,
        flags.device_flops);
    if (!o.data.empty()) line += fmt::format(" --data {:?}", o.data);
    return line;
}

/// Error for what would end the runs, or lose their verdicts, before the first of them.
void check_before(const VerifyFlags& flags)
{
    check(flags.train.budget.empty(),
          "--memory-budget limits what train allocates, and verify holds more than that to compare it: leave "
          "it out");
    TrainOptions options = flags.train.options;
    options.json = flags.json;
    prepare_training(std::move(options));
}

/// Error for a flag that a sweep's runs would not get.
void check_sweep_flags(const CLI::App& command)
{
    const std::set<std::string> taken{"--layers", "--hidden",     "--heads",        "--seq",  "--vocab",
                                      "--steps",  "--lr",         "--weight-decay", "--clip", "--seed",
                                      "--dtype",  "--data",       "--dropout",      "--json", "--sweep",
                                      "--sample", "--sample-seed"};
    for (const CLI::Option* option : command.get_options())
        check(
            option->count() == 0 || taken.contains(option->get_name()),
            "--sweep chooses the layouts and what goes with them: leave out {0}, or verify one layout by {0} "
            "without --sweep",
            option->get_name());
}

int verify_one(const VerifyFlags& flags, const CommandLine& command_line)
{
    const TrainOptions& options = flags.train.options;
    if (!started_by_launcher()) {
        check_before(flags);
        return start_on_ranks(options.layout.world_size(), command_line,
                              {flags.train.hostfile, options.topology});
    }
    return run_rank(command_line.argc, command_line.argv, [&](MpiSession& session) {
        const Text text = text_of(options);
        const agreement::Verdict verdict = agreement::Verifier(session, text).verify(options);
        if (session.rank() > 0) return 0;
        agreement::print_verdict(options, verdict);
        if (!flags.json.empty())
            write_text(flags.json,
                       agreement::to_json({options.layout.world_size(), ""}, verdict).dump(1) + "\n");
        return verdict.kept() ? 0 : 1;
    });
}

int verify_all(VerifyFlags& flags, const CommandLine& command_line)
{
    const int ranks = *flags.sweep;
    check(ranks >= 1 && ranks <= 64, "--sweep is {}: expected 1 to 64 ranks", ranks);
    check(flags.sample.value_or(1) >= 1, "--sample is {}: expected 1 or more layouts", *flags.sample);
    check_before(flags);
    const std::string common = common_flags(flags.train);
    std::vector<agreement::LayoutCase> cases = agreement::legal_layouts(ranks, common, parse_flags);
    check(!cases.empty(), "no layout of up to {} is legal for this model", counted(ranks, "rank"));
    fmt::print("{} of up to {}", counted(cases.size(), "legal layout"), counted(ranks, "rank"));
    if (flags.sample) {
        if (!flags.sample_seed) flags.sample_seed = std::random_device{}();
        cases =
            agreement::sample(std::move(cases), static_cast<std::size_t>(*flags.sample), *flags.sample_seed);
        fmt::print(", of which {} are chosen; the same again with --sample {} --sample-seed {}", cases.size(),
                   *flags.sample, *flags.sample_seed);
    }
    fmt::print("\none of them: shardlings verify {} FLAGS\n", common);
    std::fflush(stdout);
    const json verdicts = agreement::run_sweep(cases, {common, {command_line.argv[0], "verify", "--cases"}});
    const auto kept = std::ranges::count_if(verdicts, [](const json& v) { return v.at("kept").get<bool>(); });
    if (!flags.json.empty())
        write_text(flags.json, json{{"common", common}, {"layouts", verdicts}}.dump(1) + "\n");
    fmt::print("{} layouts keep their promise, {} do not\n", kept,
               static_cast<std::ptrdiff_t>(verdicts.size()) - kept);
    return kept == static_cast<std::ptrdiff_t>(verdicts.size()) ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& app, const CommandLine& command_line)
{
    auto flags = std::make_shared<VerifyFlags>();
    flags->train = small_model();
    CLI::App* command = app.add_subcommand(
        "verify", "check a layout against the single process: losses, gradients, parameters, states");
    add_flags(*command, flags->train);
    command->add_option("--sweep", flags->sweep, "all legal layouts of up to so many ranks");
    command->add_option("--sample", flags->sample, "only so many of them, chosen at random");
    command->add_option("--sample-seed", flags->sample_seed, "which (default: others each time)")
        ->check(refuse_negative);
    command->add_option("--json", flags->json, "file for the verdicts");
    command->add_option("--cases", flags->cases)->expected(2)->group("");
    command->callback([flags, command, command_line] {
        if (!flags->cases.empty()) {
            run_rank(command_line.argc, command_line.argv, [&](MpiSession& session) {
                agreement::run_cases(session, flags->cases[0], flags->cases[1], parse_flags);
                return 0;
            });
            return;
        }
        check(flags->sweep || !flags->sample, "--sample needs --sweep");
        check(flags->sample || !flags->sample_seed, "--sample-seed needs --sample");
        if (flags->sweep) check_sweep_flags(*command);
        finish(flags->train);
        const int code = flags->sweep ? verify_all(*flags, command_line) : verify_one(*flags, command_line);
        if (code != 0) throw CLI::RuntimeError(code);
    });
}

}  // namespace shardlings
