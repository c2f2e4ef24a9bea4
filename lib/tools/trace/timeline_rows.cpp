// The upper part of the picture: what each device did when.
#include <algorithm>
#include <cmath>

#include "lib/tools/trace/lane.hpp"
#include "lib/tools/trace/picture.hpp"

namespace shardlings {

namespace {

constexpr double most_communication_levels = 2.0;  // a collective and its phases, as far as devices are few

/// A device's events as its lanes show them.
struct DeviceWork {
    explicit DeviceWork(const RankTrace& of)
        : trace(of),
          compute(compute_boxes(of.events)),
          waits(named_waits(of.events)),
          communication(communication_boxes(of.events))
    {
    }

    const RankTrace& trace;
    std::vector<Box> compute;
    std::vector<Box> waits;
    std::vector<Box> communication;
};

/// Where the lanes lie in every device's row, from its top; one of no height is not there.
struct RowPlan {
    LaneShape compute{};
    LaneShape send{};
    LaneShape receive{};
    LaneShape communication{};
    double distance = 0.0;  // to the next row
};

class DeviceRow {
  public:
    DeviceRow(Canvas& canvas, const Frame& frame, const DeviceWork& work, const RowPlan& plan, double top)
        : canvas_(canvas), frame_(frame), work_(work), plan_(plan), top_(top)
    {
    }

    void draw()
    {
        Lane compute = lane(plan_.compute);
        compute.fill("idle");
        compute.draw(work_.compute);
        compute.hatch(waits_outside_collectives(work_.trace.events));
        compute.draw_waits(work_.waits);
        draw_notes();
        if (plan_.send.height > 0.0) {
            draw_messages(plan_.send, Work::send);
            draw_messages(plan_.receive, Work::receive);
        }
        if (plan_.communication.height > 0.0) draw_communication();
    }

    void draw_labels()
    {
        lane(plan_.compute).label(work_.compute, work_.waits);
        if (plan_.communication.height > 0.0) lane(plan_.communication).label(work_.communication, {});
    }

  private:
    Lane lane(LaneShape shape) const
    {
        shape.top += top_;
        return Lane(canvas_, frame_, shape);
    }

    void draw_notes()
    {
        const double middle = top_ + plan_.compute.height / 2.0 + 4.0;
        canvas_.text(16.0, middle, fmt::format("device {}", work_.trace.rank), "");
        const double all = frame_.window.end - frame_.window.begin;
        const double idle = 1.0 - seconds_within(busy_spans(work_.trace.events), frame_.window) / all;
        canvas_.text(frame_.right + 8.0, middle, fmt::format("idle {:.1f} %", 100.0 * std::abs(idle)),
                     "small");
    }

    void draw_messages(const LaneShape& shape, Work work)
    {
        Lane messages = lane(shape);
        messages.fill("row");
        messages.draw(boxes_of(work_.trace.events, work, Stream::compute));
    }

    /// The collectives, and on their foot what they consist of: sends, and below them receives and waits.
    void draw_communication()
    {
        const LaneShape& shape = plan_.communication;
        Lane collectives = lane(shape);
        collectives.fill("row");
        collectives.draw(work_.communication);
        const double mark = shape.foot / 2.0;
        const double receives = shape.top + shape.height - mark;
        const auto draw_marks = [this, mark](Work work, double top) {
            lane({top, mark}).draw(boxes_of(work_.trace.events, work, Stream::communication));
        };
        draw_marks(Work::send, receives - mark);
        draw_marks(Work::receive, receives);
        draw_marks(Work::wait, receives);
        canvas_.text(16.0, top_ + shape.top + shape.height / 2.0 + 3.5, "communication", "small");
    }

    Canvas& canvas_;
    const Frame& frame_;
    const DeviceWork& work_;
    const RowPlan& plan_;
    double top_;
};

template <class Choose>
bool any(std::span<const RankTrace> traces, Choose choose)
{
    return std::ranges::any_of(
        traces, [&choose](const RankTrace& trace) { return std::ranges::any_of(trace.events, choose); });
}

bool any(std::span<const RankTrace> traces, Work work)
{
    return any(traces, [work](const Event& event) { return work_of(event) == work; });
}

bool any_message(std::span<const RankTrace> traces, Stream stream)
{
    return any(traces, [stream](const Event& event) {
        const Work work = work_of(event);
        return event.stream == stream && (work == Work::send || work == Work::receive);
    });
}

void draw_keys(Canvas& canvas, double left, double y, std::span<const RankTrace> traces,
               std::span<const DeviceWork> devices)
{
    std::vector<std::pair<std::string, std::string>> keys;
    for (const Work work : {Work::forward, Work::backward, Work::optimizer, Work::compute})
        if (std::ranges::any_of(devices, [work](const DeviceWork& device) {
                return std::ranges::find(device.compute, work, &Box::work) != device.compute.end();
            }))
            keys.emplace_back(name_of(work), work == Work::compute ? "other compute" : name_of(work));
    for (const Work work : {Work::send, Work::receive})
        if (any(traces, work)) keys.emplace_back(name_of(work), name_of(work));
    if (has_communication(traces))
        keys.emplace_back(name_of(Work::communication),
                          has_communication_stream(traces) ? "communication stream" : "communication");
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
    for (const Box& box : boxes_of(stepping->events, Work::step, Stream::compute)) {
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

/// How many levels show the most deeply nested box, `most` at most.
int levels_of(std::span<const DeviceWork> devices, std::vector<Box> DeviceWork::*boxes, double most)
{
    int depth = 0;
    for (const DeviceWork& device : devices)
        for (const Box& box : device.*boxes) depth = std::max(depth, box.depth);
    return std::clamp(depth + 1, 1, static_cast<int>(most));
}

RowPlan plan_of(std::span<const RankTrace> traces, std::span<const DeviceWork> devices)
{
    const RowSizes sizes = row_sizes(traces.size());
    RowPlan plan;
    const int levels = levels_of(devices, &DeviceWork::compute, sizes.compute / level_height);
    plan.compute = {0.0, sizes.compute, levels};
    double bottom = sizes.compute;
    if (any_message(traces, Stream::compute)) {
        plan.send = {bottom + 1.0, sizes.lane};
        plan.receive = {bottom + sizes.lane + 2.0, sizes.lane};
        bottom += 2.0 * (sizes.lane + 1.0);
    }
    if (has_communication_stream(traces)) {
        const int nested = levels_of(devices, &DeviceWork::communication,
                                     std::min(most_communication_levels, sizes.compute / level_height));
        const double foot = 2.0 * sizes.lane;
        plan.communication = {bottom + 1.0, level_height * nested + foot, nested, foot};
        bottom += 1.0 + plan.communication.height;
    }
    plan.distance = bottom + sizes.gap;
    return plan;
}

}  // namespace

double draw_timeline(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, double y)
{
    if (std::ranges::all_of(traces, [](const RankTrace& trace) { return trace.events.empty(); })) return y;
    const std::vector<DeviceWork> devices(traces.begin(), traces.end());
    draw_keys(canvas, frame.left, y, traces, devices);
    const double top = draw_steps(canvas, frame, traces, y + 22.0);

    const RowPlan plan = plan_of(traces, devices);
    std::vector<DeviceRow> rows;
    double bottom = top;
    for (const DeviceWork& device : devices) {
        rows.emplace_back(canvas, frame, device, plan, bottom).draw();
        bottom += plan.distance;
    }
    draw_grid(canvas, frame, top, bottom);
    for (DeviceRow& row : rows) row.draw_labels();
    return bottom;
}

}  // namespace shardlings
