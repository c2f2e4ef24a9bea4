#include "lib/tools/trace/lane.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/base/units.hpp"

namespace shardlings {

namespace {

std::string_view class_of(Work work)
{
    return work == Work::wait ? "idle" : name_of(work);
}

/// A later chunk has a shade of its own.
std::string class_of(const Box& box)
{
    const std::string work(class_of(box.work));
    return box.event.chunk > 0 ? fmt::format("{} c{}", work, box.event.chunk) : work;
}

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
        const std::size_t last = std::min(static_cast<std::size_t>(right), seconds_.size() - 1);
        for (std::size_t column = std::min(static_cast<std::size_t>(left), last); column <= last; ++column) {
            const auto begin = static_cast<double>(column);
            seconds_[column][static_cast<std::size_t>(work)] +=
                std::min(right, begin + 1.0) - std::max(left, begin);
        }
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
            if (!paths[work].empty()) canvas.path(paths[work], class_of(static_cast<Work>(work)));
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

/// The event's name without its kind: "forward h.0" is "h.0" in a box whose color says forward, and "wait for
/// communication" is "communication" where it is hatched.
std::string name_in(const Box& box)
{
    const std::string& name = box.event.name;
    const std::string kind(name_of(box.work));
    for (const std::string& prefix : {kind + " for ", kind + " "})
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    return name;
}

/// Whether the name is not what is waited for but what became of a rank: "has returned", "waits for …".
bool says_itself(std::string_view name)
{
    const std::string_view first = name.substr(0, name.find(' '));
    return first == "has" || first == "ends" || first == "waits" || first == "no";
}

/// What may stand in a box, the longest first: a whole micro-batch is its number, and a collective that has
/// no room for "all-reduce h.3" is "h.3".
std::vector<std::string> labels_of(const Box& box)
{
    const bool communicates = box.work == Work::communication || box.work == Work::wait;
    if (box.event.micro_batch >= 0 && box.depth == 0 && !communicates)
        return {fmt::format("{}", box.event.micro_batch)};
    const std::string name = name_in(box);
    const std::size_t space = name.rfind(' ');
    if (!communicates || space == std::string::npos) return {name};
    return {name, name.substr(space + 1)};
}

}  // namespace

std::string hint_of(const Event& event)
{
    const Work work = work_of(event);
    std::string hint = event.name;
    if (work == Work::wait && event.name != name_of(work) && !says_itself(event.name))
        hint = "waiting for " + name_in({event, work});
    if (event.micro_batch >= 0) hint += fmt::format(", micro-batch {}", event.micro_batch);
    if (event.chunk >= 0) hint += fmt::format(", chunk {}", event.chunk);
    if (event.peer >= 0)
        hint += fmt::format(", {} device {}", work == Work::send ? "to" : "from", event.peer);
    if (event.bytes > 0) hint += ", " + format_bytes(event.bytes);
    return hint +
           fmt::format(": {} from {}", format_seconds(event.end - event.begin), format_seconds(event.begin));
}

double Lane::top_of(int level) const
{
    return shape_.top + (shape_.height - shape_.foot) * level / shape_.levels;
}

double Lane::width_of(const Box& box) const
{
    return frame_->x(box.event.end) - frame_->x(box.event.begin);
}

double Lane::middle_of(const Box& box) const
{
    return (frame_->x(box.event.begin) + frame_->x(box.event.end)) / 2.0;
}

bool Lane::draws(const Box& box) const
{
    return box.depth < shape_.levels && frame_->shows(box.event.begin, box.event.end);
}

void Lane::fill(std::string_view style_class)
{
    canvas_->rectangle({frame_->left, shape_.top, frame_->right - frame_->left, shape_.height}, style_class);
}

void Lane::draw(const std::vector<Box>& boxes)
{
    for (int level = 0; level < shape_.levels; ++level) draw_level(boxes, level);
}

void Lane::draw_level(const std::vector<Box>& boxes, int level)
{
    const double top = top_of(level);
    const double height = shape_.height - (top - shape_.top);
    Columns columns(*frame_);
    const auto drawn = [this, level](const Box& box) { return box.depth == level && draws(box); };
    for (const Box& box : boxes)
        if (drawn(box) && width_of(box) < narrow) columns.add({box.event.begin, box.event.end}, box.work);
    columns.draw(*canvas_, top, height, 0.01);  // less than that is rounding in the sums of times
    canvas_->open("boxes");
    for (const Box& box : boxes)
        if (drawn(box) && width_of(box) >= narrow)
            canvas_->rectangle({frame_->x(box.event.begin), top, width_of(box), height}, class_of(box),
                               hint_of(box.event));
    canvas_->close();
}

void Lane::hatch(std::span<const Span> idle)
{
    Columns columns(*frame_);
    for (const Span& span : idle)
        if (frame_->shows(span.begin, span.end)) columns.add(span, Work::wait);
    columns.draw(*canvas_, shape_.top, shape_.height, 0.5);
}

void Lane::draw_waits(const std::vector<Box>& waits)
{
    if (waits.empty()) return;
    canvas_->open("boxes");
    for (const Box& wait : waits)
        if (draws(wait) && width_of(wait) >= narrow)
            canvas_->rectangle({frame_->x(wait.event.begin), shape_.top, width_of(wait), shape_.height},
                               "idle", hint_of(wait.event));
    canvas_->close();
}

bool Lane::fits(const Frame& frame, const Box& box)
{
    const double width = frame.x(box.event.end) - frame.x(box.event.begin);
    return std::ranges::any_of(labels_of(box), [width](const std::string& label) {
        return text_width(label, label_size) + label_padding <= width;
    });
}

/// `number_width` is that of the widest micro-batch's number.
std::string Lane::fitting_label(const Box& box, double number_width) const
{
    for (const std::string& label : labels_of(box))
        if (std::max(text_width(label, label_size), number_width) + label_padding <= width_of(box))
            return label;
    return "";
}

void Lane::label(const std::vector<Box>& boxes, const std::vector<Box>& waits)
{
    int largest = 0;
    for (const Box& box : boxes) largest = std::max(largest, box.event.micro_batch);
    const double number_width = text_width(fmt::format("{}", largest), label_size);
    for (const Box& box : boxes) {
        const std::string label = draws(box) ? fitting_label(box, number_width) : "";
        if (label.empty()) continue;
        const bool children_below = box.has_children && box.depth + 1 < shape_.levels;
        const double bottom = top_of(children_below ? box.depth + 1 : shape_.levels);
        // Where a wait covers it, a label would be read as the wait's.
        const double middle = middle_of(box);
        const double half = text_width(label, label_size) / 2.0;
        const bool covered = !children_below && std::ranges::any_of(waits, [&](const Box& wait) {
            return frame_->x(wait.event.begin) < middle + half && frame_->x(wait.event.end) > middle - half;
        });
        if (!covered)
            canvas_->text(middle, (top_of(box.depth) + bottom) / 2.0 + 4.0, label, "box", Anchor::middle);
    }
    const double lowest = (top_of(shape_.levels - 1) + top_of(shape_.levels)) / 2.0 + 4.0;
    for (const Box& wait : waits) {
        const std::string label = draws(wait) ? fitting_label(wait, 0.0) : "";
        if (!label.empty()) canvas_->text(middle_of(wait), lowest, label, "box", Anchor::middle);
    }
}

}  // namespace shardlings
