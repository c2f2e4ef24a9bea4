#include "lib/tools/watch/places.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>

namespace shardlings::watch {

namespace {

constexpr unsigned seconds_for_reading = 20;
constexpr GElf_Addr load_address = 0x4000'0000;  // any: files are looked at one by one

/// One file with code, and its debug information.
class CodeFile {
  public:
    explicit CodeFile(const std::string& path) : session_(dwfl_begin(&callbacks))
    {
        dwfl_report_begin(session_);
        module_ = dwfl_report_elf(session_, path.c_str(), path.c_str(), -1, load_address, true);
        dwfl_report_end(session_, nullptr, nullptr);
        if (module_ != nullptr) dwfl_module_getelf(module_, &bias_);
    }
    ~CodeFile() { dwfl_end(session_); }
    CodeFile(const CodeFile&) = delete;
    CodeFile& operator=(const CodeFile&) = delete;

    /// "" when there is no line.
    std::string line(std::uint64_t offset) const
    {
        if (module_ == nullptr) return "";
        const GElf_Addr address = offset + bias_;
        Dwfl_Line* found = dwfl_module_getsrc(module_, address);
        int number = 0;
        const char* file =
            found == nullptr ? nullptr : dwfl_lineinfo(found, nullptr, &number, nullptr, nullptr, nullptr);
        if (file == nullptr || is_machinery(file)) return "";
        const char* function = dwfl_module_addrname(module_, address);
        const std::string line = fmt::format("{}:{}", short_name(file), number);
        const std::string name = function == nullptr ? "" : demangled(function);
        // A lambda that is inlined into the library's code that calls it has that one's name.
        return name.empty() || name.starts_with("std::") ? line : line + " in " + name;
    }

  private:
    static bool is_machinery(std::string_view file)
    {
        return file.starts_with("/usr/") || file.find("lib/machine/comm/") != std::string_view::npos ||
               file.find("lib/tools/watch/preload/") != std::string_view::npos || file.starts_with("../");
    }
    static std::string demangled(const char* name)
    {
        int status = 0;
        const std::unique_ptr<char, decltype(&std::free)> text(
            abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
        std::string whole = status == 0 ? text.get() : name;
        constexpr std::string_view unnamed = "(anonymous namespace)::";
        for (auto at = whole.find(unnamed); at != std::string::npos; at = whole.find(unnamed))
            whole.erase(at, unnamed.size());
        return whole.substr(0, whole.find('('));
    }
    /// Relative to here, when it is below.
    static std::string short_name(const std::string& file)
    {
        std::array<char, 4096> here{};
        if (getcwd(here.data(), here.size()) == nullptr) return file;
        const std::string folder = std::string(here.data()) + "/";
        if (file.starts_with(folder)) return file.substr(folder.size());
        return file.starts_with("./") ? file.substr(2) : file;
    }

    static constexpr Dwfl_Callbacks callbacks{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, nullptr,
                                              nullptr};
    Dwfl* session_;
    Dwfl_Module* module_ = nullptr;
    GElf_Addr bias_ = 0;
};

/// The file that an address of a rank is in, and where in it.
std::pair<std::string, std::uint64_t> locate(const Record& record, std::uint64_t address)
{
    const Module* best = nullptr;
    for (std::uint32_t i = 0; i < std::min(record.header.module_count, most_modules); ++i) {
        const Module& module = record.modules[i];
        if (module.bias <= address && (best == nullptr || module.bias > best->bias)) best = &module;
    }
    if (best == nullptr) return {"", address};
    return {std::string(best->path, strnlen(best->path, longest_path)), address - best->bias};
}

bool is_of_the_system(const std::string& path)
{
    return path.empty() || path.starts_with("/usr/lib") || path.starts_with("/lib") ||
           path.starts_with("linux-") || path.find("libmpiwatch") != std::string::npos;
}

void write_places(const std::vector<Stack>& stacks, std::size_t most, std::ostream& out)
{
    std::map<std::string, CodeFile> files;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        std::size_t lines = 0;
        std::string without_line;
        for (const std::uint64_t address : stacks[i].addresses) {
            const auto [path, offset] = locate(*stacks[i].record, address - 1);
            if (is_of_the_system(path)) continue;
            if (without_line.empty())
                without_line = fmt::format("{}+{:#x} (compiled with -g it would be a line)",
                                           path.substr(path.rfind('/') + 1), offset);
            const std::string line = files.try_emplace(path, path).first->second.line(offset);
            if (line.empty()) continue;
            out << i << ' ' << line << '\n';
            if (++lines == most) break;
        }
        if (lines == 0 && !without_line.empty()) out << i << ' ' << without_line << '\n';
    }
}

std::string read_all(int pipe)
{
    std::string text;
    std::array<char, 4096> block{};
    for (ssize_t count = 0; (count = read(pipe, block.data(), block.size())) > 0;)
        text.append(block.data(), static_cast<std::size_t>(count));
    return text;
}

}  // namespace

Stack stack_of(const Record& record, std::uint64_t site)
{
    const std::uint32_t count = std::min(record.header.frame_count, most_frames);
    Stack stack{&record, {record.header.frames, record.header.frames + count}};
    if (stack.addresses.empty() && site != 0) stack.addresses.push_back(site);
    return stack;
}

std::vector<std::vector<std::string>> places_of(const std::vector<Stack>& stacks, std::size_t most)
{
    std::vector<std::vector<std::string>> places(stacks.size());
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return places;
    const pid_t reader = fork();
    if (reader == 0) {
        alarm(seconds_for_reading);
        std::ostringstream text;
        write_places(stacks, most, text);
        const std::string all = text.str();
        [[maybe_unused]] const ssize_t written = write(ends[1], all.data(), all.size());
        _exit(0);
    }
    close(ends[1]);
    std::istringstream text(read_all(ends[0]));
    close(ends[0]);
    if (reader > 0) waitpid(reader, nullptr, 0);
    std::size_t index = 0;
    for (std::string line; text >> index && std::getline(text, line);)
        if (index < places.size()) places[index].push_back(line.substr(1));
    return places;
}

}  // namespace shardlings::watch
