#include "tests/05_zero/setup.hpp"

#include <cmath>
#include <utility>

namespace zero_test {

std::string Setup::name() const
{
    return fmt::format("degree {}, {}, --bucket-bytes {}{}{}", degree, shardlings::name_of(dtype),
                       bucket_bytes,
                       micro_batches > 1 ? fmt::format(", {} micro-batches", micro_batches) : "",
                       overlap ? "" : ", no overlap") +
           (first_reads ? ", all backward passes read values" : "");
}

std::vector<double> Setup::flops(int rank) const
{
    std::vector<double> all;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        all.push_back(1e3 * static_cast<double>(2 + 3 * i) * (unequal_ranks ? 1.0 + 0.4 * rank : 1.0));
    return all;
}

Geometry::Geometry(const Setup& setup)
    : Geometry(make_probes(setup.sizes, setup.first_reads), setup.degree, setup.dtype, setup.bucket_bytes)
{
}

Geometry::Geometry(Modules of, int degree, DType dtype, std::int64_t bucket_bytes)
    : modules(std::move(of)),
      buckets(data_parallel::make_buckets(modules, degree, dtype, bucket_bytes)),
      used(data_parallel::buckets_of_modules(modules, buckets)),
      element(size_of(dtype))
{
}

std::uint64_t Geometry::shards(int degree) const
{
    std::uint64_t bytes = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        bytes += bytes_of(b) / static_cast<std::uint64_t>(degree);
    return bytes;
}

std::string name_of(const Geometry& geometry, std::size_t bucket)
{
    const Bucket& one = geometry.buckets[bucket];
    const std::string modules = one.last_module == one.first_module + 1
                                    ? fmt::format("module {}", one.first_module)
                                    : fmt::format("modules {} to {}", one.first_module, one.last_module - 1);
    return fmt::format("bucket {} ({}, {} bytes)", bucket, modules, geometry.bytes_of(bucket));
}

std::string list_of(const Geometry& geometry, int degree, const std::vector<std::size_t>& buckets)
{
    std::string text = fmt::format("the shards ({} bytes)", geometry.shards(degree));
    for (std::size_t i = 0; i < buckets.size(); ++i)
        text += (i + 1 == buckets.size() ? " and " : ", ") + name_of(geometry, buckets[i]);
    return text;
}

CaseInput case_input(const Setup& setup, const std::string& operation, const json& inputs)
{
    CaseInput input;
    input.operation = operation;
    input.topology.devices_per_node = world_size;
    input.topology.intra = setup.link;
    input.topology.flops = device_flops;
    for (int rank = 0; rank < world_size; ++rank) {
        const int member = rank - (world_size - setup.degree);
        json own = inputs;
        own["member"] = member >= 0;
        own["modules"] = setup.sizes.size();
        for (std::size_t i = 0; i < setup.sizes.size(); ++i) own[fmt::format("sizes{}", i)] = setup.sizes[i];
        own["bucket_bytes"] = setup.bucket_bytes;
        own["dtype"] = shardlings::name_of(setup.dtype);
        own["micro_batches"] = setup.micro_batches;
        own["first_reads"] = setup.first_reads;
        own["overlap"] = setup.overlap;
        own["seed"] = setup.seed;
        own["flops"] = setup.flops(std::max(member, 0));
        input.ranks.push_back(std::move(own));
    }
    return input;
}

std::vector<const RankResult*> members(const CaseResult& result, int degree)
{
    std::vector<const RankResult*> ranks;
    for (int rank = world_size - degree; rank < world_size; ++rank)
        ranks.push_back(&result.ranks[static_cast<std::size_t>(rank)]);
    return ranks;
}

std::uint64_t seed_of(const std::string& name)
{
    return static_cast<std::uint64_t>(std::abs(random_values(name, 1, DType::fp64, 1e9)[0]));
}

}  // namespace zero_test
