#include "lib/tools/grade/compile.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "lib/machine/base/error.hpp"
#include "lib/tools/grade/assembler.hpp"
#include "lib/tools/grade/printable.hpp"

namespace grade {

namespace fs = std::filesystem;
using namespace shardlings;

namespace {

constexpr const char* folders_of_headers[] = {"lib", "lessons"};
constexpr double seconds = 60.0;
constexpr std::uint64_t most_memory = std::uint64_t{3} << 30;
constexpr std::uint64_t largest_object = std::uint64_t{32} << 20;  // the references' have up to 3 MiB
constexpr std::size_t most_said = 64 * 1024;

SandboxLimits limits_of_compiler()
{
    SandboxLimits limits;
    limits.cpu_seconds = static_cast<int>(seconds);
    limits.address_space = most_memory;
    limits.file_size = largest_object;
    limits.processes = 16;
    return limits;
}

std::string why_stopped(const ProcessResult& process)
{
    constexpr int ended_by_limit = 152;  // 128 + SIGXCPU
    if (process.timed_out || process.exit_code == ended_by_limit)
        return fmt::format("compiling took more than {} seconds", seconds);
    if (process.output.find("out of memory") != std::string::npos ||
        process.output.find("memory exhausted") != std::string::npos)
        return fmt::format("compiling took more than {} GiB of memory", most_memory >> 30);
    if (process.output.find("ile size limit exceeded") != std::string::npos ||
        process.output.find("ile too large") != std::string::npos)
        return fmt::format("the object has more than {} MiB", largest_object >> 20);
    return {};
}

bool has_error_of_compiler(std::string_view output)
{
    for (const std::string_view mark : {": error: ", ": fatal error: ", "internal compiler error"})
        if (output.find(mark) != output.npos) return true;
    return false;
}

/// What a compilation failed for when it was not the compiler that found an error, but the assembler or the
/// system: "Error: unknown pseudo-op", "Fatal error: can't write".
std::string said_by_others(const std::string& output, int exit_code)
{
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);)
        for (const std::string_view mark : {"Fatal error: ", "Error: "})
            if (const auto at = line.find(mark); at != line.npos)
                return "the assembler says: " + line.substr(at + mark.size());
    const auto begin = output.find_first_not_of(" \n");
    const std::string first =
        begin == output.npos ? "" : ", saying: " + output.substr(begin, output.find('\n', begin) - begin);
    return fmt::format("the compiler ended with status {}{}", exit_code, first);
}

std::string text_of(const fs::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

bool is_plain(const fs::path& file, std::uint64_t most_bytes)
{
    std::error_code ignored;
    return fs::symlink_status(file, ignored).type() == fs::file_type::regular &&
           fs::file_size(file, ignored) <= most_bytes;
}

}  // namespace

void stage_headers(const fs::path& root, Staging& staging)
{
    for (const char* folder : folders_of_headers) staging.add(root / folder, folder, ".hpp");
}

Compiled compile_apart(const fs::path& root, const fs::path& source, const fs::path& object,
                       const fs::path& headers, const Command& compiler)
{
    const fs::path inside = "/course";
    Sandbox sandbox(limits_of_compiler());
    for (const char* folder : folders_of_headers) sandbox.show(headers / folder, inside / folder);
    sandbox.put(root / source, inside / source);
    const fs::path built = sandbox.lend((inside / object).parent_path());
    sandbox.set("TMPDIR", "/tmp");
    sandbox.set("LC_ALL", "C.UTF-8");
    Command command = compiler;
    command.emplace_back("-save-temps=obj");  // what is compiled is the preprocessed text that is looked at
    const ProcessResult process = run_captured(sandbox.command(command, inside), {}, seconds);
    Compiled result{process.exit_code == 0, printable(process.output, most_said)};
    const fs::path from = built / object.filename();
    const fs::path preprocessed = fs::path(from).replace_extension(".ii");
    const bool can_be_seen = is_plain(preprocessed, largest_object);
    std::string why = why_stopped(process);
    if (can_be_seen)
        if (std::string found = assembler_in(text_of(root / source), text_of(preprocessed)); !found.empty())
            why = std::move(found);
    result.good = result.good && why.empty() && can_be_seen && is_plain(from, largest_object);
    if (result.good) {
        fs::create_directories((root / object).parent_path());
        fs::copy_file(from, root / object, fs::copy_options::overwrite_existing);
        return result;
    }
    if (why.empty() && !has_error_of_compiler(result.output))
        why = said_by_others(result.output, process.exit_code);
    if (!why.empty()) result.output = fmt::format("{}: error: {}\n{}", source.string(), why, result.output);
    return result;
}

}  // namespace grade
