// Files that are read at any place, and files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace shardlings {

/// Move-only owner of an open file; -1 holds none.
class FileDescriptor {
  public:
    explicit FileDescriptor(int number = -1) : number_(number) {}
    FileDescriptor(FileDescriptor&& other) noexcept;
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;
    ~FileDescriptor();

    int number() const { return number_; }

  private:
    int number_;
};

/// A regular file that is read. Error when it is missing, may not be read, or is a folder or a device.
class InputFile {
  public:
    explicit InputFile(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    std::uint64_t size() const { return size_; }
    /// Fills `bytes` from `offset` on; Error when the file ends before.
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;

  private:
    std::filesystem::path path_;
    FileDescriptor file_;
    std::uint64_t size_ = 0;
};

/// A file that is written under another name in the same folder and gets its own at commit(), once the disk
/// holds all of it. Until then a file of that name stays as it was; without commit() nothing is left.
/// A full disk, a read-only folder and the like are an Error naming the file.
class OutputFile {
  public:
    explicit OutputFile(std::filesystem::path path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Bytes [offset, offset + size); places never written read as zero.
    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    void commit();

  private:
    std::filesystem::path path_;
    std::filesystem::path temporary_;
    FileDescriptor file_;
    bool committed_ = false;
};

/// The file with this text, whole or not at all, as OutputFile.
void write_text(const std::filesystem::path& path, std::string_view text);

/// All bytes of a regular file, as InputFile; Error when it has more than `limit`.
std::string read_text(const std::filesystem::path& path, std::uint64_t limit);

/// Returns once the disk holds the folder's list of names.
void sync_folder(const std::filesystem::path& folder);

/// Throws the Error for a failed write to `path`; `error` is the errno.
[[noreturn]] void throw_cannot_write(const std::filesystem::path& path, int error);

}  // namespace shardlings
