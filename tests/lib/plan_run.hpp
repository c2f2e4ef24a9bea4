// A run and a cluster for the tests of planning.
#pragma once

#include "lib/tools/plan/search.hpp"

/// What a few dozen operations in double may differ by in another order: each rounds by 1.1e-16.
constexpr double rounding = 1e-12;

inline shardlings::plan::Run run_of(const char* model, std::int64_t batch)
{
    shardlings::plan::Run run;
    run.model = shardlings::plan::named_model(model);
    run.batch = batch;
    return run;
}

inline shardlings::plan::Cluster a100(std::int64_t devices)
{
    shardlings::plan::Cluster cluster = shardlings::plan::named_cluster("a100-80g");
    cluster.devices = devices;
    cluster.check_sizes();
    return cluster;
}

/// Korthikanti et al. 2022, tables 3 and 5: TP 8, fp32 gradients.
struct Published {
    const char* model;
    std::int64_t pp, chunks, micro_batch, batch;
    double full;       // seconds of an iteration, everything recomputed
    double selective;  // sequence-parallel, the attention recomputed
};

inline shardlings::plan::Split split_of(const Published& p, bool selective)
{
    using namespace shardlings::plan;
    Split split;
    split.pp = p.pp;
    split.tp = 8;
    split.virtual_stages = p.chunks;
    split.schedule = p.chunks > 1 ? Schedule::interleaved : Schedule::one_forward_one_backward;
    split.micro_batch = p.micro_batch;
    split.recompute = selective ? Recompute::selective : Recompute::full;
    split.sequence_parallel = selective;
    return split;
}
