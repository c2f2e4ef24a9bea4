#include "lib/tools/launch/notices.hpp"

#include <array>
#include <fstream>
#include <optional>
#include <utility>

namespace shardlings {

namespace {

constexpr std::size_t shortest_rule = 70;  // OpenMPI's are 74 dashes
constexpr std::size_t longest_box = 4096;  // longer ones are no notice
constexpr std::array<std::string_view, 4> unwanted{
    "MPI_ABORT was invoked on rank",
    "has exited due to process rank",
    "detected that one or more processes exited with non-zero status",
    "Primary job  terminated normally, but",
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

/// The text between `begin` and the next of `end`, if both are there.
std::optional<std::string> between(std::string_view text, std::string_view begin, std::string_view end)
{
    const std::size_t first = text.find(begin);
    if (first == std::string_view::npos) return std::nullopt;
    text.remove_prefix(first + begin.size());
    const std::size_t last = text.find_first_of(end);
    if (last == std::string_view::npos) return std::nullopt;
    return std::string(text.substr(0, last));
}

/// True for what may become MPICH's one line about the same.
bool may_be_abort_line(std::string_view line)
{
    constexpr std::string_view begin = "Abort(";
    return line.substr(0, begin.size()) == begin.substr(0, line.size());
}

bool is_abort_line(std::string_view line)
{
    return may_be_abort_line(line) && line.find("application called MPI_Abort") != std::string_view::npos;
}

}  // namespace

/// `line` without its newline; what it completes is appended to `shown`.
void NoticeFilter::take_line(std::string_view line, std::string& shown)
{
    const bool rule = line.size() >= shortest_rule && is_dashes(line);
    const bool opens = rule && box_.empty();
    if (!opens && box_.empty()) {
        if (is_abort_line(line)) return;
        shown.append(line).push_back('\n');
        return;
    }
    box_.append(line).push_back('\n');
    const bool closes = rule && !opens;
    if (!closes && box_.size() <= longest_box) return;
    if (closes)
        take_box(shown);
    else
        shown += std::exchange(box_, {});
}

void NoticeFilter::take_box(std::string& shown)
{
    const std::string box = std::exchange(box_, {});
    if (is_unwanted(box)) return;
    const auto rank = between(box, "noticed that process rank ", " ");
    const auto signal = between(box, "exited on signal ", ".\n");
    if (!rank || !signal) {
        shown += box;
        return;
    }
    shown += "rank " + *rank;
    std::ifstream file(run_folder_ + "/rank-" + *rank);
    if (std::string place; std::getline(file, place)) shown += " (" + place + ")";
    shown += " was ended by signal " + *signal + "\n";
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
        (middle_of_line_ || !(is_dashes(line_) || may_be_abort_line(line_)))) {
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
