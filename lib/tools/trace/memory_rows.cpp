// The lower part of the picture: what each device's memory held when.
#include <algorithm>
#include <iterator>

#include "lib/machine/base/units.hpp"
#include "lib/tools/trace/memory_curve.hpp"
#include "lib/tools/trace/picture.hpp"

namespace shardlings {

namespace {

constexpr double tick_distance = 20.0;  // pixels, at least

std::string class_of(Category category)
{
    std::string name(name_of(category));
    std::ranges::replace(name, ' ', '-');
    return name;
}

bool has_budget(const RankTrace& trace)
{
    return trace.budget != RankTrace{}.budget;
}

/// The curves of all devices, and the bytes that all rows reach up to.
struct Curves {
    std::vector<std::vector<MemoryPoint>> of;
    std::uint64_t peak = 0;
    double top = 1.0;
    bool budgets_fit = true;
};

Curves curves_of(const Frame& frame, std::span<const RankTrace> traces)
{
    Curves curves;
    std::uint64_t budget = 0;
    for (const RankTrace& trace : traces) {
        std::vector<MemorySample> shown;
        std::ranges::copy_if(trace.memory, std::back_inserter(shown), [&frame](const MemorySample& sample) {
            return sample.time <= frame.window.end;
        });
        curves.of.push_back(memory_curve(shown, frame.window.begin, frame.seconds_per_pixel()));
        curves.peak = std::max(curves.peak, peak_of(curves.of.back()));
        if (has_budget(trace)) budget = std::max(budget, trace.budget);
    }
    // A budget far above what is used would press the areas flat.
    curves.budgets_fit = budget / 4 <= curves.peak;
    const std::uint64_t most = curves.budgets_fit ? std::max(budget, curves.peak) : curves.peak;
    curves.top = 1.06 * static_cast<double>(std::max<std::uint64_t>(most, 1));
    return curves;
}

/// A power of two bytes: the smallest whose ticks are far enough apart.
double tick_step(double top, double height)
{
    double step = 1.0;
    while (step / top * height < tick_distance) step *= 2.0;
    return step;
}

class MemoryRow {
  public:
    MemoryRow(Canvas& canvas, const Frame& frame, const View& view, double y, double height, double top)
        : canvas_(canvas), frame_(frame), view_(view), base_(y + height), height_(height), top_(top)
    {
        canvas_.rectangle({frame.left, y, frame.right - frame.left, height}, "row");
    }

    /// Each category's area is drawn down to the base; those that follow cover what is not its own.
    void draw_areas(std::span<const MemoryPoint> curve)
    {
        for (int category = category_count; category-- > 0;) {
            const std::string area = area_up_to(curve, category);
            if (!area.empty()) canvas_.path(area, class_of(static_cast<Category>(category)));
        }
    }

    void draw_ticks()
    {
        const double step = tick_step(top_, height_);
        for (int tick = 0; tick * step <= top_; ++tick) {
            const double bytes = tick * step;
            if (bytes > 0.0) canvas_.line(frame_.left, y_of(bytes), frame_.right, y_of(bytes), "grid");
            canvas_.text(frame_.left - 6.0, y_of(bytes) + (bytes > 0.0 ? 3.5 : 0.0),
                         amount(static_cast<std::uint64_t>(bytes)), "small", Anchor::end);
        }
        canvas_.line(frame_.left, base_, frame_.right, base_, "axis");
    }

    void draw_budget(std::uint64_t budget)
    {
        const double y = y_of(static_cast<double>(budget));
        canvas_.line(frame_.left, y, frame_.right, y, "budget");
    }

    void draw_notes(int rank, std::uint64_t peak)
    {
        const double middle = base_ - height_ / 2.0 + 4.0;
        canvas_.text(16.0, middle, view_.pipeline.name_of(rank), view_.pipeline.name_class());
        canvas_.text(frame_.right + 8.0, middle, "peak " + amount(peak), "small");
    }

  private:
    std::string amount(std::uint64_t value) const
    {
        return view_.memory_counts.empty() ? format_bytes(value) : fmt::format("{}", value);
    }
    double y_of(double bytes) const { return base_ - bytes / top_ * height_; }

    /// The outline of the categories up to this one, stacked; empty when this one holds nothing.
    std::string area_up_to(std::span<const MemoryPoint> curve, int category) const
    {
        std::string outline = fmt::format("M{} {}", pixels(frame_.left), pixels(base_));
        std::string level = pixels(base_);
        bool holds_any = false;
        for (const MemoryPoint& point : curve) {
            std::uint64_t bytes = 0;
            for (int i = 0; i <= category; ++i) bytes += point.by[static_cast<std::size_t>(i)];
            holds_any = holds_any || point.by[static_cast<std::size_t>(category)] > 0;
            const std::string next = pixels(y_of(static_cast<double>(bytes)));
            if (next == level) continue;
            level = next;
            outline += fmt::format("H{}V{}", pixels(frame_.x(point.time)), level);
        }
        outline += fmt::format("H{}V{}Z", pixels(frame_.right), pixels(base_));
        return holds_any ? outline : "";
    }

    Canvas& canvas_;
    const Frame& frame_;
    const View& view_;
    double base_;
    double height_;
    double top_;
};

std::string budget_text(std::span<const RankTrace> traces, const Curves& curves)
{
    const std::uint64_t first = traces.front().budget;
    const bool same =
        std::ranges::all_of(traces, [first](const RankTrace& trace) { return trace.budget == first; });
    return (same ? "budget " + format_bytes(first) : std::string("budget")) +
           (curves.budgets_fit ? "" : " (above the scale)");
}

void draw_keys(Canvas& canvas, const Frame& frame, double y, std::span<const RankTrace> traces,
               const Curves& curves, const View& view)
{
    const bool bytes = view.memory_counts.empty();
    std::vector<std::pair<std::string, std::string>> keys;
    for (int i = 0; i < category_count; ++i) {
        const auto category = static_cast<Category>(i);
        const bool used = std::ranges::any_of(traces, [category](const RankTrace& trace) {
            return std::ranges::any_of(trace.memory, [category](const MemorySample& sample) {
                return sample.category == category && sample.change > 0;
            });
        });
        if (used) keys.emplace_back(class_of(category), bytes ? name_of(category) : view.memory_counts);
    }
    if (std::ranges::any_of(traces, has_budget)) keys.emplace_back("budget", budget_text(traces, curves));
    canvas.text(16.0, y + 10.5, bytes ? "Memory" : "In flight", "heading");
    draw_legend(canvas, frame.left, y, keys);
}

}  // namespace

double draw_memory(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, const View& view,
                   double y)
{
    const bool has_samples =
        std::ranges::any_of(traces, [](const RankTrace& trace) { return !trace.memory.empty(); });
    if (!has_samples) return y;
    const Curves curves = curves_of(frame, traces);
    draw_keys(canvas, frame, y, traces, curves, view);
    y += 22.0;

    const double top = y;
    const RowSizes sizes = row_sizes(traces.size());
    for (std::size_t i = 0; i < traces.size(); ++i) {
        canvas.open("");
        MemoryRow row(canvas, frame, view, y, sizes.memory, curves.top);
        row.draw_areas(curves.of[i]);
        row.draw_ticks();
        if (has_budget(traces[i]) && curves.budgets_fit) row.draw_budget(traces[i].budget);
        row.draw_notes(traces[i].rank, peak_of(curves.of[i]));
        y += sizes.memory + sizes.gap;
        canvas.close();
    }
    draw_grid(canvas, frame, top, y);
    return y;
}

}  // namespace shardlings
