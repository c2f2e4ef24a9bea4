#include "lib/tools/grade/seccomp.hpp"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "lib/tools/grade/filter_program.hpp"

namespace grade {

namespace {

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

FilterProgram of_clone()
{
    FilterProgram program;
    program.load(argument(0));
    program.any_bit_gives(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                              CLONE_NEWUTS | CLONE_NEWCGROUP,
                          fail_with(EPERM));
    program.load(call_number);
    return program;
}

FilterProgram of_socket()
{
    FilterProgram program;
    program.load(argument(0));
    for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK})
        program.equal_gives(static_cast<std::uint32_t>(family), allow);
    program.give(fail_with(EPERM));
    return program;
}

}  // namespace

std::string seccomp_program()
{
    FilterProgram program;
    program.begin();
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
