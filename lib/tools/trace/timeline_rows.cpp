// The upper part of the picture: what each device did when.
#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/tools/trace/lane.hpp"
#include "lib/tools/trace/picture.hpp"

namespace shardlings {

namespace {

constexpr double least_pipeline_gap = 12.0;        // pixels: room for the lines of messages
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
    DeviceRow(Canvas& canvas, const Frame& frame, const DeviceWork& work, const RowPlan& plan,
              const View& view, double top)
        : canvas_(canvas), frame_(frame), work_(work), plan_(plan), view_(view), top_(top)
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
        canvas_.text(16.0, middle, view_.pipeline.name_of(work_.trace.rank), view_.pipeline.name_class());
        if (!view_.idle_shares) return;
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
    const View& view_;
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

using Keys = std::vector<std::pair<std::string, std::string>>;

/// The shades of the last key's later chunks, with its text at the last one.
void add_chunks(Keys& keys, int chunks)
{
    if (chunks == 1) return;
    const std::string text = std::exchange(keys.back().second, "");
    const std::string pass = keys.back().first;
    for (int chunk = 1; chunk < chunks; ++chunk) keys.emplace_back(fmt::format("{} c{}", pass, chunk), "");
    keys.back().second = fmt::format("{}, chunk 0 to {}", text, chunks - 1);
}

void draw_keys(Canvas& canvas, double left, double y, std::span<const RankTrace> traces,
               std::span<const DeviceWork> devices, const Pipeline& pipeline)
{
    Keys keys;
    for (const Work work : {Work::forward, Work::backward, Work::optimizer, Work::compute}) {
        if (std::ranges::none_of(devices, [work](const DeviceWork& device) {
                return std::ranges::find(device.compute, work, &Box::work) != device.compute.end();
            }))
            continue;
        keys.emplace_back(name_of(work), work == Work::compute ? "other compute" : name_of(work));
        if (work == Work::forward || work == Work::backward) add_chunks(keys, pipeline.chunks);
    }
    for (const Work work : {Work::send, Work::receive})
        if (any(traces, work) && !(pipeline.exists() && work == Work::receive))
            keys.emplace_back(name_of(work), name_of(work));
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

/// Whether more than half of the modules inside micro-batches have room for their names.
bool modules_are_readable(const Frame& frame, std::span<const DeviceWork> devices)
{
    int fitting = 0;
    for (const DeviceWork& device : devices)
        for (const Box& box : device.compute)
            if (box.depth == 1) fitting += Lane::fits(frame, box) ? 1 : -1;
    return fitting > 0;
}

RowPlan plan_of(const Frame& frame, std::span<const RankTrace> traces, std::span<const DeviceWork> devices,
                const Pipeline& pipeline)
{
    const RowSizes sizes = row_sizes(traces.size());
    RowPlan plan;
    int levels = levels_of(devices, &DeviceWork::compute, sizes.compute / level_height);
    if (pipeline.exists() && !modules_are_readable(frame, devices)) levels = 1;
    plan.compute = {0.0, sizes.compute, levels};
    double bottom = sizes.compute;
    if (any_message(traces, Stream::compute) && !pipeline.exists()) {
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
    plan.distance = bottom + (pipeline.exists() ? std::max(sizes.gap, least_pipeline_gap) : sizes.gap);
    return plan;
}

}  // namespace

double draw_timeline(Canvas& canvas, const Frame& frame, std::span<const RankTrace> traces, const View& view,
                     double y)
{
    if (std::ranges::all_of(traces, [](const RankTrace& trace) { return trace.events.empty(); })) return y;
    const std::vector<DeviceWork> devices(traces.begin(), traces.end());
    const Pipeline& pipeline = view.pipeline;
    draw_keys(canvas, frame.left, y, traces, devices, pipeline);
    double top = draw_steps(canvas, frame, traces, y + 22.0);
    if (pipeline.exists()) top += least_pipeline_gap / 2.0;

    const RowPlan plan = plan_of(frame, traces, devices, pipeline);
    StageRows stage_rows{traces, {}, plan.compute.height};
    std::vector<DeviceRow> rows;
    double bottom = top;
    for (const DeviceWork& device : devices) {
        rows.emplace_back(canvas, frame, device, plan, view, bottom).draw();
        stage_rows.tops.push_back(bottom);
        bottom += plan.distance;
    }
    draw_grid(canvas, frame, top, bottom);
    if (pipeline.exists()) draw_sends(canvas, frame, pipeline, stage_rows);
    for (DeviceRow& row : rows) row.draw_labels();
    return bottom;
}

}  // namespace shardlings
