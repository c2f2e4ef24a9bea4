// A pipeline's trace made by hand: what GPipe records when messages cost nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/tools/trace/trace.hpp"

/// P stages, M micro-batches; a forward takes 1 µs, a backward 2 µs, so the step takes 3 (M + P - 1) µs, of
/// which every device idles 3 (P - 1). A forward takes 1000 bytes of activations that its backward gives
/// back.
inline std::vector<shardlings::RankTrace> gpipe_traces(int stages, int micro_batches)
{
    using namespace shardlings;
    constexpr double us = 1e-6;
    std::vector<RankTrace> traces;
    for (int stage = 0; stage < stages; ++stage) {
        RankTrace trace;
        trace.rank = stage;
        trace.memory.push_back({0.0, Category::parameters, 4000});
        const auto pass = [&](const char* kind, double begin, double seconds, int m, std::int64_t change) {
            trace.events.push_back({kind, kind, begin, begin + seconds, 1e6, 0, -1, m});
            trace.memory.push_back({change > 0 ? begin : begin + seconds, Category::activations, change});
        };
        const double turn = (micro_batches + stages - 1) * us;
        for (int m = 0; m < micro_batches; ++m) pass("forward", (stage + m) * us, us, m, 1000);
        for (int m = 0; m < micro_batches; ++m)
            pass("backward", turn + 2.0 * (stages - 1 - stage + m) * us, 2.0 * us, m, -1000);
        traces.push_back(trace);
    }
    return traces;
}
