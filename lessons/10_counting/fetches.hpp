// 10.4 Given: how often ZeRO 3 fetches each bucket.
#pragma once

#include <set>
#include <vector>

#include "lessons/06_pipeline/schedule.hpp"
#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lessons/10_counting/schedule.hpp"

namespace counting {

namespace given {

using pipeline::Action;
using Buckets = std::set<std::size_t>;

/// A module of a stage: the buckets that its passes read.
struct Reads {
    Buckets forward;
    Buckets backward;
};

/// The modules of a stage in their order, the stand-in for the tied embedding first where there is one, and
/// where its chunks begin.
struct StageModules {
    std::vector<Reads> modules;
    std::vector<std::size_t> chunk_begins;  // and the end of the last
};

inline StageModules modules_of(const Job& job, int stage)
{
    const Layout& layout = job.layout;
    const std::vector<std::int64_t> blocks = pipeline::blocks_of(job.shape, layout);
    const bool one = layout.pp == 1;
    const bool first = stage == 0;
    const bool last = stage == layout.pp - 1;
    StageModules result;
    std::size_t bucket = 0;
    if (!one && (first || last)) {
        result.modules.push_back({{bucket}, {}});
        ++bucket;
    }
    for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
        result.chunk_begins.push_back(result.modules.size());
        if (first && chunk == 0) {
            result.modules.push_back({one ? Buckets{0} : Buckets{0, 1}, {}});
            ++bucket;
        }
        for (std::int64_t i = 0; i < blocks[static_cast<std::size_t>(chunk * layout.pp + stage)];
             ++i, ++bucket)
            result.modules.push_back({{bucket}, {bucket}});
        if (last && chunk == layout.virtual_stages - 1) result.modules.push_back({{0, bucket}, {0, bucket}});
    }
    result.chunk_begins.push_back(result.modules.size());
    return result;
}

/// Which buckets are there while a stage's passes go on.
class Fetches {
  public:
    Fetches(std::vector<Reads> modules, std::size_t buckets) : modules_(std::move(modules)), counts_(buckets)
    {
    }

    void forward(std::size_t module)
    {
        const bool is_last = module + 1 == modules_.size();
        const Buckets next = is_last ? Buckets() : modules_[module + 1].forward;
        fetch(modules_[module].forward);
        fetch(next);
        there_ = is_last ? modules_[module].backward : next;
    }
    void backward(std::size_t module)
    {
        const Buckets next = module == 0 ? Buckets() : modules_[module - 1].backward;
        fetch(modules_[module].backward);
        fetch(next);
        there_ = next;
    }
    const std::vector<std::int64_t>& counts() const { return counts_; }

  private:
    void fetch(const Buckets& buckets)
    {
        for (const std::size_t bucket : buckets)
            if (there_.insert(bucket).second) ++counts_[bucket];
    }

    std::vector<Reads> modules_;
    std::vector<std::int64_t> counts_;
    Buckets there_;
};

}  // namespace given

/// ZeRO 3: how often each bucket of bucket_elements is fetched in a step. Without a pipeline, for every
/// micro-batch: a block's twice, forward and backward; the embedding's twice forward, for the lookup and for
/// the head, whose backward pass finds it there, and not for its own backward pass, which reads no values;
/// the head's once. With a pipeline the order of passes decides what is still there, so the schedule is gone
/// through without running it: before a pass the buckets that it reads are fetched unless they are there, and
/// those of the module behind it, in the direction of the pass; afterwards only those stay (lesson 05.4).
inline std::vector<std::int64_t> fetches(const Job& job, int stage)
{
    using namespace given;
    const StageModules stage_modules = modules_of(job, stage);
    Fetches there(stage_modules.modules, bucket_elements(job, {stage, 0}).size());
    const bool again = job.recompute == Recompute::full && job.layout.pp > 1;
    const pipeline::Schedule schedule = schedule_of(job);
    for (const pipeline::Instruction& step : schedule.programs[static_cast<std::size_t>(stage)]) {
        const auto chunk = static_cast<std::size_t>(step.chunk);
        const std::size_t begin = stage_modules.chunk_begins[chunk];
        const std::size_t end = stage_modules.chunk_begins[chunk + 1];
        if (step.action == Action::forward || (step.action == Action::backward && again))
            for (std::size_t i = begin; i < end; ++i) there.forward(i);
        if (step.action == Action::backward)
            for (std::size_t i = end; i-- > begin;) there.backward(i);
    }
    return there.counts();
}

}  // namespace counting
