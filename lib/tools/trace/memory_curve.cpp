#include "lib/tools/trace/memory_curve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shardlings {

namespace {

using State = std::array<std::uint64_t, category_count>;

std::uint64_t total_of(const State& state)
{
    return std::accumulate(state.begin(), state.end(), std::uint64_t{0});
}

std::vector<MemorySample> by_time(std::span<const MemorySample> samples)
{
    std::vector<MemorySample> sorted(samples.begin(), samples.end());
    std::ranges::stable_sort(sorted, {}, &MemorySample::time);
    return sorted;
}

/// Goes through samples in order of time, summing their changes.
class Replay {
  public:
    explicit Replay(std::span<const MemorySample> samples) : samples_(by_time(samples)) {}

    bool at_end() const { return next_ == samples_.size(); }
    double next_time() const { return samples_[next_].time; }
    const State& state() const { return state_; }

    void step()
    {
        const MemorySample& sample = samples_[next_++];
        const auto category = static_cast<std::size_t>(sample.category);
        sums_.at(category) += sample.change;
        state_.at(category) = static_cast<std::uint64_t>(std::max<std::int64_t>(sums_.at(category), 0));
    }

  private:
    std::vector<MemorySample> samples_;
    std::size_t next_ = 0;
    std::array<std::int64_t, category_count> sums_{};
    State state_{};
};

void append(std::vector<MemoryPoint>& curve, double time, const State& state)
{
    if (!curve.empty() && curve.back().by == state) return;
    curve.push_back({time, state});
}

}  // namespace

std::uint64_t MemoryPoint::total() const
{
    return total_of(by);
}

std::vector<MemoryPoint> memory_curve(std::span<const MemorySample> samples, double begin, double resolution)
{
    Replay replay(samples);
    while (!replay.at_end() && replay.next_time() < begin) replay.step();

    std::vector<MemoryPoint> curve;
    append(curve, begin, replay.state());
    while (!replay.at_end()) {
        double from = replay.next_time();
        double until = from;
        if (resolution > 0.0) {
            const double interval = std::floor((from - begin) / resolution);
            from = begin + interval * resolution;
            until = begin + (interval + 1.0) * resolution;
        }
        // However the division rounded: times ascend, and the first sample belongs to its interval.
        from = std::max(from, curve.back().time);
        until = std::max(until, from);
        State largest = replay.state();
        do {
            replay.step();
            if (total_of(replay.state()) >= total_of(largest)) largest = replay.state();
        } while (!replay.at_end() && (replay.next_time() == from || replay.next_time() < until));
        // The state at the end of the interval before is among this one's.
        if (resolution > 0.0 && curve.back().time == from) curve.pop_back();
        append(curve, from, largest);
        append(curve, until, replay.state());
    }
    return curve;
}

std::uint64_t peak_of(std::span<const MemoryPoint> curve)
{
    std::uint64_t peak = 0;
    for (const MemoryPoint& point : curve) peak = std::max(peak, point.total());
    return peak;
}

}  // namespace shardlings
