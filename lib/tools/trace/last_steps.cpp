// The end of a record: a long run's whole one is more than a page, or memory, can hold.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "lib/tools/trace/timeline.hpp"
#include "lib/tools/trace/trace.hpp"

namespace shardlings {

namespace {

/// When the earliest of the last steps begins that have at most `most` events together. A step's own event is
/// recorded when it has ended, after those in it.
double begin_of_last_steps(const std::vector<Event>& events, std::size_t most)
{
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < events.size(); ++i)
        if (work_of(events[i]) == Work::step) ends.push_back(i);
    if (ends.empty()) return -std::numeric_limits<double>::infinity();
    std::size_t first = ends.size() - 1;
    while (first > 0) {
        const std::size_t begin = first > 1 ? ends[first - 2] + 1 : 0;
        if (ends.back() + 1 - begin > most) break;
        --first;
    }
    return events[ends[first]].begin;
}

/// The samples from `begin` on, after one at 0 seconds for what each category held then.
std::vector<MemorySample> samples_from(const std::vector<MemorySample>& samples, double begin)
{
    std::array<std::int64_t, category_count> held{};
    std::vector<MemorySample> kept;
    for (const MemorySample& sample : samples) {
        if (sample.time < begin)
            held.at(static_cast<std::size_t>(sample.category)) += sample.change;
        else
            kept.push_back(sample);
    }
    std::vector<MemorySample> all;
    for (std::size_t i = 0; i < held.size(); ++i)
        if (held[i] != 0) all.push_back({0.0, static_cast<Category>(i), held[i]});
    all.insert(all.end(), kept.begin(), kept.end());
    return all;
}

}  // namespace

RankTrace trace_of_last_steps(const Device& device, std::size_t most)
{
    const double begin = begin_of_last_steps(device.events(), most);
    RankTrace trace{device.rank(), device.budget(), {}, samples_from(device.memory_samples(), begin)};
    std::ranges::copy_if(device.events(), std::back_inserter(trace.events),
                         [begin](const Event& event) { return event.end > begin; });
    return trace;
}

}  // namespace shardlings
