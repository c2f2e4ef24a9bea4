// What the picture of a pipeline has beyond that of other devices.
#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/base/error.hpp"
#include "lib/tools/trace/lane.hpp"
#include "lib/tools/trace/picture.hpp"

namespace shardlings {

namespace {

constexpr double mark_length = 5.0;  // pixels, of a send to a row further off
constexpr double lightest = 0.6;     // how far the last chunk's color goes towards white

using Color = std::array<int, 3>;
constexpr Color forward_color{0x56, 0xb4, 0xe9};  // as in the style sheet
constexpr Color backward_color{0xe6, 0x9f, 0x00};

std::string towards_white(const Color& color, double share)
{
    const auto mix = [share](int part) { return static_cast<int>(std::lround(part + (255 - part) * share)); };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(color[0]), mix(color[1]), mix(color[2]));
}

/// One send as pieces of a path.
class SendLine {
  public:
    SendLine(const Frame& frame, const StageRows& rows) : frame_(frame), rows_(rows) {}

    std::string between(std::size_t from, std::size_t to, const Event& send) const
    {
        const double left = frame_.x(send.begin);
        const double right = frame_.x(send.end);
        if (to == from + 1) return line(left, bottom(from), right, rows_.tops[to]);
        if (from == to + 1) return line(left, rows_.tops[from], right, bottom(to));
        // The last stage sends to the first, where the model goes on, or the other way round.
        const double away = from > to ? mark_length : -mark_length;
        const double leaves = from > to ? bottom(from) : rows_.tops[from];
        const double arrives = from > to ? rows_.tops[to] : bottom(to);
        return line(left, leaves, left, leaves + away) + line(right, arrives - away, right, arrives);
    }

  private:
    double bottom(std::size_t row) const { return rows_.tops[row] + rows_.height; }

    static std::string line(double x1, double y1, double x2, double y2)
    {
        return fmt::format("M{} {}L{} {}", pixels(x1), pixels(y1), pixels(x2), pixels(y2));
    }

    const Frame& frame_;
    const StageRows& rows_;
};

}  // namespace

std::string Pipeline::name_of(int rank) const
{
    if (!exists()) return fmt::format("device {}", rank);
    if (replicas == 1) return fmt::format("stage {}", rank);
    if (tensor == 1) return fmt::format("stage {}, dp {}", stage(rank), replica(rank));
    if (tensor == replicas) return fmt::format("stage {}, tp {}", stage(rank), replica(rank));
    return fmt::format("{}, dp {}, tp {}", stage(rank), replica(rank) / tensor, replica(rank) % tensor);
}

Pipeline pipeline_of(std::span<const RankTrace> traces, const PictureOptions& options)
{
    Pipeline pipeline;
    if (options.stages == 0) return pipeline;
    const int devices = static_cast<int>(traces.size());
    check(options.stages > 0 && devices % options.stages == 0,
          "a picture of {} pipeline stages on {} devices: expected a multiple", options.stages, devices);
    pipeline.stages = options.stages;
    pipeline.replicas = std::max(1, devices / options.stages);
    pipeline.tensor = options.tensor_ranks;
    for (const RankTrace& trace : traces)
        for (const Event& event : trace.events) pipeline.chunks = std::max(pipeline.chunks, event.chunk + 1);
    return pipeline;
}

std::string chunk_styles(const Pipeline& pipeline)
{
    std::string styles;
    for (int chunk = 1; chunk < pipeline.chunks; ++chunk) {
        const double share = lightest * chunk / (pipeline.chunks - 1);
        styles += fmt::format(".forward.c{0} {{ fill: {1} }}\n.backward.c{0} {{ fill: {2} }}\n", chunk,
                              towards_white(forward_color, share), towards_white(backward_color, share));
    }
    return styles;
}

std::optional<TypicalPass> typical_pass(std::span<const RankTrace> traces)
{
    std::vector<double> seconds;
    int largest = 0;
    for (const RankTrace& trace : traces)
        for (const Box& box : compute_boxes(trace.events)) {
            if (box.depth > 0 || box.event.micro_batch < 0 || box.work != Work::forward) continue;
            seconds.push_back(box.event.end - box.event.begin);
            largest = std::max(largest, box.event.micro_batch);
        }
    if (seconds.empty()) return {};
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::ranges::nth_element(seconds, middle);
    return TypicalPass{*middle, text_width(fmt::format("{}", largest), label_size) + label_padding};
}

void draw_sends(Canvas& canvas, const Frame& frame, const Pipeline& pipeline, const StageRows& rows)
{
    const SendLine line(frame, rows);
    std::string path;
    for (std::size_t from = 0; from < rows.traces.size(); ++from)
        for (const Event& event : rows.traces[from].events) {
            if (work_of(event) != Work::send || event.stream != Stream::compute) continue;
            if (event.begin < frame.window.begin || event.end > frame.window.end) continue;
            const auto to = std::ranges::find(rows.traces, event.peer, &RankTrace::rank);
            if (to == rows.traces.end() ||
                pipeline.replica(event.peer) != pipeline.replica(rows.traces[from].rank))
                continue;
            path += line.between(from, static_cast<std::size_t>(to - rows.traces.begin()), event);
        }
    if (!path.empty()) canvas.path(path, "message");
}

}  // namespace shardlings
