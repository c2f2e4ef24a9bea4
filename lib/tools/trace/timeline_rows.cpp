// The upper part of the picture: what each device did when.
#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/base/units.hpp"
#include "lib/tools/trace/picture.hpp"

namespace shardlings {

namespace {

constexpr double narrow = 3.0;         // pixels: narrower boxes have neither border, hint nor label
constexpr double label_size = 11.0;    // text.box of the style sheet
constexpr double level_height = 15.0;  // the least that holds a label

/// Boxes too narrow to draw one by one: each column of a pixel shows the work that takes most of it.
class Columns {
  public:
    explicit Columns(const Frame& frame)
        : frame_(frame), seconds_(static_cast<std::size_t>(std::ceil(frame.right - frame.left)))
    {
    }

    void add(Span span, Work work)
    {
        const double left = frame_.x(span.begin) - frame_.left;
        const double right = frame_.x(span.end) - frame_.left;
        const double last = static_cast<double>(seconds_.size()) - 1.0;
        for (double column = std::floor(std::min(left, last)); column <= std::min(right, last); column += 1.0)
            seconds_[static_cast<std::size_t>(column)][static_cast<std::size_t>(work)] +=
                std::min(right, column + 1.0) - std::max(left, column);
    }

    /// A path for each kind of work, of the columns of which it fills more than `least`.
    void draw(Canvas& canvas, double top, double height, double least) const
    {
        std::array<std::string, work_count> paths;
        for (std::size_t begin = 0, end = 0; begin < seconds_.size(); begin = end) {
            const std::size_t work = main_work(begin, least);
            for (end = begin + 1; end < seconds_.size() && main_work(end, least) == work;) ++end;
            if (work == work_count) continue;
            paths[work] += fmt::format("M{} {}h{}v{}h-{}z", pixels(frame_.left + static_cast<double>(begin)),
                                       pixels(top), end - begin, pixels(height), end - begin);
        }
        for (std::size_t work = 0; work < work_count; ++work)
            if (!paths[work].empty())
                canvas.path(paths[work], work == static_cast<std::size_t>(Work::wait)
                                             ? "idle"
                                             : name_of(static_cast<Work>(work)));
    }

  private:
    /// work_count when none fills more than `least` of the column.
    std::size_t main_work(std::size_t column, double least) const
    {
        const auto most = std::ranges::max_element(seconds_[column]);
        return *most > least ? static_cast<std::size_t>(most - seconds_[column].begin()) : work_count;
    }

    const Frame& frame_;
    std::vector<std::array<double, work_count>> seconds_;  // in pixels of the frame
};

std::string hint_of(const Event& event)
{
    std::string hint = event.name;
    if (event.micro_batch >= 0) hint += fmt::format(", micro-batch {}", event.micro_batch);
    if (event.peer >= 0)
        hint += fmt::format(", {} device {}", work_of(event) == Work::send ? "to" : "from", event.peer);
    if (event.bytes > 0) hint += ", " + format_bytes(event.bytes);
    return hint +
           fmt::format(": {} from {}", format_seconds(event.end - event.begin), format_seconds(event.begin));
}

/// What stands in a box where it fits: "forward h.0" is "h.0" in a box whose color says forward, and a
/// whole micro-batch is its number.
std::string label_of(const Box& box)
{
    if (box.event.micro_batch >= 0 && box.depth == 0) return fmt::format("{}", box.event.micro_batch);
    const std::string& name = box.event.name;
    const std::string prefix = std::string(name_of(box.work)) + " ";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

class DeviceRow {
  public:
    DeviceRow(Canvas& canvas, const Frame& frame, const RankTrace& trace, const std::vector<Box>& boxes)
        : canvas_(canvas), frame_(frame), trace_(trace), boxes_(boxes)
    {
    }

    /// `levels` of nested boxes; each box reaches down to the bottom, under those inside it.
    void draw_compute(double top, double height, int levels)
    {
        canvas_.rectangle({frame_.left, top, frame_.right - frame_.left, height}, "idle");
        for (int level = 0; level < levels; ++level) {
            const double above = height * level / levels;
            draw_level(boxes_, level, top + above, height - above);
        }
        Columns waiting(frame_);
        for (const Span& span : waiting_spans(trace_.events))
            if (frame_.shows(span.begin, span.end)) waiting.add(span, Work::wait);
        waiting.draw(canvas_, top, height, 0.5);
    }

    void draw_messages(Work work, double top, double height)
    {
        canvas_.rectangle({frame_.left, top, frame_.right - frame_.left, height}, "row");
        draw_level(boxes_of(trace_.events, work), 0, top, height);
    }

    void draw_labels(double top, double height, int levels)
    {
        int largest = 0;
        for (const Box& box : boxes_) largest = std::max(largest, box.event.micro_batch);
        const double number_width = text_width(fmt::format("{}", largest), label_size);
        for (const Box& box : boxes_)
            if (box.depth < levels && frame_.shows(box.event.begin, box.event.end))
                draw_label(box, number_width, {0.0, top, 0.0, height}, levels);
    }

    void draw_notes(double top, double height)
    {
        const double middle = top + height / 2.0 + 4.0;
        canvas_.text(16.0, middle, fmt::format("device {}", trace_.rank), "");
        const double all = frame_.window.end - frame_.window.begin;
        const double idle = 1.0 - seconds_within(busy_spans(trace_.events), frame_.window) / all;
        canvas_.text(frame_.right + 8.0, middle, fmt::format("idle {:.1f} %", 100.0 * std::abs(idle)),
                     "small");
    }

  private:
    double width_of(const Box& box) const { return frame_.x(box.event.end) - frame_.x(box.event.begin); }

    void draw_level(const std::vector<Box>& boxes, int level, double top, double height)
    {
        Columns columns(frame_);
        const auto drawn = [this, level](const Box& box) {
            return box.depth == level && frame_.shows(box.event.begin, box.event.end);
        };
        for (const Box& box : boxes)
            if (drawn(box) && width_of(box) < narrow) columns.add({box.event.begin, box.event.end}, box.work);
        columns.draw(canvas_, top, height, 0.01);  // less than that is rounding in the sums of times
        canvas_.open("boxes");
        for (const Box& box : boxes)
            if (drawn(box) && width_of(box) >= narrow)
                canvas_.rectangle({frame_.x(box.event.begin), top, width_of(box), height}, name_of(box.work),
                                  hint_of(box.event));
        canvas_.close();
    }

    /// `least_width` is that of the widest number, so that all micro-batches are numbered or none.
    void draw_label(const Box& box, double least_width, const Rectangle& row, int levels)
    {
        const std::string label = label_of(box);
        if (std::max(text_width(label, label_size), least_width) + 4.0 > width_of(box)) return;
        const double above = row.height * box.depth / levels;
        const bool children_below = box.has_children && box.depth + 1 < levels;
        const double room = children_below ? row.height / levels : row.height - above;
        canvas_.text((frame_.x(box.event.begin) + frame_.x(box.event.end)) / 2.0,
                     row.y + above + room / 2.0 + 4.0, label, "box", Anchor::middle);
    }

    Canvas& canvas_;
    const Frame& frame_;
    const RankTrace& trace_;
    const std::vector<Box>& boxes_;
};

bool any(std::span<const RankTrace> traces, Work work)
{
    return std::ranges::any_of(traces, [work](const RankTrace& trace) {
        return std::ranges::any_of(trace.events,
                                   [work](const Event& event) { return work_of(event) == work; });
    });
}

bool any(const std::vector<std::vector<Box>>& boxes, Work work)
{
    return std::ranges::any_of(boxes, [work](const std::vector<Box>& of_device) {
        return std::ranges::find(of_device, work, &Box::work) != of_device.end();
    });
}

void draw_keys(Canvas& canvas, double left, double y, std::span<const RankTrace> traces,
               const std::vector<std::vector<Box>>& boxes)
{
    std::vector<std::pair<std::string, std::string>> keys;
    for (const Work work : {Work::forward, Work::backward, Work::optimizer, Work::compute})
        if (any(boxes, work))
            keys.emplace_back(name_of(work), work == Work::compute ? "other compute" : name_of(work));
    for (const Work work : {Work::send, Work::receive})
        if (any(traces, work)) keys.emplace_back(name_of(work), name_of(work));
    keys.emplace_back("idle", "idle");
    canvas.text(16.0, y + 10.5, "Work", "heading");
    draw_legend(canvas, left, y, keys);
}

/// The steps of the first device that recorded any, as a strip; returns where it ends.
double draw_steps(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, double y)
{
    const auto stepping = std::ranges::find_if(traces, [](const RankTrace& trace) {
        return any({&trace, 1}, Work::step);
    });
    if (stepping == traces.end()) return y;
    canvas.open("");
    for (const Box& box : boxes_of(stepping->events, Work::step)) {
        const double left = frame.x(box.event.begin);
        const double width = frame.x(box.event.end) - left;
        if (width < narrow) continue;
        canvas.rectangle({left, y, width, level_height}, "step", hint_of(box.event));
        if (text_width(box.event.name, label_size) + 2.0 <= width)
            canvas.text(left + width / 2.0, y + 11.5, box.event.name, "box", Anchor::middle);
    }
    canvas.close();
    return y + level_height + 5.0;
}

int levels_of(const std::vector<std::vector<Box>>& boxes, double height)
{
    int depth = 0;
    for (const std::vector<Box>& of_device : boxes)
        for (const Box& box : of_device) depth = std::max(depth, box.depth);
    return std::clamp(depth + 1, 1, static_cast<int>(height / level_height));
}

}  // namespace

double draw_timeline(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, double y)
{
    if (std::ranges::all_of(traces, [](const RankTrace& trace) { return trace.events.empty(); })) return y;
    std::vector<std::vector<Box>> boxes;
    for (const RankTrace& trace : traces) boxes.push_back(compute_boxes(trace.events));
    draw_keys(canvas, frame.left, y, traces, boxes);
    const double top = draw_steps(canvas, frame, traces, y + 22.0);

    const RowSizes sizes = row_sizes(traces.size());
    const int levels = levels_of(boxes, sizes.compute);
    const double lane = any(traces, Work::send) || any(traces, Work::receive) ? sizes.lane : 0.0;
    const double distance = sizes.compute + (lane > 0.0 ? 2.0 * (lane + 1.0) : 0.0) + sizes.gap;
    const double bottom = top + distance * static_cast<double>(traces.size());
    std::vector<DeviceRow> rows;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        const double row_top = top + distance * static_cast<double>(i);
        DeviceRow& row = rows.emplace_back(canvas, frame, traces[i], boxes[i]);
        row.draw_compute(row_top, sizes.compute, levels);
        row.draw_notes(row_top, sizes.compute);
        if (lane == 0.0) continue;
        row.draw_messages(Work::send, row_top + sizes.compute + 1.0, lane);
        row.draw_messages(Work::receive, row_top + sizes.compute + lane + 2.0, lane);
    }
    draw_grid(canvas, frame, top, bottom);
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].draw_labels(top + distance * static_cast<double>(i), sizes.compute, levels);
    return bottom;
}

}  // namespace shardlings
