#include "lib/tools/course/submission.hpp"

#include <unistd.h>

#include "lib/tools/course/files.hpp"
#include "lib/tools/course/places.hpp"
#include "lib/tools/grade/printable.hpp"
#include "lib/tools/grade/sandbox.hpp"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t largest_file = 1 << 20;  // bytes; a solution has some thousands
constexpr double unpack_seconds = 60.0;

void require(bool condition, const std::string& message)
{
    if (!condition) throw SubmissionError(message);
}

bool may_read(const fs::path& path, int how)
{
    return access(path.c_str(), how) == 0;
}

bool is_link(const fs::path& path)
{
    std::error_code ignored;
    return fs::is_symlink(fs::symlink_status(path, ignored));
}

fs::path script()
{
    return find_places({}).root / "lib" / "tools" / "grade" / "unpack.py";
}

}  // namespace

Submission::Submission(const fs::path& path, const Manifest& manifest)
{
    const fs::path folder = path.has_filename() ? path : path.parent_path();
    if (fs::is_directory(folder)) {
        require(may_read(folder, R_OK | X_OK),
                fmt::format("{} cannot be read: you may not look into it", path.string()));
        folder_ = fs::exists(folder / "exercises") ? folder / "exercises" : folder;
        if (is_link(folder_)) left_out_.emplace_back("exercises is a link");
        return;
    }
    const std::string name = folder.filename().string();
    const bool archive = name.ends_with(".zip") || name.ends_with(".tar.gz") || name.ends_with(".tgz") ||
                         name.ends_with(".tar");
    require(
        fs::is_regular_file(folder) && archive,
        fmt::format("{} is no folder and no archive: expected a folder, a .zip or a .tar.gz", path.string()));
    require(may_read(folder, R_OK), fmt::format("{} cannot be read: you may not open it", path.string()));
    folder_ = unpacked_.path();
    unpack(folder, manifest);
}

void Submission::unpack(const fs::path& archive, const Manifest& manifest)
{
    const std::string name = "submission" + std::string(archive.extension() == ".zip" ? ".zip" : ".tar");
    grade::SandboxLimits limits;
    limits.cpu_seconds = static_cast<int>(unpack_seconds);
    grade::Sandbox sandbox(limits);
    const bool in_sandbox = grade::why_no_sandbox().empty();
    fs::path out = folder_;
    Command command{"python3", "-I", script().string(), archive.string(), folder_.string()};
    if (in_sandbox) {
        sandbox.put(script(), "/unpack.py");
        sandbox.put(archive, "/" + name);
        out = sandbox.lend("/out");
        command = {"python3", "-I", "/unpack.py", "/" + name, "/out"};
    }
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts) command.push_back(lesson.name + "/" + part.file);
    const ProcessResult result =
        run_captured(in_sandbox ? sandbox.command(command) : command, {}, unpack_seconds);
    require(!result.timed_out,
            fmt::format("{}: unpacking took more than {} s", archive.string(), unpack_seconds));
    const std::string said = trimmed(grade::printable(result.output));
    require(result.exit_code == 0, fmt::format("{}: {}", archive.string(), said));
    for (const std::string& line : lines_of(said))
        if (!line.empty()) left_out_.push_back(line);
    if (!in_sandbox) return;
    for (const Lesson& lesson : manifest.lessons)
        for (const Part& part : lesson.parts) {
            const fs::path file = fs::path(lesson.name) / part.file;
            if (is_plain(out / file)) write_file(folder_ / file, read_file(out / file));
        }
}

bool Submission::is_plain(const fs::path& file)
{
    std::error_code problem;
    const fs::file_status status = fs::symlink_status(file, problem);
    const std::string name = (file.parent_path().filename() / file.filename()).string();
    if (status.type() == fs::file_type::not_found) return false;
    if (status.type() == fs::file_type::none)
        left_out_.push_back(name + " cannot be read: you may not look into its folder");
    else if (fs::is_symlink(status))
        left_out_.push_back(name + " is a link");
    else if (status.type() != fs::file_type::regular)
        left_out_.push_back(name + " is no plain file");
    else if (fs::file_size(file, problem) > largest_file)
        left_out_.push_back(fmt::format("{} is larger than {} bytes", name, largest_file));
    else if (!may_read(file, R_OK))
        left_out_.push_back(name + " cannot be read: you may not open it");
    else
        return true;
    return false;
}

bool Submission::has(const Lesson& lesson, const Part& part)
{
    if (is_link(folder_)) return false;
    const fs::path folder = folder_ / lesson.name;
    if (is_link(folder)) {
        if (left_out_.empty() || left_out_.back() != lesson.name + " is a link")
            left_out_.push_back(lesson.name + " is a link");
        return false;
    }
    return is_plain(folder / part.file);
}

std::string Submission::text_of(const Lesson& lesson, const Part& part) const
{
    return read_file(folder_ / lesson.name / part.file);
}

}  // namespace shardlings
