#include "tests/06_pipeline/replay.hpp"

#include <tuple>
#include <utility>

using namespace pipeline_test;

namespace {

constexpr std::uint64_t number_bytes = 8;  // of a loss or its gradient

using MessageKey = std::tuple<int, int, bool>;  // boundary of the model's chunks, micro-batch, activation?

/// One stage, one instruction after the other.
class StageRun {
  public:
    StageRun(const ProbeRun& run, int stage, std::map<MessageKey, double>& arrivals)
        : run_(run), stage_(stage), arrivals_(arrivals)
    {
    }

    StageReplay result;

    /// False when the instruction has to wait for a message that is not sent yet.
    bool step(const Instruction& i)
    {
        const MessageKey key = message(i);
        const bool receives = i.action == Action::receive_activation || i.action == Action::receive_gradient;
        if (receives && !arrivals_.contains(key)) return false;
        // run_forward looks for what has been carried before every chunk, not again after its receive.
        if (!run_.forward_only || i.action != Action::forward || is_first(i)) free_carried();
        if (receives) {
            change(bytes(i), 0);
            now_ = std::max(now_, arrivals_.at(key));
        } else if (i.action == Action::forward) {
            forward(i, run_.recompute || run_.forward_only, run_.recompute);
            if (is_last(i)) result.loss += probe_loss(i.micro_batch);
        } else if (i.action == Action::backward) {
            backward(i);
        } else {
            send(i, key);
        }
        return true;
    }

    void finish()
    {
        for (const auto& [arrival, size] : sending_) now_ = std::max(now_, arrival);
        result.end = now_;
    }

  private:
    int chunk_number(const Instruction& i) const { return i.chunk * run_.schedule.stages + stage_; }
    bool is_first(const Instruction& i) const { return pipeline::is_first_chunk(stage_, i.chunk); }
    bool is_last(const Instruction& i) const
    {
        return pipeline::is_last_chunk(run_.schedule, stage_, i.chunk);
    }
    std::uint64_t bytes(const Instruction& i) const { return run_.bytes_of(i.micro_batch); }

    /// First and last module of the chunk.
    std::pair<std::size_t, std::size_t> modules(const Instruction& i) const
    {
        std::size_t first = 0;
        for (int c = 0; c < chunk_number(i); ++c)
            first += static_cast<std::size_t>(run_.chunk_modules[static_cast<std::size_t>(c)]);
        return {first, first + static_cast<std::size_t>(
                                   run_.chunk_modules[static_cast<std::size_t>(chunk_number(i))])};
    }

    MessageKey message(const Instruction& i) const
    {
        const bool activation = i.action == Action::send_activation || i.action == Action::receive_activation;
        const bool behind = i.action == Action::send_activation || i.action == Action::receive_gradient;
        return {chunk_number(i) - (behind ? 0 : 1), i.micro_batch, activation};
    }

    /// Memory that is allocated, then memory that is freed.
    void change(std::uint64_t allocated, std::uint64_t freed)
    {
        memory_ += allocated;
        result.peak = std::max(result.peak, memory_);
        memory_ -= freed;
    }

    void call(char pass, std::size_t module, const Instruction& i, std::uint64_t given)
    {
        result.calls.push_back({pass, module, i.micro_batch, now_, memory_ - given});
    }

    std::uint64_t saved_by(std::size_t module, const Instruction& i) const
    {
        return static_cast<std::uint64_t>(run_.model.work[module].saved) * bytes(i);
    }

    /// `drops`: what the modules save is let go of at once.
    void forward(const Instruction& i, bool drops, bool keeps_input)
    {
        const auto [first, last] = modules(i);
        std::uint64_t given = is_first(i) ? 0 : bytes(i);
        for (std::size_t m = first; m < last; ++m) {
            call('f', m, i, given);
            const ProbeWork& work = run_.model.work[m];
            now_ += work.forward_flops / run_.flops;
            const std::uint64_t y = m + 1 == run_.model.work.size() ? number_bytes : bytes(i);
            const bool x_stays = drops ? m == first && keeps_input : work.saves_x;
            change(y + saved_by(m, i), (x_stays ? 0 : given) + (drops ? saved_by(m, i) : 0));
            given = y;
        }
        if (is_last(i)) change(0, number_bytes);
    }

    void backward(const Instruction& i)
    {
        const auto [first, last] = modules(i);
        std::uint64_t given = bytes(i);
        if (is_last(i)) {
            given = number_bytes;
            change(number_bytes, 0);
        }
        if (run_.recompute) {
            forward(i, false, false);
            if (!is_last(i)) change(0, bytes(i));  // y, which is known already
        }
        for (std::size_t m = last; m-- > first;) {
            call('b', m, i, given);
            const ProbeWork& work = run_.model.work[m];
            now_ += work.backward_flops / run_.flops;
            change(0, saved_by(m, i) + (work.saves_x && m > 0 ? bytes(i) : 0));
            const std::uint64_t dx = m == 0 ? 0 : bytes(i);
            change(dx, given);
            given = dx;
        }
    }

    void send(const Instruction& i, const MessageKey& key)
    {
        const auto size = bytes(i);
        link_free_ = std::max(now_, link_free_) + run_.link.seconds(static_cast<double>(size));
        arrivals_[key] = link_free_;
        sending_.emplace_back(link_free_, size);
        const int stages = run_.schedule.stages;
        const int to = (stage_ + (i.action == Action::send_activation ? 1 : stages - 1)) % stages;
        ++result.sent[to].first;
        result.sent[to].second += size;
    }

    void free_carried()
    {
        for (auto& [arrival, size] : sending_)
            if (arrival <= now_) change(0, std::exchange(size, 0));
    }

    const ProbeRun& run_;
    int stage_;
    std::map<MessageKey, double>& arrivals_;
    double now_ = 0.0;
    double link_free_ = 0.0;
    std::uint64_t memory_ = 0;
    std::vector<std::pair<double, std::uint64_t>> sending_;
};

/// What run_forward does: every micro-batch forward through the chunks of a stage, one after the other.
Program forward_program(const Schedule& schedule, int stage)
{
    Program program;
    for (int m = 0; m < schedule.micro_batches; ++m)
        for (int chunk = 0; chunk < schedule.chunks; ++chunk)
            pipeline::append_pass(schedule, stage, Action::forward, m, chunk, program);
    return program;
}

}  // namespace

std::vector<StageReplay> pipeline_test::replay(const ProbeRun& run)
{
    std::map<MessageKey, double> arrivals;
    std::vector<StageRun> stages;
    std::vector<Program> programs;
    for (int s = 0; s < run.schedule.stages; ++s) {
        stages.emplace_back(run, s, arrivals);
        programs.push_back(run.forward_only ? forward_program(run.schedule, s)
                                            : run.schedule.programs[static_cast<std::size_t>(s)]);
    }
    std::vector<std::size_t> next(stages.size(), 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t s = 0; s < stages.size(); ++s)
            for (; next[s] < programs[s].size() && stages[s].step(programs[s][next[s]]); ++next[s])
                moved = true;
    }
    std::vector<StageReplay> results;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        check(next[s] == programs[s].size(), "the schedule of this test cannot go on at stage {}", s);
        stages[s].finish();
        results.push_back(stages[s].result);
    }
    return results;
}
