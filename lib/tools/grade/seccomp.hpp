// The system calls that a program in the sandbox may not make.
#pragma once

#include <string>

namespace grade {

/// A classic BPF program as seccomp(2) takes it, as bytes. It refuses, with EPERM, what namespaces leave
/// open: mounting, namespaces, other processes' memory, keys, BPF, performance counters, io_uring, sockets
/// that are not local or IP; clone3 with ENOSYS, so that clone is used, whose flags can be seen. A call in
/// the convention of another architecture ends the process. Empty where there is no seccomp.
std::string seccomp_program();

}  // namespace grade
