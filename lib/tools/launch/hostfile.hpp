// The machines that a job runs on, read from a file.
#pragma once

#include <string>
#include <vector>

namespace shardlings {

struct Host {
    std::string name;  // or address
    int slots;         // ranks that it takes
};

/// Reads a file with a host a line: `name`, `name slots=4` (OpenMPI's way) or `name:4` (MPICH's); # begins a
/// comment. A host without a number takes one rank; one that is named several times takes the sum. Error,
/// with the line, when the file is missing, unreadable, empty or not of this form.
std::vector<Host> read_hostfile(const std::string& file);

/// Error unless this machine can find every host and they take `ranks` ranks. The word of mpirun would be
/// longer.
void check_hosts(const std::vector<Host>& hosts, int ranks, const std::string& file);

}  // namespace shardlings
