// The three schedules of the lesson, and what each promises.
#pragma once

#include "lessons/07_gpipe/check.hpp"
#include "lessons/07_gpipe/schedules.hpp"
#include "tests/06_pipeline/schedule_support.hpp"

namespace pipeline_test {

/// A schedule to be asked for: gpipe, 1f1b or interleaved.
struct Kind {
    std::string kind;
    int stages, micro_batches, chunks = 1;

    std::string name() const
    {
        return fmt::format("P = {}, M = {}{}", stages, micro_batches,
                           kind == "interleaved" ? fmt::format(", V = {}", chunks) : "");
    }
    /// The file whose code makes it.
    std::string file() const { return kind == "1f1b" ? "one_forward_one_backward" : kind; }
    json inputs() const
    {
        return {{"kind", kind}, {"stages", stages}, {"micro_batches", micro_batches}, {"chunks", chunks}};
    }
    Schedule reference() const
    {
        if (kind == "gpipe") return pipeline::gpipe_schedule(stages, micro_batches);
        if (kind == "1f1b") return pipeline::one_forward_one_backward_schedule(stages, micro_batches);
        return pipeline::interleaved_schedule(stages, micro_batches, chunks);
    }
    /// (P − 1)/(V M + P − 1).
    double bubble() const { return (stages - 1.0) / (chunks * micro_batches + stages - 1.0); }
    /// (micro-batch, chunk) pairs in flight at most: all with GPipe, else the warm-up and one more.
    int in_flight(int stage) const
    {
        if (kind == "gpipe") return micro_batches;
        const int behind = stages - stage - 1;
        const int warm_up = chunks == 1 ? behind : 2 * behind + (chunks - 1) * stages;
        return std::min(micro_batches * chunks, warm_up + 1);
    }
};

/// Many sizes: P and M from 1 to 8, V from 1 to 4.
inline std::vector<Kind> all_sizes(const std::string& kind)
{
    std::vector<Kind> kinds;
    for (int stages = 1; stages <= 8; ++stages) {
        if (kind != "interleaved") {
            for (int m = 1; m <= 8; ++m) kinds.push_back({kind, stages, m});
            continue;
        }
        for (int chunks = 1; chunks <= 4; ++chunks)
            for (const int groups : {1, 2, 3})
                if (stages > 1 || chunks == 1) kinds.push_back({kind, stages, groups * stages, chunks});
    }
    return kinds;
}

}  // namespace pipeline_test
