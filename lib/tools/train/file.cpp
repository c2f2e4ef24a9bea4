#include "lib/tools/train/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

constexpr std::size_t largest_transfer = std::size_t{1} << 30;  // one call moves less than 2 GiB everywhere

std::string text_of(int error)
{
    return std::generic_category().message(error);
}

/// A write beyond a limit on file sizes (ulimit -f) ends the process by SIGXFSZ; while this lives, the write
/// fails with EFBIG instead.
class WithoutSizeSignal {
  public:
    WithoutSizeSignal()
    {
        sigemptyset(&signal_);
        sigaddset(&signal_, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    }
    ~WithoutSizeSignal()
    {
        sigset_t pending;
        sigpending(&pending);
        int number = 0;
        if (sigismember(&pending, SIGXFSZ) == 1) sigwait(&signal_, &number);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    WithoutSizeSignal(const WithoutSizeSignal&) = delete;
    WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

  private:
    sigset_t signal_{};
    sigset_t before_{};
};

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept
{
    std::swap(number_, other.number_);
    return *this;
}

FileDescriptor::~FileDescriptor()
{
    if (number_ >= 0) close(number_);
}

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path))
{
    file_ = FileDescriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    check(file_.number() >= 0, "cannot read '{}': {}", path_.string(), text_of(errno));
    struct stat status {};
    check(fstat(file_.number(), &status) == 0, "cannot read '{}': {}", path_.string(), text_of(errno));
    check(!S_ISDIR(status.st_mode), "cannot read '{}': it is a folder, a file is expected", path_.string());
    check(S_ISREG(status.st_mode), "cannot read '{}': it is not a regular file", path_.string());
    size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> bytes) const
{
    while (!bytes.empty()) {
        const ssize_t count = pread(file_.number(), bytes.data(), std::min(bytes.size(), largest_transfer),
                                    static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        check(count >= 0, "cannot read '{}': {}", path_.string(), text_of(errno));
        check(count > 0, "'{}' is truncated: it ends at byte {}, {} more are expected", path_.string(),
              offset, bytes.size());
        offset += static_cast<std::uint64_t>(count);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path))
{
    struct stat status {};
    check(stat(path_.c_str(), &status) != 0 || S_ISREG(status.st_mode),
          "cannot write '{}': something that is not a regular file is there", path_.string());
    temporary_ = path_.parent_path() / fmt::format(".{}.tmp-{}", path_.filename().string(), getpid());
    file_ = FileDescriptor(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file_.number() < 0) throw_cannot_write(path_, errno);
}

OutputFile::~OutputFile()
{
    if (!committed_) unlink(temporary_.c_str());
}

void OutputFile::write(std::uint64_t offset, std::span<const std::byte> bytes)
{
    const WithoutSizeSignal no_signal;
    while (!bytes.empty()) {
        const ssize_t count = pwrite(file_.number(), bytes.data(), std::min(bytes.size(), largest_transfer),
                                     static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw_cannot_write(path_, count < 0 ? errno : ENOSPC);
        offset += static_cast<std::uint64_t>(count);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void OutputFile::commit()
{
    if (fsync(file_.number()) != 0) throw_cannot_write(path_, errno);
    if (rename(temporary_.c_str(), path_.c_str()) != 0) throw_cannot_write(path_, errno);
    committed_ = true;
    sync_folder(path_.parent_path());
}

void write_text(const std::filesystem::path& path, std::string_view text)
{
    OutputFile file(path);
    file.write(0, std::as_bytes(std::span(text)));
    file.commit();
}

std::string read_text(const std::filesystem::path& path, std::uint64_t limit)
{
    const InputFile file(path);
    check(file.size() <= limit, "'{}' has {} bytes: at most {} are expected", path.string(), file.size(),
          limit);
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

void sync_folder(const std::filesystem::path& folder)
{
    const std::filesystem::path& opened = folder.empty() ? "." : folder;
    const FileDescriptor descriptor(open(opened.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.number() < 0) throw_cannot_write(opened, errno);
    // EINVAL: a file system that knows no such thing for folders.
    if (fsync(descriptor.number()) != 0 && errno != EINVAL) throw_cannot_write(opened, errno);
}

void throw_cannot_write(const std::filesystem::path& path, int error)
{
    std::string_view advice = "save elsewhere";
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        advice = "the disk or your share of it is full; free some space or save elsewhere";
    else if (error == EROFS || error == EACCES || error == EPERM)
        advice = "choose a folder that you may write to";
    else if (error == ENOTDIR || error == EEXIST)
        advice = "a part of this path is a file, a folder is expected";
    throw Error(fmt::format("cannot write '{}': {}: {}", path.string(), text_of(error), advice));
}

}  // namespace shardlings
