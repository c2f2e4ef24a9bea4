#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>

#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/train_flags.hpp"
#include "lib/tools/measure/collectives.hpp"
#include "lib/tools/measure/steps.hpp"
#include "lib/tools/train/file.hpp"
#include "lib/tools/train/run.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

constexpr std::uint64_t most_file_bytes = 1'000'000;
constexpr int most_ranks = 1024;
constexpr std::int64_t most_bytes = 256'000'000;

struct MeasureFlags {
    std::string file;
    std::vector<std::string> topologies;
    std::vector<std::int64_t> bytes{4'000, 400'000, 4'000'000};
    std::string json_file;
};

TrainOptions parse_run(const std::string& line)
{
    TrainFlags flags;
    flags.options.steps = 1;
    CLI::App command;
    add_model_flags(command, flags.options.shape);
    add_step_flags(command, flags);
    add_layout_flags(command, flags);
    command.add_option("--data", flags.options.data);
    try {
        command.parse(line);
    } catch (const CLI::ParseError& error) {
        throw Error(error.what());
    }
    check(flags.hostfile.empty(), "--hostfile is not for measuring");
    finish(flags);
    return flags.options;
}

/// A run a line; empty lines are left out.
std::vector<TrainOptions> read_runs(const std::string& file)
{
    std::istringstream lines(read_text(file, most_file_bytes));
    std::vector<TrainOptions> runs;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        try {
            runs.push_back(parse_run(line));
            prepare_training(runs.back());
        } catch (const Error& error) {
            throw Error(fmt::format("{}, line {}: {}", file, number, error.what()));
        }
    }
    check(!runs.empty(), "{} has no line: expected the flags of a training run on each", file);
    return runs;
}

/// `body` on every rank of a launch of `ranks`; rank 0 writes what it returns.
void measure(const CommandLine& command_line, int ranks, const std::string& file,
             const std::function<json(const MpiSession&)>& body)
{
    check(ranks <= most_ranks, "{} ranks: expected up to {}", ranks, most_ranks);
    const int code = started_by_launcher() ? run_rank(command_line.argc, command_line.argv,
                                                      [&](const MpiSession& session) {
                                                          const json result = body(session);
                                                          if (session.rank() == 0)
                                                              write_text(file, result.dump(1) + "\n");
                                                          return 0;
                                                      })
                                           : start_on_ranks(ranks, command_line);
    if (code != 0) throw CLI::RuntimeError(code);
}

void run_steps(const MeasureFlags& flags, const CommandLine& command_line)
{
    const std::vector<TrainOptions> runs = read_runs(flags.file);
    int ranks = 0;
    for (const TrainOptions& run : runs) ranks = std::max(ranks, run.layout.world_size());
    measure(command_line, ranks, flags.json_file,
            [&](const MpiSession& session) { return measure_steps(session, runs); });
}

void run_collectives(const MeasureFlags& flags, const CommandLine& command_line)
{
    std::vector<Topology> topologies;
    int ranks = 0;
    for (const std::string& text : flags.topologies) {
        topologies.push_back(parse_topology(text));
        ranks = std::max(ranks, topologies.back().devices());
    }
    for (const std::int64_t size : flags.bytes)
        check(size >= 4 && size <= most_bytes && size % 4 == 0,
              "--bytes {}: expected a multiple of 4 up to {}, as an element is an fp32", size, most_bytes);
    measure(command_line, ranks, flags.json_file, [&](const MpiSession& session) {
        return measure_collectives_virtually(session, topologies, flags.bytes);
    });
}

}  // namespace

void add_measure_command(CLI::App& app, const CommandLine& command_line)
{
    auto flags = std::make_shared<MeasureFlags>();
    CLI::App* command = app.add_subcommand(
        "measure", "many layouts or collectives in one launch: virtual time, memory, messages, as JSON");
    command->require_subcommand(1);
    CLI::App* steps = command->add_subcommand("steps", "training runs, a line of a file each");
    steps->add_option("FILE", flags->file, "the flags of `train`, a run a line; --steps is 1 unless given")
        ->required();
    CLI::App* collectives = command->add_subcommand("collectives", "lesson 03's all-reduces and broadcasts");
    collectives->add_option("TOPOLOGY", flags->topologies, "NODESxDEVICES, as in 2x4; several may be given")
        ->required();
    collectives->add_option("--bytes", flags->bytes, "lengths of the vectors, as in 4000,400000")
        ->delimiter(',')
        ->capture_default_str();
    for (CLI::App* one : {steps, collectives})
        one->add_option("--json", flags->json_file, "file for the figures")->required();
    steps->callback([flags, command_line] { run_steps(*flags, command_line); });
    collectives->callback([flags, command_line] { run_collectives(*flags, command_line); });
}

}  // namespace shardlings
