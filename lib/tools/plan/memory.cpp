#include "lib/tools/plan/memory.hpp"

#include <algorithm>

namespace shardlings::plan {

namespace {

double number(std::int64_t value)
{
    return static_cast<double>(value);
}

/// The term of s²: probabilities, and with dropout their mask and what is left of them.
double saved_by_attention(const Run& run, const Split& split)
{
    const Model& m = run.model;
    const double probabilities =
        number(split.micro_batch * m.sequence) * number(m.heads) * number(m.sequence);
    return probabilities * (m.dropout ? 2.0 * run.element_bytes + 1.0 : run.element_bytes) / number(split.tp);
}

double saved_without_recomputation(const Run& run, const Split& split, bool attention)
{
    const Model& m = run.model;
    const double rows = number(split.micro_batch * m.sequence);
    const double outside = rows * number(m.hidden) * (4.0 * run.element_bytes + (m.dropout ? 2.0 : 0.0));
    const double inside = rows * run.element_bytes *
                          number(m.qkv_columns() + m.hidden + (m.gated ? 4 : 2) * m.mlp) / number(split.tp);
    return outside / number(split.sequence_parallel ? split.tp : 1) + inside +
           (attention ? saved_by_attention(run, split) : 0.0);
}

double saved_by_ends(const Run& run, const Split& split, bool first, bool last, double held)
{
    const Model& m = run.model;
    const double rows = number(split.micro_batch * m.sequence);
    const double outside = number(split.sequence_parallel ? split.tp : 1);
    double bytes = 0.0;
    if (first && m.dropout) bytes += held * rows * number(m.hidden) / outside;  // the mask
    // The norm's input and the output layer's; logits in fp32, which only live in one micro-batch at a time.
    if (last)
        bytes += rows * (2.0 * run.element_bytes * number(m.hidden) / outside +
                         4.0 * number(m.vocabulary) / number(split.tp));
    return bytes;
}

}  // namespace

double parameters_of_stage(const Model& m, const Split& split, bool first, bool last)
{
    const BlockParameters block = block_parameters(m);
    const std::int64_t entries = (m.vocabulary + split.tp - 1) / split.tp;
    double parameters =
        number(m.layers / split.pp) * (number(block.cut) / number(split.tp) + number(block.whole));
    if (first) parameters += number(m.hidden) * number(entries + (m.positions ? m.sequence : 0));
    if (last) parameters += number(m.hidden) * (m.rms_norm ? 1.0 : 2.0);
    if (last && (!m.tied || !first)) parameters += number(entries * m.hidden);
    return parameters;
}

double saved_by_block(const Run& run, const Split& split)
{
    if (split.recompute != Recompute::full)
        return saved_without_recomputation(run, split, split.recompute == Recompute::none);
    const double elements = number(split.micro_batch * run.model.sequence) * number(run.model.hidden);
    return run.element_bytes * elements / number(split.sequence_parallel ? split.tp : 1);
}

double held_micro_batches(const Run& run, const Split& split, std::int64_t stage)
{
    const std::int64_t count = split.micro_batches(run);
    if (split.pp == 1) return 1.0;
    switch (split.schedule) {
        case Schedule::gpipe:
            return number(count);
        case Schedule::one_forward_one_backward:
            return number(std::min(count, split.pp - stage));
        case Schedule::interleaved:
            break;
    }
    const std::int64_t v = split.virtual_stages;
    return number(std::min(count * v, 2 * (split.pp - stage - 1) + (v - 1) * split.pp + 1)) / number(v);
}

Memory memory_of(const Run& run, const Split& split, std::int64_t stage)
{
    const bool first = stage == 0;
    const bool last = stage == split.pp - 1;
    const double parameters = parameters_of_stage(run.model, split, first, last);
    const auto shared = [&](int from_stage) { return split.zero >= from_stage ? number(split.dp) : 1.0; };
    Memory memory;
    memory.parameters = run.element_bytes * parameters / shared(3);
    memory.gradients = run.gradient_bytes * parameters / shared(2);
    memory.optimizer_states = run.optimizer_bytes * parameters / shared(1);
    const double held = held_micro_batches(run, split, stage);
    memory.activations = held * number(run.model.layers / split.pp) * saved_by_block(run, split);
    memory.ends = saved_by_ends(run, split, first, last, held);
    if (split.recompute == Recompute::full) memory.working = saved_without_recomputation(run, split, true);
    if (split.recompute == Recompute::selective) memory.working = saved_by_attention(run, split);
    const BlockParameters block = block_parameters(run.model);
    const double of_block = number(block.cut) / number(split.tp) + number(block.whole);
    // A block's parameters while it is at work, and the next one's on their way; a block's gradients.
    if (split.zero == 3 && split.dp > 1) memory.working += 2.0 * run.element_bytes * of_block;
    if (split.zero >= 2 && split.dp > 1) memory.working += run.gradient_bytes * of_block;
    return memory;
}

Memory largest_memory(const Run& run, const Split& split)
{
    // Stages between the ends hold no embedding and fewer micro-batches than the first.
    const Memory first = memory_of(run, split, 0);
    const Memory last = memory_of(run, split, split.pp - 1);
    return last.total() > first.total() ? last : first;
}

}  // namespace shardlings::plan
