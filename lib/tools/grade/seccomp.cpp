#include "lib/tools/grade/seccomp.hpp"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace grade {

namespace {

#ifdef __x86_64__
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t other_convention = 0x40000000;  // bit of x32's call numbers
#else
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif
constexpr std::uint32_t allow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t end_process = SECCOMP_RET_KILL_PROCESS;

constexpr std::uint32_t fail_with(int error)
{
    return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

const std::vector<int> refused{
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsmount,
    SYS_fsconfig,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_unshare,
    SYS_setns,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_open_by_handle_at,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_acct,
    SYS_syslog,
    SYS_fanotify_init,
    SYS_personality,
};

/// Writes BPF: a step looks at the loaded word, and the next follows when it does not apply.
class Program {
  public:
    void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)); }
    void differs_gives(std::uint32_t value, std::uint32_t action)
    {
        add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
        give(action);
    }
    void equal_gives(std::uint32_t value, std::uint32_t action)
    {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
        give(action);
    }
    void any_bit_gives(std::uint32_t bits, std::uint32_t action)
    {
        add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
        give(action);
    }
    void give(std::uint32_t action) { add(BPF_RET | BPF_K, 0, 0, action); }
    /// The steps of `then` only when the word is `value`.
    void when_equal(std::uint32_t value, const Program& then)
    {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, static_cast<std::uint8_t>(then.steps_.size()), value);
        steps_.insert(steps_.end(), then.steps_.begin(), then.steps_.end());
    }
    std::string bytes() const
    {
        return {reinterpret_cast<const char*>(steps_.data()), steps_.size() * sizeof(sock_filter)};
    }

  private:
    void add(int code, std::uint8_t when_true, std::uint8_t when_false, std::uint32_t value)
    {
        steps_.push_back({static_cast<std::uint16_t>(code), when_true, when_false, value});
    }
    std::vector<sock_filter> steps_;
};

constexpr std::size_t call_number = offsetof(seccomp_data, nr);
constexpr std::size_t first_argument = offsetof(seccomp_data, args);  // its low word: little endian

Program of_clone()
{
    Program program;
    program.load(first_argument);
    program.any_bit_gives(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                              CLONE_NEWUTS | CLONE_NEWCGROUP,
                          fail_with(EPERM));
    program.load(call_number);
    return program;
}

Program of_socket()
{
    Program program;
    program.load(first_argument);
    for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK})
        program.equal_gives(static_cast<std::uint32_t>(family), allow);
    program.give(fail_with(EPERM));
    return program;
}

}  // namespace

std::string seccomp_program()
{
    Program program;
    program.load(offsetof(seccomp_data, arch));
    program.differs_gives(architecture, end_process);
    program.load(call_number);
#ifdef __x86_64__
    program.any_bit_gives(other_convention, end_process);
#endif
    for (const int call : refused) program.equal_gives(static_cast<std::uint32_t>(call), fail_with(EPERM));
    program.equal_gives(SYS_clone3, fail_with(ENOSYS));
    program.when_equal(SYS_clone, of_clone());
    program.when_equal(SYS_socket, of_socket());
    program.give(allow);
    return program.bytes();
}

}  // namespace grade

#else

namespace grade {

std::string seccomp_program()
{
    return {};
}

}  // namespace grade

#endif
