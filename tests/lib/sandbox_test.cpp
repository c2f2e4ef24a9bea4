// The sandbox, from inside: what is not seen, not written, not exceeded, not left behind.
#include "lib/tools/grade/sandbox.hpp"

#include <unistd.h>

#include <fstream>

#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

namespace {

constexpr double seconds = 60.0;

shardlings::ProcessResult run_inside(const grade::Sandbox& sandbox, const std::string& script,
                                     double limit = seconds)
{
    return shardlings::run_captured(sandbox.command({"sh", "-c", script}), {}, limit);
}

/// What a shell script says inside.
std::string said(const std::string& script, const grade::SandboxLimits& limits = {})
{
    return run_inside(grade::Sandbox(limits), script).output;
}

std::string said_by_python(const std::string& program, const grade::SandboxLimits& limits = {})
{
    const grade::Sandbox sandbox(limits);
    return shardlings::run_captured(sandbox.command({"python3", "-I", "-c", program}), {}, seconds).output;
}

/// Whether a process of this machine has the word in its command line.
bool runs(const std::string& word)
{
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream words(entry.path() / "cmdline");
        const std::string all((std::istreambuf_iterator<char>(words)), {});
        if (entry.path().filename() != std::to_string(getpid()) && contains(all, word)) return true;
    }
    return false;
}

/// Whether bubblewrap itself runs for whom a sandbox runs as.
bool bubblewrap_runs()
{
    const std::string run = "bwrap --unshare-all --unshare-user --ro-bind / / true";
    const std::string as = geteuid() == 0 ? "setpriv --reuid=61000 --regid=61000 --clear-groups " : "";
    return shardlings::run_captured({"sh", "-c", "command -v bwrap && " + as + run}, {}, seconds).exit_code ==
           0;
}

/// False on a system that has none. One that has it and on which our sandbox does not start has failed.
bool has_sandbox()
{
    const std::string why = grade::why_no_sandbox();
    if (why.empty()) return true;
    INFO("why there is no sandbox: " << why);
    REQUIRE_FALSE(bubblewrap_runs());
    WARN("no sandbox here, which every report says: " << why);
    return false;
}

}  // namespace

TEST_CASE("inside a sandbox nothing of the machine is seen but its programs", "[sandbox]")
{
    if (!has_sandbox()) return;
    const std::string known =
        "bin dev etc lib lib32 lib64 libx32 proc sbin sys tmp usr etc/alternatives "
        "etc/ld.so.cache etc/openmpi";
    CHECK(said("for f in /* /etc/*; do case ' " + known +
               " ' in *\" ${f#/} \"*) ;; *) echo $f; esac; done") == "");
    CHECK(said("cat /etc/passwd /etc/shadow >/dev/null 2>&1 || echo none") == "none\n");
    CHECK(said("ls -A /tmp /dev/shm") == "/dev/shm:\n\n/tmp:\n");
    CHECK(said("env | grep -v -e ^PATH= -e ^HOME= -e ^PWD= -e ^_= -e ^OLDPWD= -e ^SHLVL=") == "");
    CHECK(said("ls /proc | grep -c '^[0-9]'").size() <= 2);  // a handful of its own
    CHECK(said("tail -n +3 /proc/net/dev | grep -vc ' *lo:'") == "0\n");
    CHECK(said("grep -h -e ^CapEff -e ^NoNewPrivs -e ^Seccomp: /proc/self/status") ==
          "CapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
    CHECK(said("id -u") != "0\n");
}

TEST_CASE("inside a sandbox nothing can be written but what is lent", "[sandbox]")
{
    if (!has_sandbox()) return;
    const TemporaryFolder folder;
    std::ofstream(folder / "file") << "as it was\n";
    grade::Sandbox sandbox;
    sandbox.put(folder / "file", "/put/file");
    const std::filesystem::path lent = sandbox.lend("/lent");
    const std::string tries =
        "for f in /x /usr/x /etc/x /dev/x /put/x /put/file /sys/x; do (echo y >$f) 2>/dev/null && echo $f; "
        "done;"
        "echo written >/lent/x; cat /put/file";
    CHECK(run_inside(sandbox, tries).output == "as it was\n");
    std::string text;
    std::getline(std::ifstream(lent / "x"), text);
    CHECK(text == "written");
}

TEST_CASE("a sandbox limits files, shared memory, memory and processes", "[sandbox]")
{
    if (!has_sandbox()) return;
    grade::SandboxLimits limits;
    limits.file_size = 1 << 20;
    limits.shared_memory = 1 << 20;
    limits.temporary = 4 << 20;
    limits.address_space = 256 << 20;
    limits.processes = 24;
    const std::string fill = "head -c 2000000 /dev/zero 2>/dev/null >";
    CHECK(said("(" + fill + "/tmp/a; true) >/dev/null 2>&1; stat -c %s /tmp/a", limits) == "1048576\n");
    CHECK(said("for i in 1 2 3 4 5 6 7 8; do (" + fill +
                   "/tmp/$i; true) >/dev/null 2>&1; done; du -s /tmp | cut -f1",
               limits) <= "4096\n");
    CHECK(contains(said_by_python("bytearray(1 << 30)", limits), "MemoryError"));
    const std::string many = "for i in $(seq 40); do sleep 5 & done 2>&1 | grep -o -m1 'annot fork'; echo";
    CHECK(contains(said(many, limits), "annot fork"));
}

TEST_CASE("a sandbox refuses the system calls that namespaces leave open", "[sandbox]")
{
    if (!has_sandbox()) return;
    const std::string calls =
        "import ctypes, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for name, arguments in [('unshare', (0x10000000,)), ('ptrace', (0, 0, 0, 0)),\n"
        "                        ('mount', (0, 0, 0, 0, 0)), ('setns', (0, 0))]:\n"
        "    print(name, getattr(libc, name)(*arguments), ctypes.get_errno())\n"
        "for family in (40, 38, 16):\n"
        "    try:\n"
        "        socket.socket(family, socket.SOCK_RAW if family == 16 else socket.SOCK_STREAM).close()\n"
        "        print(family, 'opened')\n"
        "    except OSError as error:\n"
        "        print(family, error.errno)\n";
    CHECK(said_by_python(calls) ==
          "unshare -1 1\nptrace -1 1\nmount -1 1\nsetns -1 1\n40 1\n38 1\n16 opened\n");
}

TEST_CASE("nothing of a sandbox is left when it ends or is stopped", "[sandbox]")
{
    if (!has_sandbox()) return;
    const std::string daemon =
        "(setsid sleep 54321 >/dev/null 2>&1 &) ; sleep 0.2; echo >/dev/shm/shardlings-left";
    grade::Sandbox sandbox;
    CHECK(run_inside(sandbox, daemon).exit_code == 0);
    for (int i = 0; i < 20 && runs("54321"); ++i) usleep(100'000);  // the kernel ends it, soon
    CHECK_FALSE(runs("54321"));
    CHECK(run_inside(sandbox, daemon + "; trap '' TERM; sleep 60", 1.0).timed_out);
    for (int i = 0; i < 20 && runs("54321"); ++i) usleep(100'000);
    CHECK_FALSE(runs("54321"));
    CHECK_FALSE(std::filesystem::exists("/dev/shm/shardlings-left"));
}
