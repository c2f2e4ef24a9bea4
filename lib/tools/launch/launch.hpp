// Starting processes: with a time limit, their output caught, nothing left behind.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/tools/launch/hostfile.hpp"

namespace shardlings {

using Command = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

/// mpirun with the flags that suit many ranks on few cores, for the MPI that this program was built with.
/// With a `hostfile`, in the form of that MPI, on the machines that it names, over whatever network joins
/// them.
Command mpirun_command(int ranks, const Command& program, const std::string& hostfile = "");
/// A hostfile in the form that mpirun_command wants.
std::string hostfile_text(const std::vector<Host>& hosts);
/// Names the folder of a run, in which its ranks leave notes for the process that started them.
inline constexpr const char* run_folder_variable = "SHARDLINGS_RUN_DIR";
/// What ranks need in their environment: one BLAS thread each, a fast start.
Environment mpirun_environment();

struct ProcessResult {
    int exit_code = 0;       // 128 + signal when one ended it
    int signal = 0;          // that ended it, or 0
    bool timed_out = false;  // stopped at the limit
    std::string output;      // standard output and error together, when caught: the last 256 KiB
};

/// Runs `command` until it ends or `limit` seconds have passed; then it and all processes of its group are
/// killed. Error when it cannot be started. With a `folder` that the command writes results to, the seconds
/// count anew with each; the first may take longer, by what it takes to start many processes.
ProcessResult run_captured(const Command& command, const Environment& environment, double limit,
                           const std::string& folder = "");

/// Runs `command` with this process's own input and output (less mpirun's notices that a rank failed),
/// passing on SIGTERM; Ctrl-C is left to it. Returns its exit code, 128 + the signal when one ended it.
int run_foreground(const Command& command, const Environment& environment);

/// A folder that is removed with everything in it when its owner goes.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace shardlings
