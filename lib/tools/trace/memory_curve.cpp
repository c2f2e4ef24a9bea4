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

void apply(State& state, const MemorySample& sample)
{
    state.at(static_cast<std::size_t>(sample.category)) = sample.bytes;
}

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
    State state{};
    std::size_t next = 0;
    while (next < samples.size() && samples[next].time < begin) apply(state, samples[next++]);

    std::vector<MemoryPoint> curve;
    append(curve, begin, state);
    while (next < samples.size()) {
        double from = samples[next].time;
        double until = from;
        if (resolution > 0.0) {
            const double interval = std::floor((from - begin) / resolution);
            from = begin + interval * resolution;
            until = begin + (interval + 1.0) * resolution;
        }
        // However the division rounded: times ascend, and the first sample belongs to its interval.
        from = std::max(from, curve.back().time);
        until = std::max(until, from);
        State largest = state;
        do {
            apply(state, samples[next++]);
            if (total_of(state) >= total_of(largest)) largest = state;
        } while (next < samples.size() && (samples[next].time == from || samples[next].time < until));
        // The state at the end of the interval before is among this one's.
        if (resolution > 0.0 && curve.back().time == from) curve.pop_back();
        append(curve, from, largest);
        append(curve, until, state);
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
