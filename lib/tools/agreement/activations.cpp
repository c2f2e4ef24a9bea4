#include "lib/tools/agreement/activations.hpp"

#include <algorithm>
#include <deque>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/activations.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lessons/10_counting/passes.hpp"
#include "lessons/10_counting/schedule.hpp"
#include "lessons/10_counting/walk.hpp"

using namespace counting;

namespace {

using pipeline::Action;

/// Bytes of the tensors of one micro-batch on one device.
struct Sizes {
    std::int64_t outside;   // an activation between the cut layers
    std::int64_t whole;     // R h
    std::int64_t gathered;  // all ranks' rows, with sequence parallelism; 0: nothing is gathered
    std::int64_t padded;    // what a partial sum is padded to before it is scattered; 0: it need not be
    std::int64_t part;      // R h / T_p
    std::int64_t probabilities;
    std::int64_t logits;
    std::int64_t statistics;  // of one layer norm
    std::int64_t denominators;
    bool sequence;
    bool keeps_probabilities;

    Sizes(const Job& job, const Place& place)
    {
        const auto e = static_cast<std::int64_t>(size_of(job.dtype));
        const std::int64_t number = job.dtype == DType::fp64 ? 8 : 4;
        const std::int64_t tp = job.layout.tp;
        const std::int64_t h = job.shape.hidden;
        const std::int64_t rows = job.micro_batch() * job.shape.sequence;
        sequence = job.layout.sequence_parallel;
        const std::int64_t rows_outside = sequence ? (rows + tp - 1) / tp : rows;
        outside = e * rows_outside * h;
        whole = e * rows * h;
        gathered = sequence ? e * rows_outside * tp * h : 0;
        padded = sequence && rows % tp != 0 ? gathered : 0;
        part = whole / tp;
        probabilities =
            e * job.micro_batch() * (job.shape.heads / tp) * job.shape.sequence * job.shape.sequence;
        logits = e * rows * vocabulary_of_rank(job, place.tensor_rank);
        statistics = 2 * number * rows_outside;
        denominators = number * rows;
        keeps_probabilities = job.recompute != Recompute::selective;
    }
};

/// Bytes that are held, and the most there were.
class Held {
  public:
    void take(std::int64_t bytes)
    {
        now_ += bytes;
        peak_ = std::max(peak_, now_);
    }
    void free(std::int64_t bytes) { now_ -= bytes; }
    std::int64_t peak() const { return peak_; }

  private:
    std::int64_t now_ = 0;
    std::int64_t peak_ = 0;
};

/// Walks through the passes of modules: each begins with its input held and ends with its result held.
class Walk {
  public:
    explicit Walk(const Sizes& sizes) : s_(sizes) {}

    std::int64_t peak() const { return held_.peak(); }
    void receive() { held_.take(s_.outside); }
    void send() { held_.free(s_.outside); }

    void embedding_forward()
    {
        held_.take(s_.whole);
        leave();
    }
    void embedding_backward()
    {
        held_.take(s_.gathered);
        held_.free(s_.gathered + s_.outside);
    }
    void head_forward()
    {
        held_.take(s_.outside + s_.statistics + s_.gathered + s_.logits);
        held_.free(s_.gathered);
        held_.take(s_.denominators + 8);
    }
    /// The loss has been read, its gradient is there.
    void head_backward()
    {
        held_.take(s_.gathered + s_.whole);
        leave();
        held_.free(s_.gathered);
        held_.take(s_.outside);  // dx
        held_.free(s_.outside * 3 + s_.statistics + s_.logits + s_.denominators + 8);
    }
    void block_forward()
    {
        held_.take(s_.outside + s_.statistics);  // of ln_1
        column(3 * s_.part);
        held_.take(s_.probabilities + s_.part);
        if (!s_.keeps_probabilities) held_.free(s_.probabilities);
        row();
        held_.take(s_.outside + s_.statistics);  // of ln_2
        column(4 * s_.part);
        held_.take(4 * s_.part);
        row();
    }
    void block_backward()
    {
        row_backward(4 * s_.part);
        held_.take(4 * s_.part);      // GELU's
        held_.free(4 * s_.part * 2);  // its input's and its result's
        column_backward(4 * s_.part);
        layer_norm_backward();
        row_backward(s_.part);
        if (!s_.keeps_probabilities) held_.take(s_.probabilities + s_.part);
        if (!s_.keeps_probabilities) held_.free(s_.part);
        held_.take(3 * s_.part);
        held_.free(s_.part + s_.probabilities + 3 * s_.part);
        column_backward(3 * s_.part);
        layer_norm_backward();
    }
    /// What a forward pass that is only there for its result has saved is freed, as the pass itself goes.
    void drop(std::int64_t saved) { held_.free(saved); }

  private:
    /// A partial sum of all rows -> what is outside.
    void leave()
    {
        if (!s_.sequence) return;
        if (s_.padded > 0) {
            held_.take(s_.padded);
            held_.free(s_.whole);
        }
        held_.take(s_.outside);
        held_.free(s_.padded > 0 ? s_.padded : s_.whole);
    }
    void column(std::int64_t result)
    {
        held_.take(s_.gathered + result);
        held_.free(s_.gathered);
    }
    void row()
    {
        held_.take(s_.whole);
        leave();
    }
    /// dy outside -> d of the layer's input, which was saved and goes.
    void row_backward(std::int64_t input)
    {
        held_.take(s_.gathered + input);
        held_.free(s_.gathered + input);
    }
    /// d of its result goes, and its saved input.
    void column_backward(std::int64_t result)
    {
        held_.take(s_.gathered + s_.whole);
        leave();
        held_.free(s_.gathered + s_.outside + result);
    }
    /// dx is added to the residual's gradient; the layer norm's input and result go.
    void layer_norm_backward()
    {
        held_.take(s_.outside);
        held_.free(s_.outside * 3 + s_.statistics);
    }

    Sizes s_;
    Held held_;
};

/// The modules of a chunk, walked through.
class Chunk {
  public:
    Chunk(Walk& walk, const Sizes& sizes, const Job& job, int stage, int chunk, std::int64_t blocks)
        : walk_(walk),
          job_(job),
          blocks_(blocks),
          saved_(saved_by_block(job)),
          input_(sizes.outside),
          first_(stage == 0 && chunk == 0),
          last_(stage == job.layout.pp - 1 && chunk == job.layout.virtual_stages - 1)
    {
        Job kept = job;
        kept.recompute = Recompute::none;
        full_ = saved_by_block(kept);
        head_ = 2 * sizes.outside + sizes.statistics + sizes.logits + sizes.denominators;
    }

    bool is_first() const { return first_; }
    bool is_last() const { return last_; }

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

    Walk& walk_;
    const Job& job_;
    std::int64_t blocks_;
    std::int64_t saved_;
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
    const Sizes sizes(job, place);
    Walk walk(sizes);
    const std::vector<std::int64_t> blocks = pipeline::blocks_of(job.shape, layout);
    std::vector<Chunk> chunks;
    for (int chunk = 0; chunk < layout.virtual_stages; ++chunk)
        chunks.emplace_back(walk, sizes, job, place.stage, chunk,
                            blocks[static_cast<std::size_t>(chunk * layout.pp + place.stage)]);
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
