// The runs of the whole model that are judged, and the parts that the ranks have of it.
#pragma once

#include "tests/08_tensor_parallel/model_reference.hpp"

namespace tensor_parallel_test {

/// Of a parameter, as a rank says it.
inline Slice slice_of(const json& out, const std::string& name)
{
    const auto numbers = out.at("slice " + name).get<std::vector<double>>();
    const auto part = [&](std::size_t third) {
        const auto count = static_cast<std::ptrdiff_t>(numbers.size() / 3);
        const auto first = numbers.begin() + count * static_cast<std::ptrdiff_t>(third);
        return Shape(first, first + count);
    };
    return {part(0), part(1), part(2)};
}

/// `whole` in the order of the elements of the slice.
inline std::vector<double> cut(const Slice& slice, const std::vector<double>& whole)
{
    std::vector<double> own(static_cast<std::size_t>(elements_of(slice.shape)));
    slice.for_each_run([&](std::int64_t local, std::int64_t global, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            own[static_cast<std::size_t>(local + i)] = whole[static_cast<std::size_t>(global + i)];
    });
    return own;
}

/// A shape with heads that T divides: one a rank, or several.
inline ModelShape shape_for(int p, std::int64_t vocabulary)
{
    return p == 3 ? ModelShape{2, 12, 6, 9, vocabulary} : ModelShape{2, 16, 8, 9, vocabulary};
}

/// fp64: odd numbers of tokens, rows that T does not divide, fewer rows than ranks; with and without dropout
/// and recomputation.
inline std::vector<GptRun> exact_runs(int p)
{
    const auto run = [&](const char* boundary, std::int64_t sequences, std::int64_t tokens,
                         std::int64_t vocabulary) {
        return GptRun{{boundary, {p, tokens == 7}, sequences, tokens, DType::fp64}, shape_for(p, vocabulary)};
    };
    std::vector<GptRun> runs{run("replicated", 2, 5, 13), run("sequence", 2, 5, 13),
                             run("replicated", 1, 9, 16), run("sequence", 1, 7, 19),
                             run("sequence", 1, 2, 8)};
    runs[2].dropout = 0.25;
    runs[2].recompute = true;
    runs[2].step = 3;
    runs[2].first_sequence = 40;
    runs[2].loss_scale = 8.0;
    runs[3].dropout = 0.5;
    runs[3].recompute = true;
    runs[3].step = 7;
    runs[4].step = 0;  // not training: nothing is dropped
    runs[4].dropout = 0.5;
    return runs;
}

inline std::vector<GptRun> rounded_runs(int p)
{
    const auto run = [&](const char* boundary, DType dtype, double loss_scale) {
        GptRun run{{boundary, {p, false}, 2, 5, dtype}, shape_for(p, 13)};
        run.loss_scale = loss_scale;
        return run;
    };
    return {run("sequence", DType::fp32, 1.0), run("replicated", DType::bf16, 1.0),
            run("sequence", DType::fp16, 1024.0)};
}

}  // namespace tensor_parallel_test
