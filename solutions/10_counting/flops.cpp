#include "lessons/10_counting/flops.hpp"

#include "lessons/10_counting/parameters.hpp"

using namespace counting;

FlopsShape counting::flops_shape(const ModelShape& shape)
{
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    return {number(shape.layers),      number(shape.hidden),   number(shape.mlp()),     number(shape.heads),
            number(shape.head_size()), number(shape.sequence), number(shape.vocabulary)};
}

SequenceFlops counting::sequence_flops(const FlopsShape& x)
{
    SequenceFlops flops{};
    // BEGIN SOLUTION 10.3 sequence_flops
    const double s = x.sequence;
    const double width = x.heads * x.head_size;
    flops.embedding = 2.0 * s * x.vocabulary * x.hidden;
    flops.qkv = x.layers * 2.0 * 3.0 * s * x.hidden * width;
    flops.attention_logits = x.layers * 2.0 * s * s * width;
    flops.softmax = x.layers * 3.0 * x.heads * s * s;
    flops.attention_sum = x.layers * 2.0 * s * s * width;
    flops.projection = x.layers * 2.0 * s * width * x.hidden;
    flops.mlp = x.layers * 2.0 * s * 2.0 * x.hidden * x.mlp;
    flops.output = 2.0 * s * x.hidden * x.vocabulary;
    // END SOLUTION
    return flops;
}

double SequenceFlops::forward(bool ends) const
{
    // BEGIN SOLUTION 10.3 SequenceFlops::forward
    const double blocks = qkv + attention_logits + softmax + attention_sum + projection + mlp;
    return blocks + (ends ? embedding + output : 0.0);
    // END SOLUTION
}

double counting::ratio_to_6nd(const FlopsShape& shape, double parameters, bool ends)
{
    // BEGIN SOLUTION 10.3 ratio_to_6nd
    return sequence_flops(shape).training(ends) / (6.0 * parameters * shape.sequence);
    // END SOLUTION
}

double counting::device_gemm_flops(const Job& job, const Place& place)
{
    double flops = 0.0;
    // BEGIN SOLUTION 10.3 device_gemm_flops
    const auto h = static_cast<double>(job.shape.hidden);
    const auto s = static_cast<double>(job.shape.sequence);
    const double tokens = static_cast<double>(job.batch / job.layout.dp) * s;
    const double blocks = static_cast<double>(blocks_of_stage(job, place.stage)) / job.layout.tp;
    const bool last = place.stage == job.layout.pp - 1;
    const double head =
        last ? 2.0 * h * static_cast<double>(vocabulary_of_rank(job, place.tensor_rank)) : 0.0;
    const double forward = blocks * (24.0 * h * h + 4.0 * s * h) + head;
    flops = 3.0 * forward;
    if (job.recompute == Recompute::selective) flops += blocks * 4.0 * s * h;
    // A pipeline recomputes a stage from its input, a single stage only its blocks.
    if (job.recompute == Recompute::full) flops += job.layout.pp > 1 ? forward : forward - head;
    flops *= tokens;
    // END SOLUTION
    return flops;
}
