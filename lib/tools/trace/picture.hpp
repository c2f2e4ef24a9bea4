// What the parts of the picture share: where things go, and the parts themselves.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/tools/trace/svg.hpp"
#include "lib/tools/trace/timeline.hpp"
#include "lib/tools/trace/trace.hpp"

namespace shardlings {

/// Virtual time from left to right: window.begin at pixel `left`, window.end at `right`.
struct Frame {
    Span window;
    double left;
    double right;

    double seconds_per_pixel() const { return (window.end - window.begin) / (right - left); }
    /// Clamped to the frame.
    double x(double time) const;
    bool shows(double begin, double end) const { return end > window.begin && begin < window.end; }
};

/// Heights of a device's rows, in pixels: smaller the more devices there are.
struct RowSizes {
    double compute;  // the boxes
    double lane;     // one lane of messages
    double memory;   // the stacked areas
    double gap;      // below a row
};
RowSizes row_sizes(std::size_t devices);

/// Colored squares with what they stand for, from (x, y) to the right: class of the style sheet, text.
void draw_legend(Canvas& canvas, double x, double y,
                 std::span<const std::pair<std::string, std::string>> entries);

/// Lines at the round times from `top` to `bottom`.
void draw_grid(Canvas& canvas, const Frame& frame, double top, double bottom);

/// Rows of boxes from `y` down, with their legend; returns where they end.
double draw_timeline(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, double y);

/// Rows of stacked areas from `y` down, with their heading and legend; returns where they end.
double draw_memory(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, double y);

/// Width of text in pixels, on the safe side for the sans-serif fonts of the style sheet.
double text_width(const std::string& text, double font_size);

}  // namespace shardlings
