// A sandbox for programs nobody trusts: bubblewrap, limits, a filter of system calls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/tools/launch/launch.hpp"

namespace grade {

using shardlings::Command;

/// Of each process, where nothing else is said. The seconds that a run may take are run_captured's.
struct SandboxLimits {
    int cpu_seconds = 120;
    std::uint64_t address_space = std::uint64_t{4} << 30;  // bytes
    std::uint64_t file_size = std::uint64_t{64} << 20;     // bytes
    int open_files = 256;
    int processes = 160;                                     // and threads, of the sandbox
    std::uint64_t shared_memory = std::uint64_t{256} << 20;  // bytes in /dev/shm, of the sandbox
    std::uint64_t temporary = std::uint64_t{256} << 20;      // bytes in /tmp, of the sandbox
};

/// A temporary folder that whom a sandbox runs as can get at.
class Staging {
  public:
    Staging();
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    const std::filesystem::path& path() const { return path_; }
    /// Copies a file or folder, of a folder only the files with that ending when there is one, to `name` and
    /// makes it readable. Returns its path.
    std::filesystem::path add(const std::filesystem::path& outside, const std::string& name,
                              const std::string& ending = "");

  private:
    std::filesystem::path path_;
};

/// What is seen inside: /usr and what its programs need, an empty /tmp and /dev/shm of limited size, and what
/// is put in or lent; of the rest of the machine, its processes and its network nothing. A program runs there
/// as nobody that is known outside (started by root) or as the user that starts it, without capabilities, and
/// everything that it starts ends with it.
class Sandbox {
  public:
    explicit Sandbox(const SandboxLimits& limits = {});
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;

    /// A copy of a file or folder, which cannot be written to inside. `inside` is absolute.
    void put(const std::filesystem::path& outside, const std::filesystem::path& inside);
    /// The same without copying it: what has been staged and outlives the sandbox.
    void show(const std::filesystem::path& staged, const std::filesystem::path& inside);
    /// A new folder that can be written to inside, and read outside afterwards: whatever is in it then is
    /// somebody else's. Returns its path outside.
    std::filesystem::path lend(const std::filesystem::path& inside);
    /// A folder as lend() makes, but which holds only pipes made by make_pipe and cannot be written to.
    std::filesystem::path lend_pipes(const std::filesystem::path& inside);
    /// A named pipe that the programs inside can open. Error when it cannot be made.
    void make_pipe(const std::filesystem::path& outside) const;

    /// A variable of the environment inside, where there is none but PATH and HOME.
    void set(const std::string& name, const std::string& value);

    /// The command that runs `program` inside, with `folder` as its current folder.
    Command command(const Command& program, const std::filesystem::path& folder = "/tmp") const;

  private:
    std::string new_name();

    SandboxLimits limits_;
    Staging folder_;  // what it shows, outside
    int places_ = 0;
    std::vector<std::string> binds_;
    shardlings::Environment environment_;
};

/// Why programs cannot be run in a sandbox on this machine; empty when they can. Starts one to see.
std::string why_no_sandbox();

}  // namespace grade
