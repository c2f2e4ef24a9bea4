// Everything a training run is asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "lessons/02_training_step/adamw.hpp"
#include "lessons/05_zero/zero.hpp"
#include "lib/machine/base/dtype.hpp"
#include "lib/machine/base/layout.hpp"
#include "lib/machine/base/model_shape.hpp"
#include "lib/machine/device/topology.hpp"

namespace shardlings {

struct TrainOptions {
    ModelShape shape;
    bool shape_given = false;  // by a flag; else a loaded checkpoint's shape and dtype count
    bool dtype_given = false;
    Layout layout;
    Topology topology;
    DType dtype = DType::fp32;
    std::int64_t batch = 8;  // sequences in the global batch
    std::int64_t micro_batches = 1;
    std::int64_t steps = 100;
    std::uint64_t seed = 1;
    std::int64_t bucket_bytes = 1;  // 1: a bucket for every module
    bool overlap = true;            // of communication with computing
    zero::ZeroOptions zero;

    training::AdamW adamw;
    std::int64_t warmup = 0;           // steps
    double final_learning_rate = 0.1;  // of the peak, at the end of the cosine
    double max_norm = 1.0;             // of the gradient; 0: not clipped
    bool recompute = false;            // each block (with a pipeline: each stage) from its input
    bool recompute_attention = false;  // the attention's probabilities only
    double dropout = 0.0;
    std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();  // bytes of a device

    std::int64_t log_every = 10;  // steps
    std::int64_t save_every = 0;  // steps; 0: at the end only
    std::string data;             // file; empty: the lessons' texts
    std::string save;             // folder
    bool save_shards = false;     // every rank writes its part
    std::string load;             // folder
    std::string json;             // file
    std::string trace;            // file, .json or .svg
    std::string report;           // file, .html

    /// Error for whatever cannot be run, before any rank is started.
    void validate() const;
};

}  // namespace shardlings
