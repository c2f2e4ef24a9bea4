#include "lib/tools/bench/commands.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/tools/bench/collectives.hpp"
#include "lib/tools/bench/messages.hpp"
#include "lib/tools/bench/scaling.hpp"
#include "lib/tools/bench/step.hpp"
#include "lib/tools/bench/watch.hpp"

namespace shardlings {

namespace {

/// Runs `body` on every rank of a launch of its own.
void run_on_ranks(int ranks, const CommandLine& command_line, const std::function<void(MpiSession&)>& body)
{
    const int code = started_by_launcher() ? run_rank(command_line.argc, command_line.argv,
                                                      [&](MpiSession& session) {
                                                          body(session);
                                                          return 0;
                                                      })
                                           : start_on_ranks(ranks, command_line);
    if (code != 0) throw CLI::RuntimeError(code);
}

}  // namespace

void add_bench_commands(CLI::App& app, const CommandLine& command_line)
{
    auto rounds = std::make_shared<int>(5);
    CLI::App* bench = app.add_subcommand("bench", "measure this machine");
    bench->require_subcommand(1);
    CLI::App* step = bench->add_subcommand("step", "the training step beside PyTorch's");
    step->add_option("--rounds", *rounds, "repetitions of each side")->capture_default_str();
    step->callback([rounds, command_line] {
        run_on_ranks(1, command_line, [rounds](MpiSession&) { bench_step(*rounds); });
    });
    CLI::App* messages = bench->add_subcommand("messages", "what metering and the virtual clock cost");
    messages->add_option("--rounds", *rounds, "repetitions of each side")->capture_default_str();
    messages->callback([rounds, command_line] {
        run_on_ranks(2, command_line, [rounds](MpiSession& session) { bench_messages(session, *rounds); });
    });
    auto measure = std::make_shared<bool>(false);
    CLI::App* scaling =
        bench->add_subcommand("scaling", "tokens per second of data parallelism on 1 and 2 ranks");
    scaling->add_option("--rounds", *rounds, "repetitions of each side")->capture_default_str();
    scaling->add_flag("--measure", *measure, "be one of the launches")->group("");
    scaling->callback([rounds, measure, command_line] {
        if (*measure)
            run_on_ranks(1, command_line, [](MpiSession& session) { measure_scaling(session); });
        else
            bench_scaling(*rounds);
    });
    CLI::App* collectives = bench->add_subcommand(
        "collectives",
        "lesson 03's all-reduce beside MPI_Allreduce on 2, 4 and 8 ranks: in place, fp32. Every round "
        "launches "
        "each number of ranks; in a launch the two take turns on the same memory. Printed are the shortest "
        "and the median time of a call on the slowest rank, and ours / MPI's: below 1 ours is faster.");
    collectives->add_option("--rounds", *rounds, "launches of each number of ranks")->capture_default_str();
    collectives->add_flag("--measure", *measure, "be one of the launches")->group("");
    collectives->callback([rounds, measure, command_line] {
        if (*measure)
            run_on_ranks(1, command_line, [](MpiSession& session) { measure_collectives(session); });
        else
            bench_collectives(*rounds);
    });
    CLI::App* watch = bench->add_subcommand("watch", "a round trip of 2 ranks, watched and not");
    watch->add_option("--rounds", *rounds, "launches of each")->capture_default_str();
    watch->add_flag("--measure", *measure, "be one of the launches")->group("");
    watch->callback([rounds, measure, command_line] {
        if (*measure)
            run_on_ranks(2, command_line, [](MpiSession& session) { measure_watched_messages(session); });
        else
            bench_watch(*rounds);
    });
}

}  // namespace shardlings
