// Case operation on the passes of a step over the grid.
#pragma once

#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lessons/04_data_parallel/hooks.hpp"
#include "lessons/07_gpipe/schedules.hpp"
#include "tests/09_3d/driver_model.hpp"

namespace grid_test {

inline pipeline::Schedule schedule_of(Case& c)
{
    const std::string name = c.text("schedule");
    const int stages = static_cast<int>(c.integer("pp"));
    const int micro_batches = static_cast<int>(c.integer("micro_batches"));
    if (name == "naive") return pipeline::naive_schedule(stages, micro_batches);
    if (name == "gpipe") return pipeline::gpipe_schedule(stages, micro_batches);
    return pipeline::interleaved_schedule(stages, micro_batches, static_cast<int>(c.integer("chunks")));
}

/// The bytes of all gradients that a rank holds.
inline std::vector<std::byte> gradient_bytes(const data_parallel::Replica& replica)
{
    std::vector<std::byte> bytes;
    for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
        const data_parallel::Held held = replica.gradients->held(b);
        const ConstBuffer elements = held.tensor.buffer();
        bytes.insert(bytes.end(), elements.data,
                     elements.data + elements.count * static_cast<std::int64_t>(size_of(elements.dtype)));
    }
    return bytes;
}

/// One call after the other of accumulate_gradients, or of evaluate_loss where "evaluates" says so, each over
/// a batch of its own. Outputs for each: the loss, FLOPs, bytes in use afterwards, and the held gradients, or
/// whether an evaluation kept them as they were.
inline void step(Case& c)
{
    RankOfGrid rank(c);
    for (std::size_t i = 0; i < rank.stage.modules.size(); ++i)
        rank.stage.modules[i] = data_parallel::make_hooked(std::move(rank.stage.modules[i]), i,
                                                           *rank.replica.values, *rank.replica.gradients);
    const Comm& data = rank.groups.data.data;
    const std::int64_t micro_batches = c.integer("micro_batches");
    const pipeline::Schedule schedule = schedule_of(c);
    const std::vector<std::int32_t> inputs = c.ids("inputs"), targets = c.ids("targets");
    const std::int64_t sequences = c.integer("sequences"), tokens = c.integer("tokens");
    const auto batch_tokens = static_cast<std::size_t>(sequences * tokens);
    const std::vector<std::int32_t> evaluates = c.ids("evaluates"), recomputes = c.ids("recomputes");
    const std::vector<double> scales = c.numbers("loss_scales");
    const auto in_use = [&] { return static_cast<double>(c.device().memory().current); };
    c.start_measuring();
    c.put("in use at first", in_use());
    for (std::size_t k = 0; k < evaluates.size(); ++k) {
        const MicroBatch global{sequences,
                                tokens,
                                std::span(inputs).subspan(k * batch_tokens, batch_tokens),
                                std::span(targets).subspan(k * batch_tokens, batch_tokens),
                                0.0,
                                0};
        const std::vector<MicroBatch> own =
            data_parallel::shard_batch(global, data.size(), data.rank(), micro_batches);
        const grid::Participant participant{rank.groups,       rank.stage,  schedule,
                                            rank.replica,      shape_of(c), parse_dtype(c.text("dtype")),
                                            recomputes[k] != 0};
        const std::vector<std::byte> before = gradient_bytes(rank.replica);
        const double flops = c.device().flops();
        const double loss = evaluates[k] != 0 ? grid::evaluate_loss(participant, own)
                                              : grid::accumulate_gradients(participant, own, scales[k]);
        c.put(fmt::format("loss {}", k), loss);
        c.put(fmt::format("flops {}", k), c.device().flops() - flops);
        c.put(fmt::format("in use {}", k), in_use());
        if (evaluates[k] != 0)
            c.put(fmt::format("kept {}", k), gradient_bytes(rank.replica) == before ? 1.0 : 0.0);
        else
            put_held(c, fmt::format("gradient {}", k), rank.replica, *rank.replica.gradients);
    }
    c.stop_measuring();
}

}  // namespace grid_test
