#include "lib/tools/launch/notices.hpp"

#include <array>
#include <utility>

namespace shardlings {

namespace {

constexpr std::size_t shortest_rule = 70;  // OpenMPI's are 74 dashes
constexpr std::size_t longest_box = 4096;  // longer ones are no notice
constexpr std::array<std::string_view, 3> unwanted{
    "MPI_ABORT was invoked on rank",
    "prterun has exited due to process rank",
    "prterun detected that one or more processes exited with non-zero status",
};

bool is_dashes(std::string_view text)
{
    return text.find_first_not_of('-') == std::string_view::npos;
}

bool is_unwanted(std::string_view box)
{
    for (const std::string_view phrase : unwanted)
        if (box.find(phrase) != std::string_view::npos) return true;
    return false;
}

constexpr std::string_view mpich_begin = "Abort(";
constexpr std::string_view event_begin =
    "[warn] Epoll ";  // of the event library in OpenMPI's mpirun, as ranks end

/// True for what may become MPICH's one line about the same, or one of mpirun's event library.
bool may_be_notice_line(std::string_view line)
{
    const auto may_begin = [line](std::string_view begin) {
        return line.substr(0, begin.size()) == begin.substr(0, line.size());
    };
    return may_begin(mpich_begin) || may_begin(event_begin);
}

bool is_notice_line(std::string_view line)
{
    return line.starts_with(event_begin) ||
           (line.starts_with(mpich_begin) &&
            line.find("application called MPI_Abort") != std::string_view::npos);
}

}  // namespace

/// `line` without its newline; what it completes is appended to `shown`.
void NoticeFilter::take_line(std::string_view line, std::string& shown)
{
    const bool rule = line.size() >= shortest_rule && is_dashes(line);
    const bool opens = rule && box_.empty();
    if (!opens && box_.empty()) {
        if (is_notice_line(line)) return;
        shown.append(line).push_back('\n');
        return;
    }
    box_.append(line).push_back('\n');
    const bool closes = rule && !opens;
    if (!closes && box_.size() <= longest_box) return;
    if (!closes || !is_unwanted(box_)) shown += box_;
    box_.clear();
}

std::string NoticeFilter::pass(std::string_view text)
{
    std::string shown;
    while (!text.empty()) {
        const std::size_t length = text.find('\n');
        const bool whole = length != std::string_view::npos;
        line_ += text.substr(0, length);
        text.remove_prefix(whole ? length + 1 : text.size());
        if (whole && middle_of_line_) {
            shown.append(std::exchange(line_, {})).push_back('\n');
            middle_of_line_ = false;
        } else if (whole) {
            take_line(std::exchange(line_, {}), shown);
        }
    }
    if (box_.empty() && !line_.empty() &&
        (middle_of_line_ || !(is_dashes(line_) || may_be_notice_line(line_)))) {
        shown += std::exchange(line_, {});
        middle_of_line_ = true;
    }
    return shown;
}

std::string NoticeFilter::finish()
{
    return std::exchange(box_, {}) + std::exchange(line_, {});
}

}  // namespace shardlings
