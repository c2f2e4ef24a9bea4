#include "lib/tools/course/files.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (in && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
    check(!in.bad() && in.is_open() && !text.bad() && !fs::is_directory(file), "cannot read {}",
          file.string());
    return text.str();
}

void write_file(const fs::path& file, std::string_view text)
{
    std::error_code problem;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), problem);
    const fs::path draft = file.string() + ".new-" + std::to_string(getpid());
    std::ofstream out(draft, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (out) fs::rename(draft, file, problem);
    if (out && !problem) return;
    fs::remove(draft, problem);
    throw Error(fmt::format("cannot write {}: is there space, and may you write there?", file.string()));
}

bool write_if_changed(const fs::path& file, std::string_view text)
{
    if (fs::is_regular_file(file) && read_file(file) == text) return false;
    write_file(file, text);
    return true;
}

std::vector<std::string> lines_of(std::string_view text)
{
    std::vector<std::string> lines;
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string joined(const std::vector<std::string>& texts, std::string_view separator)
{
    std::string all;
    for (const std::string& text : texts) {
        if (&text != &texts.front()) all += separator;
        all += text;
    }
    return all;
}

std::string trimmed(std::string_view text)
{
    constexpr std::string_view blank = " \t\r\n";
    const auto begin = text.find_first_not_of(blank);
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(blank) - begin + 1));
}

std::string shortened(std::string_view line, std::size_t columns)
{
    if (line.size() <= columns) return std::string(line);
    const auto continues = [&](std::size_t i) {
        return (static_cast<unsigned char>(line[i]) & 0xc0u) == 0x80u;
    };
    std::size_t end = columns;
    while (end > 0 && continues(end)) --end;
    return std::string(line.substr(0, end)) + "…";
}

std::string hash_of(std::string_view text)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return fmt::format("{:016x}", hash);
}

}  // namespace shardlings
