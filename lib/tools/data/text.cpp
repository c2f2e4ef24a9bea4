#include "lib/tools/data/text.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

std::string read_bytes(const fs::path& path)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    check(status.type() != fs::file_type::not_found, "there is no file '{}'", path.string());
    check(!error, "cannot read '{}': {}", path.string(), error.message());
    check(!fs::is_directory(status), "'{}' is a folder: name a file of text", path.string());
    check(fs::is_regular_file(status), "'{}' is not a regular file: name a file of text", path.string());

    std::ifstream file(path, std::ios::binary);
    check(file.is_open(), "cannot read '{}': {}", path.string(), std::generic_category().message(errno));
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    check(!file.bad(), "cannot read '{}' to its end", path.string());
    return bytes;
}

bool is_project_root(const fs::path& folder)
{
    std::error_code ignored;
    return fs::is_directory(folder / "lessons", ignored) &&
           fs::is_directory(folder / "lib" / "machine", ignored);
}

/// The nearest project root among `folder` and the folders it lies in.
std::optional<fs::path> root_above(fs::path folder)
{
    for (; !folder.empty(); folder = folder.parent_path()) {
        if (is_project_root(folder)) return folder;
        if (folder == folder.root_path()) break;
    }
    return std::nullopt;
}

std::vector<fs::path> course_files(const fs::path& root)
{
    std::vector<fs::path> files;
    const auto add_if_there = [&](const fs::path& file) {
        if (fs::is_regular_file(root / file)) files.push_back(file);
    };
    add_if_there("README.md");
    for (const fs::directory_entry& lesson : fs::directory_iterator(root / "lessons"))
        add_if_there(fs::path("lessons") / lesson.path().filename() / "README.md");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "lib"))
        if (entry.path().filename() == "README.md") add_if_there(entry.path().lexically_relative(root));
    std::sort(files.begin(), files.end(),
              [](const fs::path& a, const fs::path& b) { return a.generic_string() < b.generic_string(); });
    return files;
}

}  // namespace

Text::Text(std::string bytes, std::string origin) : bytes_(std::move(bytes)), origin_(std::move(origin))
{
    check(!bytes_.empty(), "{} is empty: a text to learn from is expected", origin_);
    training_size_ = bytes_.size() - bytes_.size() / 10;
}

std::span<const std::uint8_t> Text::training() const
{
    return {reinterpret_cast<const std::uint8_t*>(bytes_.data()), training_size_};
}

std::span<const std::uint8_t> Text::validation() const
{
    return {reinterpret_cast<const std::uint8_t*>(bytes_.data()) + training_size_,
            bytes_.size() - training_size_};
}

Text load_text(const fs::path& path)
{
    return Text(read_bytes(path), fmt::format("'{}'", path.string()));
}

Text load_course_text(const fs::path& root)
{
    check(is_project_root(root), "'{}' is not the project's folder: it has no lessons/ and lib/machine/",
          root.string());
    std::string all;
    for (const fs::path& file : course_files(root)) all += read_bytes(root / file);
    return Text(std::move(all), "the course's text");
}

fs::path find_project_root()
{
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    std::optional<fs::path> root = root_above(program.parent_path());
    if (!root.has_value()) root = root_above(fs::current_path());
    check(root.has_value(),
          "the course's text was not found above '{}' nor above '{}': run inside the project's folder or "
          "name a "
          "text by --data",
          program.parent_path().string(), fs::current_path().string());
    return *root;
}

}  // namespace shardlings
