#include "lib/tools/agreement/activations.hpp"

#include <algorithm>
#include <deque>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/activations.hpp"
#include "lessons/10_counting/passes.hpp"
#include "lessons/10_counting/schedule.hpp"
#include "lessons/10_counting/walk.hpp"
#include "lib/tools/agreement/memory_walk.hpp"

using namespace counting;

namespace {

using pipeline::Action;

/// The modules of a chunk, walked through.
class Chunk {
  public:
    Chunk(MemoryWalk& walk, const ActivationSizes& sizes, const Job& job, int stage, int chunk,
          std::int64_t blocks)
        : walk_(walk),
          job_(job),
          blocks_(blocks),
          input_(sizes.outside),
          first_(stage == 0 && chunk == 0),
          last_(stage == job.layout.pp - 1 && chunk == job.layout.virtual_stages - 1)
    {
        Job kept = job;
        kept.recompute = Recompute::none;
        full_ = saved_by_block(kept);
        head_ = 2 * sizes.outside + sizes.statistics + sizes.logits + sizes.denominators;
    }

    void forward()
    {
        const bool by_block = job_.recompute == Recompute::full && job_.layout.pp == 1;
        const bool by_stage = job_.recompute == Recompute::full && job_.layout.pp > 1;
        if (first_) walk_.embedding_forward();
        for (std::int64_t i = 0; i < blocks_; ++i) {
            walk_.block_forward();
            // Behind the pass its input is the only thing that is kept, or nothing.
            if (by_block) walk_.drop(full_ - input_);
            if (by_stage) walk_.drop(full_ - (i == 0 && !first_ ? input_ : 0));
        }
        if (last_) walk_.head_forward();
        if (last_ && by_stage) walk_.drop(head_);
        if (last_ && job_.layout.pp > 1) walk_.drop(8);
    }
    void backward()
    {
        if (job_.recompute == Recompute::full && job_.layout.pp > 1) run_again();
        if (last_) walk_.drop(-8);
        if (last_) walk_.head_backward();
        for (std::int64_t i = 0; i < blocks_; ++i) {
            if (job_.recompute == Recompute::full && job_.layout.pp == 1) {
                walk_.block_forward();
                walk_.drop(input_);
            }
            walk_.block_backward();
        }
        if (first_) walk_.embedding_backward();
        if (last_ && job_.layout.pp == 1) walk_.drop(8);  // the loss
    }

  private:
    void run_again()
    {
        if (first_) walk_.embedding_forward();
        for (std::int64_t i = 0; i < blocks_; ++i) walk_.block_forward();
        if (last_) walk_.head_forward();
        walk_.drop(last_ ? 8 : input_);
    }

    MemoryWalk& walk_;
    const Job& job_;
    std::int64_t blocks_;
    std::int64_t full_;
    std::int64_t head_;
    std::int64_t input_;
    bool first_;
    bool last_;
};

StageSeconds seconds_of(const Job& job, const Topology& topology)
{
    StageSeconds seconds(static_cast<std::size_t>(job.layout.pp));
    for (int stage = 0; stage < job.layout.pp; ++stage)
        for (int chunk = 0; chunk < job.layout.virtual_stages; ++chunk)
            seconds[static_cast<std::size_t>(stage)].push_back(
                {forward_seconds(job, topology, stage, chunk).total(),
                 backward_seconds(job, topology, stage, chunk).total()});
    return seconds;
}

}  // namespace

std::int64_t counting::peak_activations(const Job& job, const Place& place, const Topology& topology,
                                        double patience)
{
    const double message = message_seconds(job, topology);
    const Layout& layout = job.layout;
    const ActivationSizes sizes(job, place);
    MemoryWalk walk(sizes);
    const std::vector<std::int64_t> blocks = pipeline::blocks_of(job.shape, layout);
    std::vector<Chunk> chunks;
    for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
        const int stage = chunk * layout.pp + place.stage;  // of the virtual ones
        chunks.emplace_back(walk, sizes, job, place.stage, chunk, blocks[static_cast<std::size_t>(stage)]);
    }
    const pipeline::Schedule schedule = schedule_of(job);
    const pipeline::Program& program = schedule.programs[static_cast<std::size_t>(place.stage)];
    const std::vector<pipeline::Span> spans =
        counting::walk(schedule, seconds_of(job, topology), message)[static_cast<std::size_t>(place.stage)];
    std::deque<double> carried;  // when the link will have carried what has been sent
    double link_free = 0.0;
    for (std::size_t i = 0; i < program.size(); ++i) {
        for (; !carried.empty() && carried.front() <= spans[i].begin + patience; carried.pop_front())
            walk.send();
        Chunk& chunk = chunks[static_cast<std::size_t>(program[i].chunk)];
        const Action action = program[i].action;
        if (action == Action::receive_activation || action == Action::receive_gradient)
            walk.receive();
        else if (action == Action::send_activation || action == Action::send_gradient)
            carried.push_back(link_free = std::max(link_free, spans[i].end) + message);
        else
            action == Action::forward ? chunk.forward() : chunk.backward();
    }
    return walk.peak();
}

std::int64_t counting::undecided_activations(const Job& job, const Place& place, const Topology& topology)
{
    if (job.layout.pp == 1) return 0;
    const double message = message_seconds(job, topology);
    return peak_activations(job, place, topology, -message) - peak_activations(job, place, topology, message);
}
