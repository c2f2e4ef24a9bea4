#include "lib/tools/grade/judge_sandbox.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "lib/tools/grade/judge_pipes.hpp"
#include "lib/tools/grade/sandbox.hpp"
#include "lib/tools/launch/watched.hpp"

namespace grade {

using namespace shardlings;

namespace {

constexpr const char* course = "/course";  // where sources were when they were compiled
constexpr const char* driver = "/course/driver";
constexpr const char* pipes_inside = "/pipes";

/// The command by way of the watch's supervisor, which is put inside: what it reads and signals, and what it
/// says, is the business of the processes in there.
Command watched_inside(Sandbox& sandbox, const Command& command, const std::string& file)
{
    const std::filesystem::path folder = watch_folder();
    if (folder.empty() || !std::filesystem::exists(folder / "mpiwatch")) return command;
    sandbox.put(folder / "mpiwatch", "/watch/mpiwatch");
    sandbox.put(folder / "libmpiwatch.so", "/watch/libmpiwatch.so");
    Command all{"/watch/mpiwatch", file};
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

}  // namespace

bool sandbox_wanted()
{
    const char* wanted = std::getenv(sandbox_variable);
    return wanted != nullptr && std::string_view(wanted) == "yes";
}

ProcessResult run_in_sandbox(const std::string& program, const std::string& source,
                             const nlohmann::json& cases, std::size_t first, double limit,
                             const std::string& folder, Outcomes& outcomes)
{
    constexpr int tasks_a_rank = 8;   // a rank of OpenMPI has 4 threads
    constexpr int tasks_beside = 32;  // mpirun's, and the watch's
    const auto ranks = static_cast<int>(cases.front().at("ranks").size());
    SandboxLimits limits;
    limits.processes = tasks_a_rank * ranks + tasks_beside;
    Sandbox sandbox(limits);
    sandbox.put(program, driver);
    const std::filesystem::path pipes = sandbox.lend_pipes(pipes_inside);
    for (const auto& [name, value] : mpirun_environment()) sandbox.set(name, value);
    // The last bit of a sum depends on which kernels are chosen: the driver's are those of the judge.
    for (const char* choice : {"OPENBLAS_CORETYPE", "GLIBC_TUNABLES"})
        if (const char* value = std::getenv(choice); value != nullptr) sandbox.set(choice, value);
    // A driver erases what would be bound by name later. Of the driver's only: mpirun has no MPI, which the
    // watch's library, loaded into all of them, would bind.
    const Command rank{"/usr/bin/env", "LD_BIND_NOW=1", driver, pipes_inside, std::to_string(first)};
    const Command command = watched_inside(sandbox, mpirun_command(ranks, rank), source);
    const Pipes served(sandbox, pipes, cases, folder, outcomes);
    return run_captured(sandbox.command(command, course), {}, limit, folder);
}

}  // namespace grade
