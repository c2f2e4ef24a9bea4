// One lane of the picture: boxes over virtual time in levels, outer ones above, and their labels.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/tools/trace/picture.hpp"
#include "lib/tools/trace/timeline.hpp"

namespace shardlings {

inline constexpr double narrow = 3.0;         // pixels: narrower boxes have neither border, hint nor label
inline constexpr double label_size = 11.0;    // text.box of the style sheet
inline constexpr double label_padding = 4.0;  // pixels around a label, together
inline constexpr double level_height = 15.0;  // the least that holds a label

/// Name, micro-batch, peer, bytes and times of an event: what is shown while the pointer rests on its box.
std::string hint_of(const Event& event);

/// Pixels. The levels share the height above the foot.
struct LaneShape {
    double top;
    double height;
    int levels = 1;
    double foot = 0.0;  // kept free of labels, for marks over the boxes
};

class Lane {
  public:
    Lane(Canvas& canvas, const Frame& frame, const LaneShape& shape)
        : canvas_(&canvas), frame_(&frame), shape_(shape)
    {
    }

    /// The whole lane in the color of a class of the style sheet.
    void fill(std::string_view style_class);

    /// Each box reaches down to the bottom, under those inside it. Neighbours too narrow to draw one by one
    /// become columns of a pixel in the color of the work that takes most of it.
    void draw(const std::vector<Box>& boxes);

    /// Idle time over what is drawn already.
    void hatch(std::span<const Span> idle);

    /// Waits with what they wait for, over the hatching.
    void draw_waits(const std::vector<Box>& waits);

    /// Whether the box has room for a label.
    static bool fits(const Frame& frame, const Box& box);

    /// What stands in the boxes and waits, where it fits. Micro-batches are all numbered or none.
    void label(const std::vector<Box>& boxes, const std::vector<Box>& waits);

  private:
    double top_of(int level) const;
    double width_of(const Box& box) const;
    double middle_of(const Box& box) const;
    bool draws(const Box& box) const;
    void draw_level(const std::vector<Box>& boxes, int level);
    std::string fitting_label(const Box& box, double number_width) const;

    Canvas* canvas_;
    const Frame* frame_;
    LaneShape shape_;
};

}  // namespace shardlings
