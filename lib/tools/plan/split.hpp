// How a run is spread over the devices of a cluster, and what it trains.
#pragma once

#include <cstdint>
#include <string>

#include "lessons/10_counting/job.hpp"
#include "lib/tools/plan/model.hpp"

namespace shardlings::plan {

using counting::Recompute;

enum class Schedule : std::uint8_t { gpipe, one_forward_one_backward, interleaved };

std::string_view name_of(Schedule schedule);
std::string_view name_of(Recompute recompute);
Schedule parse_schedule(std::string_view name);
Recompute parse_recompute(std::string_view name);

struct Run {
    Model model;
    std::int64_t batch = 1;         // sequences of the global batch
    double tokens = 0.0;            // of the whole training run; 0: not asked for
    double element_bytes = 2.0;     // of parameters and activations
    double gradient_bytes = 2.0;    // of a parameter's gradient; 4 when they are added up in fp32
    double optimizer_bytes = 12.0;  // K: Adam's m and v, and master weights for 16-bit parameters

    double tokens_of_step() const { return static_cast<double>(batch * model.sequence); }
    double steps() const { return tokens / tokens_of_step(); }
};

struct Split {
    std::int64_t pp = 1;
    std::int64_t dp = 1;
    std::int64_t tp = 1;
    int zero = 0;
    Schedule schedule = Schedule::one_forward_one_backward;
    std::int64_t virtual_stages = 1;
    std::int64_t micro_batch = 1;  // b sequences
    Recompute recompute = Recompute::none;
    bool sequence_parallel = false;

    std::int64_t devices() const { return pp * dp * tp; }
    /// M, of a data-parallel rank in a step.
    std::int64_t micro_batches(const Run& run) const { return run.batch / (dp * micro_batch); }
};

/// "pp 8, dp 2, tp 8, ZeRO 1, interleaved 3, b 1, selective, SP"
std::string text_of(const Split& split);

/// Error unless the run can be split so: everything that is cut divides.
///   tp            the heads, those of keys and values, the MLP's columns; with SP also the rows b s
///   pp · V        the layers
///   dp · b        the batch
///   interleaved   V > 1 and the micro-batches a multiple of pp; other schedules V = 1
void check_split(const Run& run, const Split& split);

}  // namespace shardlings::plan
