// Folders and messages for tests of files.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <string>

#include "lib/machine/base/error.hpp"

/// A new folder that is removed with everything in it.
class TemporaryFolder {
  public:
    TemporaryFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "shardlings-test-XXXXXX").string();
        shardlings::check(mkdtemp(name.data()) != nullptr, "no temporary folder {}", name);
        path_ = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

/// The message of the Error that `action` throws; "no error" when it throws none.
inline std::string error_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const shardlings::Error& error) {
        return error.what();
    }
    return "no error";
}

/// The path as messages show it.
inline std::string quoted(const std::filesystem::path& path)
{
    return fmt::format("'{}'", path.string());
}

inline bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}
