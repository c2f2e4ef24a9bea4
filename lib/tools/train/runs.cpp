#include "lib/tools/train/runs.hpp"

#include <algorithm>

#include "lessons/01_transformer/model.hpp"

namespace shardlings {

namespace {

/// Appends a run, or lengthens the last one that it continues.
void append(std::vector<Run>& runs, const Run& run)
{
    if (!runs.empty() && runs.back().parameter == run.parameter &&
        runs.back().begin + runs.back().count == run.begin &&
        runs.back().in_part + runs.back().count == run.in_part)
        runs.back().count += run.count;
    else
        runs.push_back(run);
}

}  // namespace

std::vector<Run> runs_of(const data_parallel::Bucket& bucket, const data_parallel::Chunk& part,
                         const std::vector<std::string>& names)
{
    std::vector<Run> runs;
    for (const FlatEntry& entry : bucket.entries) {
        const auto number = std::ranges::find(names, entry.parameter->name) - names.begin();
        entry.parameter->slice.for_each_run([&](std::int64_t local, std::int64_t global, std::int64_t count) {
            const std::int64_t offset = entry.offset + local;  // in the bucket
            const std::int64_t begin = std::max(offset, part.offset);
            const std::int64_t end = std::min(offset + count, part.offset + part.count);
            if (begin < end)
                append(runs, {number, global + begin - offset, end - begin, begin - part.offset});
        });
    }
    return runs;
}

std::vector<std::string> names_of(const ModelShape& shape)
{
    std::vector<std::string> names;
    const Modules modules = transformer::make_gpt(shape);
    for (const Parameter* parameter : parameters_of(modules)) names.push_back(parameter->name);
    return names;
}

}  // namespace shardlings
