// What the grader finds in object files, in what drivers tell, and in text of others.
#include "lib/tools/grade/verdict.hpp"
#include "lib/tools/grade/assembler.hpp"

#include <fstream>

#include "lib/tools/grade/allowed_symbols.hpp"
#include "lib/tools/grade/judge_ledger.hpp"
#include "lib/tools/grade/printable.hpp"
#include "lib/tools/launch/launch.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

namespace {

using grade::Frame;
using grade::FrameKind;
using grade::Ledger;

/// What is found in a source beside what the reference, a function `exercise` of namespace devices, defines.
std::string found_in(const std::string& source)
{
    const TemporaryFolder folder;
    const std::string reference =
        "namespace devices { int exercise(int x); int exercise(int x) { return x; } }\n";
    std::ofstream(folder / "reference.cpp") << reference;
    std::ofstream(folder / "student.cpp") << source;
    for (const char* name : {"reference", "student"}) {
        const std::string file = (folder / name).string();
        const auto compiled =
            shardlings::run_captured({"c++", "-std=c++20", "-g1", "-O1", "-ffunction-sections", "-c", "-o",
                                      file + ".o", file + ".cpp"},
                                     {}, 60.0);
        shardlings::check(compiled.exit_code == 0, "{}", compiled.output);
    }
    return grade::objections(folder / "student.o", folder / "reference.o",
                             {{"devices"}, {"_ZNSs6appendEPKc"}});
}

std::string in_exercise(const std::string& before, const std::string& body)
{
    return before + "\nnamespace devices { int exercise(int x); }\nint devices::exercise(int x)\n{\n    " +
           body + "\n}\n";
}

/// What a ledger says of a rank that told `frames` and reports `bytes` as sent.
std::string told(const std::vector<Frame>& frames, std::uint64_t bytes)
{
    shardlings::Topology topology;
    topology.devices_per_node = 2;
    topology.intra = {1.0, 1.0};
    topology.flops = 1.0;
    Ledger ledger(0, topology);
    for (const Frame& frame : frames) ledger.take(frame);
    ledger.take({.kind = FrameKind::measured, .now = frames.back().now});
    grade::json measured = ledger.counters();
    measured["bytes"] = bytes;
    return ledger.contradiction(measured);
}

}  // namespace

TEST_CASE("objects of honest code hold nothing to object to")
{
    CHECK(found_in(in_exercise("#include <cmath>\n#include <iostream>\n#include <map>\n#include <string>\n",
                               "std::map<int, std::string> m; m[x] = \"y\"; std::cout << std::tanh(x);"
                               " return static_cast<int>(m.size());")) == "");
    CHECK(found_in(in_exercise("#include <stdexcept>\n#include <string>\n",
                               "try { return std::stoi(std::to_string(x)) + int(std::stoll(\"7\")); }"
                               " catch (const std::invalid_argument&) { return 0; }")) == "");
    CHECK(found_in("#undef _FORTIFY_SOURCE\n#define _FORTIFY_SOURCE 2\n" +
                   in_exercise("#include <cstdio>\n#include <cstring>\n",
                               "char text[8]; std::snprintf(text, sizeof text, \"%d\", x); std::puts(text);"
                               " char copy[8]; std::memcpy(copy, text, static_cast<unsigned>(x));"
                               " return std::printf(\"%s\\n\", copy);")) == "");
}

TEST_CASE("objects are refused for what reaches past the machine, with symbol and line")
{
    CHECK(contains(found_in(in_exercise("extern \"C\" int MPI_Allreduce(int);", "return MPI_Allreduce(x);")),
                   "student.cpp:5 (devices::exercise(int)): uses MPI_Allreduce"));
    CHECK(contains(found_in(in_exercise("#include <cstdlib>", "std::exit(x);")), "uses exit"));
    CHECK(contains(found_in(in_exercise("#include <fstream>", "std::ofstream(\"f\") << x; return x;")),
                   "std::"));
    CHECK(contains(found_in(in_exercise("#include <dlfcn.h>", "return dlsym(nullptr, \"f\") != nullptr;")),
                   "uses dlsym"));
    CHECK(contains(found_in(in_exercise("", "asm volatile(\"syscall\"); return x;")), "system calls"));
    CHECK(
        contains(found_in(in_exercise("namespace shardlings { struct Comm { int split(int, int) const; }; }",
                                      "return shardlings::Comm{}.split(x, x);")),
                 "uses shardlings::Comm::split(int, int) const: it makes groups"));
    CHECK(contains(found_in(in_exercise("__attribute__((section(\".text.x,\\\"ax\\\",@progbits#\"), used)) "
                                        "static const unsigned char code[] = {0xc3};",
                                        "return x;")),
                   "data in a section of machine code"));
}

TEST_CASE("objects are refused for what they define and keep")
{
    CHECK(contains(
        found_in(in_exercise("extern \"C\" int memcmp(const void*, const void*, unsigned long) { return 0; }",
                             "return x;")),
        "defines memcmp"));
    CHECK(contains(found_in(in_exercise("#include <iostream>\n[[gnu::noinline]] static int early(int x) { "
                                        "std::cout << x; return x; }\nstatic int kept = early(3);",
                                        "return kept + x;")),
                   "before main"));
    CHECK(contains(found_in(in_exercise("[[gnu::constructor]] static void early() { __builtin_puts(\"x\"); }",
                                        "return x;")),
                   "before main"));
    CHECK(contains(found_in(in_exercise("#include <vector>\nstatic std::vector<int> kept(3);",
                                        "kept.push_back(x); return kept[0];")),
                   "before main"));
    CHECK(contains(found_in(in_exercise("static double kept[1024];", "kept[x] += x; return kept[x - 1];")),
                   "static variables of"));
}

TEST_CASE("the namespaces that a symbol begins with")
{
    CHECK(grade::scopes_of("_ZNK10shardlings4Comm4rankEv") ==
          std::vector<std::string>{"shardlings", "Comm", "rank"});
    CHECK(grade::scopes_of("_ZTISt13runtime_error") == std::vector<std::string>{"std", "runtime_error"});
    CHECK(grade::scopes_of("memcpy").empty());
    CHECK(grade::scopes_of("_ZZNSt8__detail4toIjEvPcjE8__digits").front() == "std");
    CHECK_FALSE(grade::why_forbidden("_ZN10shardlings6Device11reset_peaksEv", {}).empty());
    CHECK(grade::why_forbidden("_ZN4zero4stepEv", {"zero"}).empty());
    CHECK_FALSE(grade::why_forbidden("_ZN4zero4stepEv", {}).empty());
    CHECK(grade::why_forbidden("__isoc23_strtoll", {}).empty());
    CHECK_FALSE(grade::why_forbidden("__isoc23_fscanf", {}).empty());
}

TEST_CASE("counters that are not what was told are a contradiction")
{
    const Frame sent{.kind = FrameKind::message_sent, .peer = 1, .amount = 3, .value = 6.0, .now = 2.0};
    CHECK(told({sent}, 3) == "");
    CHECK(contains(told({sent}, 2), "bytes is reported as 2 and was 3"));
    Frame early = sent;
    early.value = 5.5;  // 2 + 1 + 3 / 1 is 6
    CHECK(contains(told({early}, 3), "arrives at"));
    Frame back = sent;
    back.now = 1.0;
    CHECK(contains(told({sent, back}, 6), "its clock shows"));
    const Frame work{.kind = FrameKind::computed, .value = 4.0, .now = 3.0};  // 4 operations take 4 s
    CHECK(contains(told({work}, 0), "its clock shows"));
    const Frame waited{.kind = FrameKind::message_waited, .peer = 1, .value = 9.0, .now = 8.0};
    CHECK(contains(told({waited}, 0), "its clock shows"));
}

TEST_CASE("text of others is made printable")
{
    CHECK(grade::printable("α = 2 µs\n\ttwo") == "α = 2 µs\n\ttwo");
    CHECK(grade::printable("\x1b[2J\x07") == "\\x1b[2J\\x07");
    CHECK(grade::printable("\xc2\x9b"
                           "31m") == "\\xc2\\x9b31m");
    CHECK(grade::printable("\xff\xc0\xaf\xed\xa0\x80") == "\\xff\\xc0\\xaf\\xed\\xa0\\x80");
    CHECK(grade::printable("a\xe2\x80\xae"
                           "b") == "a\\xe2\\x80\\xaeb");
    CHECK(grade::printable("0123456789", 4) == "0123… and 6 bytes more");
}

TEST_CASE("assembler: found in the file's own lines and in what macros make of them, and not in headers")
{
    const std::string begin = "# 1 \"mine.cpp\"\n# 1 \"lib/a.hpp\" 1\nasm(\"nop\");\n# 2 \"mine.cpp\" 2\n";
    CHECK(grade::assembler_in("", begin + "int f();\n\nint g();\n").empty());
    CHECK(grade::assembler_in("", begin + "int plasma; const char* s = \"asm \\\" asm\";\n").empty());
    CHECK(grade::assembler_in("", begin + "int f();\nint g() asm(\"h\");\n") ==
          "line 3: assembler (asm) is no part of an exercise");
    CHECK(grade::assembler_in("", begin + "void f() { __asm__ volatile (\"\"); }\n") ==
          "line 2: assembler (asm) is no part of an exercise");
    CHECK(grade::assembler_in("", begin + "# 9 \"mine.cpp\"\nchar* s = \"\"; __asm(\"\");\n") ==
          "line 9: assembler (asm) is no part of an exercise");
}

TEST_CASE("assembler: lines that would pass for a header's are refused, comments that look alike are not")
{
    for (const char* marked : {"#line 3 \"x\"\n", "# 1 \"lib/a.hpp\" 1\n", "  %: 1 \"x\" 1\n",
                               "#/* */ line 3\n", "/* \n */ # 1 \"x\" 1\n", "#li\\\nne 3\n"})
        CHECK(grade::assembler_in(marked, "") == "a line marker (#line) is no part of an exercise");
    for (const char* honest : {"// step #1\n", "/* first\n * #2\n */\n", "#include <vector>\n",
                               "f(\"#1\");\n", "int a = b % 1;\n"})
        CHECK(grade::assembler_in(honest, "").empty());
}
