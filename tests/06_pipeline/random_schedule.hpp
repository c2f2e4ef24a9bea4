// Schedules that are right but in an order drawn at random: an engine must run every one.
#pragma once

#include <set>
#include <tuple>

#include "tests/06_pipeline/schedule_support.hpp"

namespace pipeline_test {

/// Throws of a die that the test's seed decides.
class Dice {
  public:
    explicit Dice(const std::string& name) : values_(random_values(name, 4096, DType::fp64, 1e6)) {}
    /// 0 … sides − 1.
    std::size_t roll(std::size_t sides)
    {
        const double value = std::abs(values_[next_++ % values_.size()]);
        return static_cast<std::size_t>(value) % sides;
    }

  private:
    std::vector<double> values_;
    std::size_t next_ = 0;
};

/// P, M and V, and what the order prefers.
struct RandomOrder {
    int stages, micro_batches, chunks;
    bool forward_first = false;  // then as many micro-batches are in flight as can be
    bool ascending = false;     // forward passes of a chunk too: then losses are added as in a single process
    bool lazy_messages = true;  // receives and sends anywhere, not only right beside their pass
};

/// Puts a schedule together by doing one instruction after the other that can be done, on any stage.
class RandomSchedule {
  public:
    RandomSchedule(const std::string& name, const RandomOrder& order)
        : order_(order), dice_(name), schedule_{order.stages, order.micro_batches, order.chunks, {}}
    {
        schedule_.programs.resize(static_cast<std::size_t>(order.stages));
    }

    Schedule make()
    {
        for (std::vector<Step> steps = possible(); !steps.empty(); steps = possible()) {
            const Step step = steps[dice_.roll(steps.size())];
            schedule_.programs[static_cast<std::size_t>(step.first)].push_back(step.second);
            done_.insert(key(step));
        }
        return schedule_;
    }

  private:
    using Step = std::pair<int, Instruction>;
    using Key = std::tuple<int, Action, int, int>;

    static Key key(const Step& step)
    {
        return {step.first, step.second.action, step.second.micro_batch, step.second.chunk};
    }
    bool done(int stage, Action action, int micro_batch, int chunk) const
    {
        return done_.contains({stage, action, micro_batch, chunk});
    }
    /// The stage and chunk before (−1) or behind (+1) one in the model.
    std::pair<int, int> beside(int stage, int chunk, int side) const
    {
        const int number = chunk * order_.stages + stage + side;
        return {number % order_.stages, number / order_.stages};
    }

    bool can(int s, Action action, int m, int v) const
    {
        const bool first = pipeline::is_first_chunk(s, v);
        const bool last = pipeline::is_last_chunk(schedule_, s, v);
        const auto sent = [&](Action send, int side) {
            const auto [stage, chunk] = beside(s, v, side);
            return done(stage, send, m, chunk);
        };
        switch (action) {
            case Action::receive_activation:
                return !first && sent(Action::send_activation, -1);
            case Action::forward:
                return (first || done(s, Action::receive_activation, m, v)) &&
                       (!order_.ascending || m == 0 || done(s, Action::forward, m - 1, v));
            case Action::send_activation:
                return !last && done(s, Action::forward, m, v);
            case Action::receive_gradient:
                return !last && sent(Action::send_gradient, 1);
            case Action::backward:
                return done(s, Action::forward, m, v) && (last || done(s, Action::receive_gradient, m, v)) &&
                       (m == 0 || done(s, Action::backward, m - 1, v));
            case Action::send_gradient:
                return !first && done(s, Action::backward, m, v);
        }
        return false;
    }

    std::vector<Step> possible() const
    {
        std::vector<Step> all, preferred;
        for (int s = 0; s < order_.stages; ++s)
            for (int v = 0; v < order_.chunks; ++v)
                for (int m = 0; m < order_.micro_batches; ++m)
                    for (int a = 0; a < 6; ++a) {
                        const auto action = static_cast<Action>(a);
                        if (done(s, action, m, v) || !can(s, action, m, v)) continue;
                        all.push_back({s, {action, m, v}});
                        const bool is_pass = action == Action::forward || action == Action::backward;
                        if ((order_.forward_first && action == Action::forward) ||
                            (!order_.lazy_messages && !is_pass))
                            preferred.push_back(all.back());
                    }
        return preferred.empty() ? all : preferred;
    }

    RandomOrder order_;
    Dice dice_;
    Schedule schedule_;
    std::set<Key> done_;
};

inline Schedule random_schedule(const std::string& name, const RandomOrder& order)
{
    return RandomSchedule(name, order).make();
}

}  // namespace pipeline_test
