#include "lib/tools/cli/program.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/environment.hpp"
#include "lib/tools/bench/commands.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/usage_error.hpp"
#include "lib/tools/course/commands.hpp"
#include "lib/tools/marks/commands.hpp"

namespace shardlings {

int run_program(int argc, char** argv)
{
    CLI::App app{"Shardlings: how a Transformer is trained on many devices, on a laptop"};
    app.name("shardlings");
    app.require_subcommand(1);
    const CommandLine command_line{argc, argv};
    // A simulated rank has an App of its own, beside a thousand others in one process: only with what it
    // runs.
    const bool simulated = std::getenv(simulated_rank_variable) != nullptr;
    const auto wanted = [&](std::string_view name) { return !simulated || (argc > 1 && name == argv[1]); };
    if (wanted("train")) add_train_command(app, command_line);
    if (wanted("verify")) add_verify_command(app, command_line);
    if (wanted("bench")) add_bench_commands(app, command_line);
    if (!simulated) {
        add_generate_command(app, command_line);
        add_schedule_command(app);
        add_grid_command(app);
        add_measure_command(app, command_line);
        add_count_command(app);
        add_plan_command(app);
        add_platform_command(app);
        add_course_commands(app);
        add_marks_commands(app);
        add_launch_command(app);
        add_diagnose_command(app);
        add_completion_command(app);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return answer(app, error);
    } catch (const std::exception& error) {
        return answer(error);
    }
    return 0;
}

}  // namespace shardlings
