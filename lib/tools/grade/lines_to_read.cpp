#include "lib/tools/grade/lines_to_read.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

namespace grade {

namespace {

struct Kind {
    std::regex pattern;
    const char* why;
};

const std::vector<Kind>& kinds()
{
    static const std::vector<Kind> all{
        {std::regex(R"(\bu?intptr_t\b)"), "a pointer is made a number, or a number a pointer"},
        {std::regex(R"((reinterpret_cast|bit_cast)\s*<[^;]*\(\s*\*)"), "an address is made a function"},
        {std::regex(R"(\(\s*\*\s*\w*\s*\)\s*\([^;]*=\s*(\(|reinterpret_cast|\w*bit_cast))"),
         "an address is made a function"},
        {std::regex(R"(__builtin_(return_address|frame_address|extract_return_addr|apply|longjmp|setjmp))"),
         "the stack is looked at"},
        {std::regex(R"((->|\.)\s*(_fileno|_IO_\w+|_flags|_chain|_vtable_offset)\b)"),
         "the inside of a FILE is touched"},
        {std::regex(R"(^\s*(#|%:)\s*include\s*<(sys|linux|asm|bits|arpa|netinet)/)"),
         "a header of the system's"},
        {std::regex(
             R"(^\s*(#|%:)\s*include\s*<(elf|link|dlfcn|unistd|fcntl|signal|ucontext|setjmp|mpi|pthread)\.h)"),
         "a header of the system's"},
        {std::regex(R"(^\s*(#|%:)\s*include\s*[^<"\s])"), "a header that a macro names"},
        {std::regex(R"((0[xX][0-9a-fA-F]{2}\s*,\s*){8})"), "a table of hexadecimal numbers"},
        {std::regex(R"(\b(section|alias|ifunc|weakref|constructor|destructor|naked)\s*\()"),
         "an attribute by which the linker places or replaces things"},
        {std::regex(R"(define\s+(private|protected|const|class|static|inline)\b)"),
         "a word of the language is redefined"},
    };
    return all;
}

}  // namespace

std::vector<LineToRead> lines_to_read(const std::string& source)
{
    constexpr std::size_t longest = 1000;  // characters that are looked at
    std::vector<LineToRead> found;
    std::istringstream lines(source);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        for (const Kind& kind : kinds()) {
            const bool known =
                std::ranges::any_of(found, [&](const LineToRead& one) { return one.why == kind.why; });
            if (!known && std::regex_search(line.substr(0, longest), kind.pattern))
                found.push_back({number, kind.why});
        }
    return found;
}

}  // namespace grade
