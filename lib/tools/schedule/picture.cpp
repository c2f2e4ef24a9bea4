#include "lib/tools/schedule/picture.hpp"

#include <algorithm>

namespace shardlings {

namespace {

using pipeline::Action;
using pipeline::Instruction;

constexpr int picture_width = 800;  // pixels, at least: wide enough for the legend

/// What one stage records, instruction by instruction.
class StageTrace {
  public:
    StageTrace(const pipeline::Schedule& schedule, std::size_t stage, double message)
        : schedule_(schedule), message_(message)
    {
        trace_.rank = static_cast<int>(stage);
    }

    void add(const Instruction& instruction, const pipeline::Span& span)
    {
        if (is_send(instruction.action))
            add_send(instruction, span.begin);
        else if (is_receive(instruction.action))
            add_event("receive", instruction, span.begin, span.end, neighbour(instruction));
        else
            add_pass(instruction, span);
    }

    RankTrace take() { return std::move(trace_); }

  private:
    /// The link carries one message after the other.
    void add_send(const Instruction& instruction, double ready)
    {
        const double begin = std::max(ready, link_free_);
        link_free_ = begin + message_;
        add_event("send", instruction, begin, link_free_, neighbour(instruction));
    }

    void add_pass(const Instruction& instruction, const pipeline::Span& span)
    {
        const bool forward = instruction.action == Action::forward;
        add_event(forward ? "forward" : "backward", instruction, span.begin, span.end, -1);
        trace_.memory.push_back({forward ? span.begin : span.end, Category::activations, forward ? 1 : -1});
    }

    void add_event(const char* kind, const Instruction& instruction, double begin, double end, int peer)
    {
        Event event{kind, kind, begin, end, 0.0, 0, peer, instruction.micro_batch};
        if (schedule_.chunks > 1 && peer < 0) event.chunk = instruction.chunk;
        trace_.events.push_back(std::move(event));
    }

    /// To or from whom the message goes: the stages form a ring when a model passes them several times.
    int neighbour(const Instruction& instruction) const
    {
        const bool behind =
            instruction.action == Action::send_activation || instruction.action == Action::receive_gradient;
        return (trace_.rank + (behind ? 1 : schedule_.stages - 1)) % schedule_.stages;
    }

    const pipeline::Schedule& schedule_;
    double message_;
    double link_free_ = 0.0;
    RankTrace trace_;
};

}  // namespace

std::vector<RankTrace> schedule_traces(const pipeline::Schedule& schedule,
                                       const std::vector<std::vector<pipeline::Span>>& spans,
                                       const pipeline::PassCosts& costs)
{
    std::vector<RankTrace> traces;
    for (std::size_t stage = 0; stage < spans.size(); ++stage) {
        StageTrace trace(schedule, stage, costs.message);
        for (std::size_t i = 0; i < spans[stage].size(); ++i)
            trace.add(schedule.programs[stage][i], spans[stage][i]);
        traces.push_back(trace.take());
    }
    return traces;
}

void write_schedule_picture(const std::string& path, const std::string& title,
                            const pipeline::Schedule& schedule,
                            const std::vector<std::vector<pipeline::Span>>& spans,
                            const pipeline::PassCosts& costs)
{
    PictureOptions options;
    options.title = title;
    options.width = picture_width;
    options.stages = schedule.stages;
    options.memory_counts =
        schedule.chunks > 1 ? "chunks of micro-batches in flight" : "micro-batches in flight";
    write_svg_timeline(path, schedule_traces(schedule, spans, costs), options);
}

}  // namespace shardlings
