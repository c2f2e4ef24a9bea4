#include "tests/04_data_parallel/gradients_local.hpp"

namespace data_parallel_test {

namespace {

json inputs_of(const GradientsRun& run)
{
    json inputs = model_inputs(run.model);
    std::vector<double> flops;
    for (std::size_t i = 0; i < run.model.modules.size(); ++i)
        flops.push_back(run.seconds_of(i) * run.topology.flops);
    inputs.update({{"dtype", name_of(run.dtype)},
                   {"bucket_bytes", run.bucket_bytes()},
                   {"overlap", run.overlap},
                   {"keep", run.all ? "all" : "own_shard"},
                   {"micro_batches", run.micro_batches},
                   {"steps", run.steps},
                   {"seed", run.pattern().seed},
                   {"silent_rank", run.pattern().silent_rank},
                   {"flops", flops}});
    return inputs;
}

std::string full_name(const GradientsRun& run)
{
    return fmt::format("{}, p = {}, {}, {} micro-batches, {}, bucket_bytes {}", run.name, run.ranks,
                       name_of(run.dtype), run.micro_batches, run.all ? "Keep::all" : "Keep::own_shard",
                       run.bucket_bytes());
}

}  // namespace

NamedCase case_of(const GradientsRun& run, Check check)
{
    CaseInput input{"bucket_gradients", {}};
    input.topology = run.topology;
    for (int rank = 0; rank < run.ranks; ++rank) input.ranks.push_back(inputs_of(run));
    return {full_name(run), input, std::move(check),
            "Does every rank sum every bucket, in the same order, whatever its own gradients are?"};
}

GradientPattern GradientsRun::pattern() const
{
    if (!random) return {0, silent_rank};
    return {1 + static_cast<std::uint64_t>(std::abs(random_values(name, 1, DType::fp64, 1e9)[0])),
            silent_rank};
}

std::int64_t GradientsRun::sent_bytes(std::int64_t padded) const
{
    return (all ? 2 : 1) * (ranks - 1) * (padded / ranks) * size();
}

double GradientsRun::duration(std::int64_t padded) const
{
    const auto bytes = static_cast<double>(padded / ranks * size());
    return (all ? 2 : 1) * (ranks - 1) * topology.intra.seconds(bytes);
}

}  // namespace data_parallel_test
