// What the parts of the picture share: where things go, and the parts themselves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// The pipeline that the devices are, if they are one: ranks of stage s are s R … s R + R − 1.
struct Pipeline {
    int stages = 0;    // P; 0: there is none
    int replicas = 1;  // R = data-parallel times tensor-parallel ranks of a stage
    int tensor = 1;    // of them tensor-parallel, next to each other
    int chunks = 1;    // of a stage

    bool exists() const { return stages > 0; }
    int stage(int rank) const { return rank / replicas; }
    int replica(int rank) const { return rank % replicas; }
    /// "device 3"; of a pipeline "stage 3", or "stage 3, dp 1", "stage 3, tp 1", "3, dp 1, tp 0" when
    /// there are several.
    std::string name_of(int rank) const;
    /// The class of the style sheet with which that fits beside the scale.
    std::string_view name_class() const { return exists() && replicas > 1 ? "small" : ""; }
};
/// Error when the devices are no multiple of the stages.
Pipeline pipeline_of(std::span<const RankTrace> traces, const PictureOptions& options);

/// Lines of the style sheet for the shades of later chunks: classes "c1", "c2", …
std::string chunk_styles(const Pipeline& pipeline);

/// Seconds that the median forward pass of a micro-batch takes, and the pixels that its number needs.
struct TypicalPass {
    double seconds;
    double pixels;
};
/// Nothing when no micro-batch is numbered.
std::optional<TypicalPass> typical_pass(std::span<const RankTrace> traces);

/// The rows of a pipeline's stages: tops of their boxes in pixels, by row.
struct StageRows {
    std::span<const RankTrace> traces;
    std::vector<double> tops;
    double height;
};
/// The messages between stages of a replica: a line from the sender's row when it leaves to the receiver's
/// when it arrives, if they are next to each other; else a mark at either.
void draw_sends(Canvas& canvas, const Frame& frame, const Pipeline& pipeline, const StageRows& rows);

/// Heights of a device's rows, in pixels: smaller the more devices there are.
struct RowSizes {
    double compute;  // the boxes
    double lane;     // one lane of messages
    double memory;   // the stacked areas
    double gap;      // below a row
};
RowSizes row_sizes(std::size_t devices);

/// Colored squares with what they stand for, from (x, y) to the right: class of the style sheet, text. One
/// without a text belongs to the next.
void draw_legend(Canvas& canvas, double x, double y,
                 std::span<const std::pair<std::string, std::string>> entries);

/// Lines at the round times from `top` to `bottom`.
void draw_grid(Canvas& canvas, const Frame& frame, double top, double bottom);

/// How the rows are to be read.
struct View {
    Pipeline pipeline;
    std::string memory_counts;  // as PictureOptions
    bool idle_shares = true;
};

/// Rows of boxes from `y` down, with their legend; returns where they end.
double draw_timeline(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, const View& view,
                     double y);

/// Rows of stacked areas from `y` down, with their heading and legend; returns where they end.
double draw_memory(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, const View& view,
                   double y);

/// What write_svg_timeline() writes. `idle_shares`: say beside each row how much of the window is idle.
std::string svg_timeline(std::span<const RankTrace> traces, const PictureOptions& options,
                         bool idle_shares = true);

/// Width of text in pixels, on the safe side for the sans-serif fonts of the style sheet.
double text_width(const std::string& text, double font_size);

}  // namespace shardlings
