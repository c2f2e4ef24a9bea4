// The memory half of lanes.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "lib/tools/report/lanes.hpp"
#include "lib/tools/trace/memory_curve.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

std::vector<MemorySample> until(const RankTrace& trace, double end)
{
    std::vector<MemorySample> samples;
    std::ranges::copy_if(trace.memory, std::back_inserter(samples),
                         [end](const MemorySample& sample) { return sample.time <= end; });
    return samples;
}

/// (time, bytes of the six categories) of every point.
json curve_json(const std::vector<MemoryPoint>& curve, double begin)
{
    json list = json::array();
    std::int64_t time_before = 0;
    std::array<std::int64_t, category_count> before{};
    for (const MemoryPoint& point : curve) {
        const std::int64_t time = std::llround((point.time - begin) * 1e12);
        list.push_back(time - time_before);
        time_before = time;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const auto bytes = static_cast<std::int64_t>(point.by[i]);
            list.push_back(bytes - before[i]);
            before[i] = bytes;
        }
    }
    return list;
}

}  // namespace

json memory_json(std::span<const RankTrace> traces, const Excerpt& excerpt, std::size_t most)
{
    const Span& window = excerpt.window;
    std::size_t samples = 0;
    for (const RankTrace& trace : traces) samples += trace.memory.size();
    // An interval has at most two points.
    const double intervals = static_cast<double>(most) / (2.0 * static_cast<double>(traces.size()));
    const double resolution = samples <= most ? 0.0 : (window.end - window.begin) / std::max(intervals, 1.0);
    json names = json::array();
    for (int i = 0; i < category_count; ++i) names.push_back(name_of(static_cast<Category>(i)));
    json ranks = json::array();
    for (const RankTrace& trace : traces)
        ranks.push_back(
            curve_json(memory_curve(until(trace, window.end), window.begin, resolution), window.begin));
    return {{"categories", std::move(names)}, {"resolution", resolution}, {"ranks", std::move(ranks)}};
}

}  // namespace shardlings
