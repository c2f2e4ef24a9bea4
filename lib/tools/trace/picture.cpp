#include "lib/tools/trace/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/base/error.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

// Okabe and Ito's palette, which people with any kind of color vision can tell apart. A memory category has
// the color of the work that fills it: activations as forward, gradients as backward.
constexpr std::string_view style = R"(
text { font: 12px "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #222 }
text.title { font-size: 18px; font-weight: bold }
text.heading { font-weight: bold }
text.small { font-size: 10px; fill: #444 }
text.box { font-size: 11px; fill: #000; pointer-events: none }
.page { fill: #fff }
.idle { fill: url(#idle) }
.boxes rect { stroke: #fff; stroke-width: .6 }
.forward, .activations { fill: #56b4e9 }
.backward, .gradients { fill: #e69f00 }
.optimizer, .optimizer-states { fill: #009e73 }
.compute, .workspace { fill: #f0e442 }
.send, .parameters { fill: #0072b2 }
.receive, .communication-buffers { fill: #cc79a7 }
.step { fill: #e4e4e4; stroke: #888; stroke-width: .6 }
.row { fill: #f7f7f7 }
.grid { stroke: #000; stroke-opacity: .18 }
.axis { stroke: #444 }
.budget { stroke: #d55e00; stroke-width: 1.5; stroke-dasharray: 6 3 }
)";

constexpr std::string_view pipeline_style = ".message { fill: none; stroke: #0072b2; stroke-width: .9 }\n";

// A collective is a tint of the messages it consists of, which are drawn over it.
constexpr std::string_view communication_style = ".communication { fill: #ecd0e0 }\n";

constexpr double label_margin = 124.0;  // for the devices' names and the scale of the memory
constexpr double note_margin = 112.0;   // for idle shares and peaks
constexpr double widest = 2400.0;
constexpr double axis_height = 44.0;
constexpr double tick_distance = 100.0;  // at least

/// The end of the last thing recorded; negative when nothing is.
double last_time(std::span<const RankTrace> traces)
{
    double last = -1.0;
    for (const RankTrace& trace : traces) {
        for (const Event& event : trace.events) last = std::max(last, event.end);
        for (const MemorySample& sample : trace.memory) last = std::max(last, sample.time);
    }
    return last;
}

Span window_of(const PictureOptions& options, double last)
{
    check(options.begin >= 0.0 && options.end > options.begin,
          "a picture from {} to {} seconds: expected 0 or more, and an end after the begin", options.begin,
          options.end);
    check(options.begin < last || (options.begin == 0.0 && last <= 0.0),
          "a picture from {} seconds on shows nothing: the trace ends at {}", options.begin, last);
    if (last <= 0.0) return {0.0, 1e-6};
    return {options.begin, std::min(options.end, last)};
}

struct TimeUnit {
    const char* name;
    double seconds;
};

TimeUnit unit_for(double seconds)
{
    constexpr std::array<TimeUnit, 4> units{{{"s", 1.0}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}}};
    const auto fits = std::ranges::find_if(
        units, [seconds](const TimeUnit& unit) { return seconds >= 2.0 * unit.seconds; });
    return fits == units.end() ? units.back() : *fits;
}

/// 1, 2 or 5 times a power of ten: the smallest that is at least `least`.
double round_step(double least)
{
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least) return factor * power;
    return 10.0 * power;
}

/// The multiples of a round step that lie in the window, in the unit given.
std::vector<double> round_times(const Frame& frame, const TimeUnit& unit)
{
    const double step = round_step(tick_distance * frame.seconds_per_pixel() / unit.seconds);
    std::vector<double> times;
    const auto first = static_cast<std::int64_t>(std::ceil(frame.window.begin / unit.seconds / step));
    for (std::int64_t k = first; static_cast<double>(k) * step * unit.seconds <= frame.window.end; ++k)
        times.push_back(static_cast<double>(k) * step);
    return times;
}

/// The scale of virtual time below `y`.
void draw_axis(Canvas& canvas, const Frame& frame, double y)
{
    const TimeUnit unit = unit_for(frame.window.end);
    canvas.open("");
    for (const double time : round_times(frame, unit)) {
        const double x = frame.x(time * unit.seconds);
        canvas.line(x, y, x, y + 4.0, "axis");
        canvas.text(x, y + 16.0, fmt::format("{:.10g}", time), "small", Anchor::middle);
    }
    canvas.line(frame.left, y, frame.right, y, "axis");
    canvas.text(frame.right + 8.0, y + 16.0, fmt::format("{} of virtual time", unit.name), "small");
    canvas.close();
}

std::string title_of(const PictureOptions& options, std::size_t devices)
{
    if (!options.title.empty()) return options.title;
    return fmt::format("Timeline of {} device{}", devices, devices == 1 ? "" : "s");
}

/// By rank; of several pipelines one after the other.
std::vector<RankTrace> in_rows(std::span<const RankTrace> traces, const Pipeline& pipeline)
{
    std::vector<RankTrace> sorted(traces.begin(), traces.end());
    std::ranges::stable_sort(sorted, {}, [&pipeline](const RankTrace& trace) {
        return std::pair(pipeline.exists() ? pipeline.replica(trace.rank) : 0, trace.rank);
    });
    return sorted;
}

std::string style_of(std::span<const RankTrace> traces, const Pipeline& pipeline)
{
    std::string all(style);
    if (has_communication(traces)) all += communication_style;
    if (pipeline.exists()) all.append(pipeline_style).append(chunk_styles(pipeline));
    return all;
}

/// A pipeline's picture is as wide as its micro-batches' numbers need, within reason.
double width_of(const PictureOptions& options, std::span<const RankTrace> traces, const Pipeline& pipeline,
                double last)
{
    const double least = options.width;
    if (!pipeline.exists() || last <= 0.0) return least;
    const std::optional<TypicalPass> pass = typical_pass(traces);
    if (!pass) return least;
    const Span window = window_of(options, last);
    const double needed = std::ceil((window.end - window.begin) / pass->seconds * pass->pixels * 1.01) +
                          label_margin + note_margin;
    return std::max(least, std::min(needed, widest));
}

}  // namespace

double Frame::x(double time) const
{
    return left + (std::clamp(time, window.begin, window.end) - window.begin) / seconds_per_pixel();
}

void draw_grid(Canvas& canvas, const Frame& frame, double top, double bottom)
{
    const TimeUnit unit = unit_for(frame.window.end);
    canvas.open("");
    for (const double time : round_times(frame, unit)) {
        const double x = frame.x(time * unit.seconds);
        canvas.line(x, top, x, bottom, "grid");
    }
    canvas.close();
}

RowSizes row_sizes(std::size_t devices)
{
    if (devices <= 1) return {60.0, 8.0, 180.0, 10.0};
    if (devices <= 4) return {40.0, 7.0, 90.0, 10.0};
    if (devices <= 8) return {28.0, 5.0, 56.0, 8.0};
    if (devices <= 16) return {20.0, 4.0, 34.0, 6.0};
    return {15.0, 3.0, 24.0, 4.0};
}

double text_width(const std::string& text, double font_size)
{
    // DejaVu Sans is the widest of the fonts named: 0.64 em for a digit, less for most letters.
    const auto continues = [](unsigned char c) { return (c & 0xc0) == 0x80; };
    const auto letters =
        static_cast<double>(text.size()) - static_cast<double>(std::ranges::count_if(text, continues));
    return 0.65 * font_size * letters;
}

void draw_legend(Canvas& canvas, double x, double y,
                 std::span<const std::pair<std::string, std::string>> entries)
{
    canvas.open("");
    for (const auto& [style_class, text] : entries) {
        if (style_class == "budget")
            canvas.line(x, y + 6.0, x + 18.0, y + 6.0, style_class);
        else
            canvas.rectangle({x, y, 18.0, 12.0}, style_class);
        canvas.text(x + 24.0, y + 10.5, text, "");
        x += text.empty() ? 20.0 : 44.0 + text_width(text, 11.0);
    }
    canvas.close();
}

std::string svg_timeline(std::span<const RankTrace> traces, const PictureOptions& options, bool idle_shares)
{
    check(options.width >= 600, "a picture {} pixels wide: expected 600 at least", options.width);
    check_times(traces);
    const std::string title = title_of(options, traces.size());
    const View view{pipeline_of(traces, options), options.memory_counts, idle_shares};
    const double last = last_time(traces);
    const double width = width_of(options, traces, view.pipeline, last);
    Canvas canvas(title, style_of(traces, view.pipeline));
    canvas.hatch("idle", "#f0f0f0", "#b8b8b8");
    canvas.text(16.0, 30.0, title, "title");

    double y = 48.0;
    if (last < 0.0) {
        canvas.text(16.0, y + 12.0, "nothing was recorded", "");
        y += 24.0;
    } else {
        const std::vector<RankTrace> sorted = in_rows(traces, view.pipeline);
        const Frame frame{window_of(options, last), label_margin, width - note_margin};
        for (const auto draw : {draw_timeline, draw_memory}) {
            const double bottom = draw(canvas, frame, sorted, view, y);
            if (bottom == y) continue;
            draw_axis(canvas, frame, bottom);
            y = bottom + axis_height;
        }
    }
    return canvas.finish(width, y);
}

void write_svg_timeline(const std::string& path, std::span<const RankTrace> traces,
                        const PictureOptions& options)
{
    write_text(path, svg_timeline(traces, options));
}

}  // namespace shardlings
