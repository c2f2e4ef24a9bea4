#include <CLI/CLI.hpp>
#include <memory>

#include "lib/tools/cli/commands.hpp"
#include "lib/tools/watch/supervise.hpp"

namespace shardlings {

void add_diagnose_command(CLI::App& app)
{
    struct Flags {
        watch::Options options;
        bool no_checksums = false;
        Command program;
    };
    auto flags = std::make_shared<Flags>();
    CLI::App* command = app.add_subcommand("diagnose",
                                           "run any MPI program under watch and say why it hangs or fails: "
                                           "diagnose -- mpirun -np 4 ./a.out");
    command->footer(
        "A deadlock ends the program with exit code 86, collectives that do not fit with 87; of crashes, "
        "wrong tags, lost messages and requests it says where they are from.");
    command->add_option("--period", flags->options.period, "seconds until a wait is looked into")
        ->capture_default_str();
    command->add_flag(
        "--synchronous", flags->options.synchronous,
        "no send ends before its receive has begun: shows what works only while messages are short");
    command->add_flag("--no-checksums", flags->no_checksums, "do not look for buffers changed in flight");
    command
        ->add_flag("--only-deadlocks", flags->options.only_deadlocks,
                   "say nothing of how ranks end and of what they leave undone")
        ->group("");
    command
        ->add_option("--about", flags->options.about, "tell a deadlock in a few lines about this source file")
        ->group("");
    command->add_option("--library", flags->options.library,
                        "the watching library, for another MPI than this program's");
    command->add_option("program", flags->program, "mpirun and its arguments, after --")->required();
    command->positionals_at_end();
    command->callback([flags] {
        flags->options.checksums = !flags->no_checksums;
        if (const int code = watch::supervise(flags->program, mpirun_environment(), flags->options);
            code != 0)
            throw CLI::RuntimeError(code);
    });
}

}  // namespace shardlings
