#include <cmath>

#include "tests/05_zero/held.hpp"
#include "tests/05_zero/values_check.hpp"

namespace zero_test {

namespace {

std::vector<double> initial_bucket(const Setup& setup, const Bucket& bucket)
{
    Device device{DeviceOptions{}};
    return to_doubles(initial_values(device, bucket, setup.dtype, static_cast<std::uint64_t>(setup.seed)));
}

}  // namespace

std::string compare_parameter(const Setup& setup, const Geometry& geometry, std::size_t bucket,
                              const FlatEntry& entry, double factor, const std::vector<double>& got)
{
    const std::string& name = entry.parameter->name;
    if (got.empty())
        return fmt::format("{} is bound to nothing: {} was not fetched, or freed too early", name,
                           name_of(geometry, bucket));
    const std::vector<double> whole = initial_bucket(setup, geometry.buckets[bucket]);
    const std::int64_t shard = geometry.buckets[bucket].shard(setup.degree, 0).count;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t place = static_cast<std::size_t>(entry.offset) + i;
        const double expected = factor * whole[place];
        if (got[i] == expected) continue;
        std::string cause = "are they another bucket's, or in the place of another rank's shard?";
        if (std::isnan(got[i])) cause = "the bucket was freed, or this shard of it never came";
        if (got[i] == expected / 2.0) cause = "it is as before the update: fetch it anew";
        return fmt::format(
            "{}[{}] (element {} of {}, in the shard of rank {}) is {:.6g}, expected {:.6g}: {}", name, i,
            place, name_of(geometry, bucket), static_cast<std::int64_t>(place) / shard, got[i], expected,
            cause);
    }
    return "";
}

std::string compare_shard(const Setup& setup, const Geometry& geometry, std::size_t bucket, int rank,
                          double factor, const std::vector<double>& part, const std::vector<double>& got)
{
    const data_parallel::Chunk own = geometry.buckets[bucket].shard(setup.degree, rank);
    const std::string name = name_of(geometry, bucket);
    if (part != std::vector<double>{static_cast<double>(own.offset), static_cast<double>(own.count)})
        return fmt::format("elements [{}, {}) of {} are held, expected [{}, {})", part.at(0),
                           part.at(0) + part.at(1), name, own.offset, own.offset + own.count);
    const std::vector<double> whole = initial_bucket(setup, geometry.buckets[bucket]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(own.count); ++i) {
        const std::size_t place = static_cast<std::size_t>(own.offset) + i;
        if (got.at(i) != factor * whole[place])
            return fmt::format("element {} of {} is {:.6g} in the own shard, expected {:.6g}", place, name,
                               got[i], factor * whole[place]);
    }
    return "";
}

}  // namespace zero_test
