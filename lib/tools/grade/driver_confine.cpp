#include "lib/tools/grade/driver_confine.hpp"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lib/machine/base/error.hpp"
#include "lib/tools/grade/filter_program.hpp"

namespace grade {

namespace {

/// What a rank may ask of the kernel, whatever the arguments.
constexpr int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_fcntl,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_shutdown,
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_futex,
    SYS_sched_yield,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_gettimeofday,
    SYS_getrusage,
    SYS_times,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_madvise,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_setitimer,
    SYS_restart_syscall,
    SYS_getpid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_uname,
    SYS_sysinfo,
    SYS_getcpu,
    SYS_sched_getaffinity,
    SYS_getrandom,
    SYS_set_robust_list,
    SYS_membarrier,
    SYS_exit,
    SYS_exit_group,
#ifdef __x86_64__
    SYS_poll,
    SYS_select,
    SYS_epoll_wait,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_time,
    SYS_alarm,
    SYS_arch_prctl,
#endif
};

/// Allowed unless the argument has one of the bits.
FilterProgram without(std::size_t number, std::uint32_t bits)
{
    FilterProgram program;
    program.load(argument(number));
    program.any_bit_gives(bits, fail_with(EPERM));
    program.give(allow);
    return program;
}

/// Allowed when the first argument is this process.
FilterProgram for_itself()
{
    FilterProgram program;
    program.load(argument(0));
    program.equal_gives(static_cast<std::uint32_t>(getpid()), allow);
    program.give(fail_with(EPERM));
    return program;
}

FilterProgram rules()
{
    constexpr std::uint32_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    FilterProgram program;
    program.begin();
    for (const int call : allowed) program.equal_gives(static_cast<std::uint32_t>(call), allow);
    program.when_equal(SYS_openat, without(2, writes));
#ifdef __x86_64__
    program.when_equal(SYS_open, without(1, writes));
#endif
    program.when_equal(SYS_mmap, without(2, PROT_EXEC));
    program.when_equal(SYS_mprotect, without(2, PROT_EXEC));
    for (const int call : {SYS_kill, SYS_tgkill})
        program.when_equal(static_cast<std::uint32_t>(call), for_itself());
    program.give(fail_with(EPERM));
    return program;
}

void refuse_calls()
{
    const FilterProgram program = rules();
    std::vector<sock_filter> steps = program.steps();
    const sock_fprog filter{static_cast<unsigned short>(steps.size()), steps.data()};
    // Of all threads: MPI has some.
    const bool done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
    shardlings::check(done, "cannot limit what this process may ask of the system: {}", std::strerror(errno));
}

/// A part of the address space as a loaded file has it.
struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

/// Overwrites it with zeros; `protection` is what its pages have.
void erase(Range range, int protection)
{
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t first = range.begin & ~(page - 1);
    void* pages = reinterpret_cast<void*>(first);
    if (mprotect(pages, range.end - first, protection | PROT_WRITE) != 0) return;
    std::memset(reinterpret_cast<void*>(range.begin), 0, range.end - range.begin);
    mprotect(pages, range.end - first, protection);
}

bool knows_mpi(std::string_view file)
{
    if (file.empty()) return true;  // the program
    for (const std::string_view word : {"mpi", "libopen-", "pmix", "mca_"})
        if (file.find(word) != file.npos) return true;
    return false;
}

/// The symbols of a loaded file and their names, which stand one behind the other; empty when they do not.
Range table_of(const dl_phdr_info& file)
{
    Range table;
    std::uintptr_t symbols = 0;
    for (int i = 0; i < file.dlpi_phnum; ++i) {
        if (file.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(file.dlpi_addr + file.dlpi_phdr[i].p_vaddr);
        std::uintptr_t bytes = 0;
        for (; entry->d_tag != DT_NULL; ++entry) {
            // Some linkers have made them addresses, others left them relative.
            const std::uintptr_t address =
                entry->d_un.d_ptr + (entry->d_un.d_ptr < file.dlpi_addr ? file.dlpi_addr : 0);
            if (entry->d_tag == DT_SYMTAB) symbols = address;
            if (entry->d_tag == DT_STRTAB) table.begin = address;
            if (entry->d_tag == DT_STRSZ) bytes = entry->d_un.d_val;
        }
        table.end = table.begin + bytes;
    }
    if (symbols < table.begin && (table.begin - symbols) % sizeof(ElfW(Sym)) == 0) table.begin = symbols;
    return table;
}

int erase_names(dl_phdr_info* file, std::size_t, void*)
{
    if (!knows_mpi(file->dlpi_name)) return 0;
    const Range table = table_of(*file);
    for (int i = 0; i < file->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = file->dlpi_phdr[i];
        const std::uintptr_t begin = file->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && table.begin >= begin && table.end <= begin + part.p_memsz)
            erase(table, PROT_READ | ((part.p_flags & PF_X) != 0 ? PROT_EXEC : 0));
    }
    return 0;
}

/// The dynamic linker's list of what is loaded is taken from where a debugger would look for it.
void hide_link_map()
{
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag != DT_DEBUG) continue;
        void* begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(entry) & ~(page - 1));
        if (mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return;
        entry->d_un.d_ptr = 0;
        mprotect(begin, page, PROT_READ);
    }
}

}  // namespace

void confine()
{
    prctl(PR_SET_DUMPABLE, 0);
    hide_link_map();
    if (std::getenv("LD_BIND_NOW") != nullptr) dl_iterate_phdr(erase_names, nullptr);
    refuse_calls();
}

}  // namespace grade

#else

namespace grade {

void confine() {}

}  // namespace grade

#endif
