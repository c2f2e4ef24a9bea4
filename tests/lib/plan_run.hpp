// A run and a cluster for the tests of planning.
#pragma once

#include "lib/tools/plan/search.hpp"

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
