#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "lib/machine/base/units.hpp"
#include "lib/tools/plan/parts.hpp"
#include "lib/tools/plan/report.hpp"
#include "lib/tools/plan/text.hpp"
#include "lib/tools/trace/svg.hpp"

namespace shardlings::plan {

namespace {

// Pixels.
constexpr double margin = 16.0;
constexpr double label = 290.0;
constexpr double bars = 380.0;    // the longest bar of either kind
constexpr double numbers = 80.0;  // behind a bar
constexpr double top = 66.0;
constexpr double row_height = 40.0;
constexpr double bar_height = 22.0;
constexpr double legend_line = 20.0;
constexpr double memory_left = margin + label + bars + numbers;

constexpr const char* style = R"(
text { font: 12px sans-serif; fill: #222 }
.title { font-weight: bold; font-size: 14px }
.small { font-size: 11px; fill: #444 }
.page { fill: #fff }
.time0 { fill: #2b6cb0 } .time1 { fill: #90cdf4 } .time2 { fill: #2f855a } .time3 { fill: #9ae6b4 }
.time4 { fill: #cbd5e0 } .time5 { fill: #b5432e } .time6 { fill: #d69e2e }
.memory0 { fill: #2b6cb0 } .memory1 { fill: #63b3ed } .memory2 { fill: #d69e2e } .memory3 { fill: #2f855a }
.memory4 { fill: #9ae6b4 } .memory5 { fill: #805ad5 }
.limit { stroke: #b5432e; stroke-width: 1.5; stroke-dasharray: 4 3 }
)";

/// A bar of parts from the left on, `width` pixels a unit.
template <class Parts, class Text>
double draw_bar(Canvas& canvas, double x, double y, double scale, const char* kind, const Parts& parts,
                Text text_of_part)
{
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double width = parts[i].second * scale;
        if (width > 0.0)
            canvas.rectangle({x, y, width, bar_height}, fmt::format("{}{}", kind, i),
                             fmt::format("{}: {}", parts[i].first, text_of_part(parts[i].second)));
        x += width;
    }
    return x;
}

template <class Parts>
void draw_legend(Canvas& canvas, double x, double y, const char* kind, const Parts& parts)
{
    for (std::size_t i = 0; i < parts.size(); ++i, y += legend_line) {
        canvas.rectangle({x, y - 10.0, 12.0, 12.0}, fmt::format("{}{}", kind, i));
        canvas.text(x + 18.0, y, std::string(parts[i].first), "");
    }
}

std::string details_of(const Split& s)
{
    std::string text =
        fmt::format("ZeRO {}, b {}, recompute {}", s.zero, s.micro_batch, name_of(s.recompute));
    if (s.sequence_parallel) text += ", SP";
    if (s.virtual_stages > 1) text += fmt::format(", {} chunks", s.virtual_stages);
    return text;
}

}  // namespace

std::string plan_picture(const Run& run, const Cluster& cluster, const Plan& plan, std::size_t rows)
{
    const std::size_t count = std::min(rows, plan.best.size());
    const std::string title = fmt::format("{} on {} {}, batch {}: step time and memory of the fullest device",
                                          run.model.name, cluster.devices, cluster.name, run.batch);
    double longest = 0.0;
    for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, plan.best[i].seconds());
    Canvas canvas(title, style);
    canvas.text(margin, margin + 12.0, title, "title");
    canvas.text(memory_left, top - 16.0, fmt::format("a device has {}", with_prefix(cluster.memory, "B")),
                "small");
    const double bottom = top + static_cast<double>(count) * row_height;
    for (std::size_t i = 0; i < count; ++i) {
        const Planned& layout = plan.best[i];
        const Split& s = layout.split;
        const double y = top + static_cast<double>(i) * row_height;
        canvas.text(margin, y + 10.0, fmt::format("pp {}, dp {}, tp {}", s.pp, s.dp, s.tp), "");
        canvas.text(margin, y + 24.0, details_of(s), "small");
        const double end = draw_bar(canvas, margin + label, y, bars / longest, "time", parts_of(layout.time),
                                    [](double seconds) { return format_seconds(seconds); });
        canvas.text(end + 6.0, y + 15.0, format_seconds(layout.seconds()), "");
        draw_bar(canvas, memory_left, y, bars / cluster.memory, "memory", parts_of(layout.memory),
                 [](double bytes) { return with_prefix(bytes, "B"); });
        // Behind the limit, which a number beside the bar might lie on.
        canvas.text(memory_left + bars + 8.0, y + 15.0, with_prefix(layout.memory.total(), "B"), "");
    }
    canvas.line(memory_left + bars, top - 10.0, memory_left + bars, bottom - 8.0, "limit");
    draw_legend(canvas, margin + label, bottom + 18.0, "time", parts_of(StepTime{}));
    draw_legend(canvas, memory_left, bottom + 18.0, "memory", parts_of(Memory{}));
    return canvas.finish(memory_left + bars + numbers + margin, bottom + 18.0 + 7.0 * legend_line);
}

}  // namespace shardlings::plan
