#include "lib/tools/schedule/drawing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lib/machine/base/units.hpp"

namespace shardlings {

namespace {

using pipeline::Action;
using pipeline::Instruction;
using pipeline::PassCosts;
using pipeline::Schedule;
using pipeline::Span;

constexpr double widest = 128.0;                        // characters
constexpr double finest = 4.0;                          // columns of the shortest pass
constexpr double rounding = 1e-9;                       // of a column: times are sums
using Cells = std::vector<std::optional<Instruction>>;  // a pass or idle, column by column

/// The longest time that all costs are whole multiples of, by Euclid's algorithm, but no less than `least`.
double common_unit(const PassCosts& costs, double least)
{
    double unit = costs.forward;
    for (double other : {costs.backward, costs.message})
        while (other > 0.0) {
            const double rest = std::fmod(unit, other);
            const bool divides = std::min(rest, other - rest) < rounding * least;
            unit = std::exchange(other, divides ? 0.0 : rest);
        }
    return std::max(unit, least);
}

/// Which pass takes most of each column of `unit` seconds; nothing where the stage idles longer than it
/// works.
Cells cells_of(const pipeline::Program& program, const std::vector<Span>& spans, double unit,
               std::size_t columns)
{
    Cells cells(columns);
    std::vector<double> most(columns, 0.0);
    std::vector<double> busy(columns, 0.0);
    for (std::size_t i = 0; i < program.size(); ++i) {
        if (program[i].action != Action::forward && program[i].action != Action::backward) continue;
        const double begin = spans[i].begin / unit;
        const double end = spans[i].end / unit;
        for (auto c = static_cast<std::size_t>(begin); c < columns && static_cast<double>(c) < end; ++c) {
            const auto left = static_cast<double>(c);
            const double covered = std::min(end, left + 1.0) - std::max(begin, left);
            busy[c] += covered;
            if (covered <= most[c] + rounding) continue;
            most[c] = covered;
            cells[c] = program[i];
        }
    }
    for (std::size_t c = 0; c < columns; ++c)
        if (busy[c] < 0.5 - rounding) cells[c].reset();
    return cells;
}

char chunk_letter(int chunk, Action pass)
{
    return static_cast<char>((pass == Action::forward ? 'a' : 'A') + chunk % 26);
}

/// What tells forward from backward, behind the micro-batch's number.
char mark_of(const Schedule& schedule, const Instruction& pass)
{
    if (schedule.chunks > 1) return chunk_letter(pass.chunk, pass.action);
    return pass.action == Action::forward ? ' ' : '\'';
}

std::string without_trailing_blanks(std::string text)
{
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

/// One row: the number and mark of each column's pass, in as many characters as the widest takes.
std::string wide_row(const Schedule& schedule, const Cells& cells, std::size_t digits)
{
    std::string row;
    for (const std::optional<Instruction>& pass : cells) {
        std::string cell = pass ? fmt::format("{}{}", pass->micro_batch, mark_of(schedule, *pass)) : ".";
        cell.resize(digits + 1, ' ');
        row += cell;
    }
    return row;
}

/// One row of one chunk's forward or backward passes, a digit a column.
std::string narrow_row(const Cells& cells, Action pass, int chunk)
{
    std::string row;
    for (const std::optional<Instruction>& cell : cells)
        if (!cell)
            row += '.';
        else if (cell->action == pass && cell->chunk == chunk)
            row += static_cast<char>('0' + cell->micro_batch % 10);
        else
            row += ' ';
    return row;
}

std::string wide_key(const Schedule& schedule)
{
    if (schedule.chunks > 1)
        return "0a is micro-batch 0 forward through chunk 0, 0A backward (b: chunk 1); a dot is idle time";
    return "0 is micro-batch 0 forward, 0' backward; a dot is idle time";
}

std::string narrow_key(const Schedule& schedule, bool all)
{
    return fmt::format(
        "a digit is {}; a dot is idle time{}",
        schedule.micro_batches > 10 ? "the last one of a micro-batch's number" : "a micro-batch's number",
        all ? "" : "; not every pass is shown");
}

std::string narrow_rows(const Schedule& schedule, const Cells& cells, const std::string& name)
{
    std::string rows;
    for (const Action pass : {Action::forward, Action::backward})
        for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
            std::string what = pass == Action::forward ? "forward" : "backward";
            if (schedule.chunks > 1) what += fmt::format(" {}", chunk_letter(chunk, pass));
            const bool first = pass == Action::forward && chunk == 0;
            rows += without_trailing_blanks(fmt::format("{:{}}  {:10}  {}", first ? name : "", name.size(),
                                                        what, narrow_row(cells, pass, chunk)));
        }
    return rows;
}

}  // namespace

double end_of(const std::vector<std::vector<Span>>& spans)
{
    double end = 0.0;
    for (const std::vector<Span>& stage : spans)
        for (const Span& span : stage) end = std::max(end, span.end);
    return end;
}

std::string draw_schedule(const Schedule& schedule, const std::vector<std::vector<Span>>& spans,
                          const PassCosts& costs)
{
    const std::size_t digits = fmt::format("{}", schedule.micro_batches - 1).size();
    const std::size_t name_width = fmt::format("stage {}", schedule.stages - 1).size();
    const auto name = [&](std::size_t stage) {
        return fmt::format("{:{}}", fmt::format("stage {}", stage), name_width);
    };
    const double end = end_of(spans);
    const double shortest = std::min(costs.forward, costs.backward);
    double unit = common_unit(costs, shortest / finest);
    const auto columns = [&] { return std::ceil(end / unit - rounding); };
    const double room = widest - static_cast<double>(name_width) - 2.0;
    const bool wide = columns() * static_cast<double>(digits + 1) <= room;
    const double narrow_room = room - 12.0;  // "backward a  "
    if (!wide) unit = std::max(unit, end / narrow_room);

    std::string drawing =
        fmt::format("{}; a column is {}\n\n",
                    wide ? wide_key(schedule) : narrow_key(schedule, unit <= shortest), format_seconds(unit));
    for (std::size_t stage = 0; stage < spans.size(); ++stage) {
        const Cells cells =
            cells_of(schedule.programs[stage], spans[stage], unit, static_cast<std::size_t>(columns()));
        drawing += wide ? without_trailing_blanks(name(stage) + "  " + wide_row(schedule, cells, digits))
                        : narrow_rows(schedule, cells, name(stage));
    }
    return drawing;
}

}  // namespace shardlings
