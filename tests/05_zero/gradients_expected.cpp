#include "tests/05_zero/gradients_expected.hpp"

#include <algorithm>
#include <utility>

#include "lib/machine/tensor/arithmetic.hpp"
#include "tests/05_zero/sums.hpp"

namespace zero_test {

std::string GradientsCase::name() const
{
    return fmt::format("{}, --gradient-buckets {}{}{}", setup.name(), gradient_buckets,
                       accumulate_in_shards ? ", accumulated in shards" : "",
                       digits ? "" : ", random values");
}

GradientsModel::GradientsModel(const GradientsCase& of, const Geometry& with)
    : one(of),
      geometry(with),
      streams(of.setup.degree),
      peaks_(static_cast<std::size_t>(of.setup.degree)),
      messages_(peaks_),
      sent_(peaks_),
      chunks_(peaks_)
{
}

void GradientsModel::enter(std::size_t module)
{
    remember_peak();
    for (const std::size_t b : geometry.used[module]) {
        if (growing.contains(b)) continue;
        while (std::ssize(reducing_) >= one.gradient_buckets) {
            streams.wait(reducing_.front().done);
            reducing_.pop_front();
        }
        growing.insert(b);
    }
    remember_peak();
}

void GradientsModel::compute(std::size_t module)
{
    for (int rank = 0; rank < one.setup.degree; ++rank)
        streams.compute[static_cast<std::size_t>(rank)] += one.setup.flops(rank)[module] / device_flops;
}

void GradientsModel::leave(std::size_t module, bool reduces)
{
    for (std::size_t b = 0; reduces && b < geometry.buckets.size(); ++b)
        if (geometry.buckets[b].first_module == module) reduce(b);
    remember_peak();
}

void GradientsModel::finish()
{
    remember_peak();
    for (const Reducing& last : reducing_) streams.wait(last.done);
    reducing_.clear();
}

void GradientsModel::reduce(std::size_t bucket)
{
    const auto p = static_cast<std::uint64_t>(one.setup.degree);
    const std::uint64_t shard = geometry.bytes_of(bucket) / p;
    growing.erase(bucket);
    reducing_.push_back({bucket, streams.run(one.setup.overlap, [&](Clocks& clocks) {
                             ring(clocks, one.setup.link, static_cast<double>(shard));
                         })});
    for (std::size_t rank = 0; rank < p; ++rank) {
        messages_[rank] += p - 1;
        sent_[rank] += (p - 1) * shard;
        chunks_[rank] = std::max(chunks_[rank], p > 1 ? shard : 0);
    }
}

std::uint64_t GradientsModel::bytes(bool with_reducing) const
{
    std::uint64_t bytes = geometry.shards(one.setup.degree);
    for (const std::size_t b : growing) bytes += geometry.bytes_of(b);
    for (const Reducing& other : reducing_)
        if (with_reducing) bytes += geometry.bytes_of(other.bucket);
    return bytes;
}

void GradientsModel::remember_peak()
{
    for (std::uint64_t& peak : peaks_) peak = std::max(peak, bytes(true));
}

ExpectedMoment GradientsModel::moment(std::size_t rank)
{
    ExpectedMoment expected;
    expected.least = bytes(false);
    expected.most = bytes(true);
    expected.peak = std::max(std::exchange(peaks_[rank], 0), expected.most);
    expected.communication = std::exchange(chunks_[rank], 0);
    expected.clock = streams.compute[rank];
    expected.messages = std::exchange(messages_[rank], 0);
    expected.sent = std::exchange(sent_[rank], 0);
    std::vector<std::size_t> list(growing.begin(), growing.end());
    for (const Reducing& other : reducing_) list.push_back(other.bucket);
    expected.held = list_of(geometry, one.setup.degree, list);
    expected.geometry = &geometry;
    expected.degree = one.setup.degree;
    return expected;
}

namespace {

/// What one rank adds to a bucket in one micro-batch, to the first or the second accumulators.
Tensor contribution(const GradientsCase& one, const Geometry& geometry, const Bucket& bucket, Device& device,
                    const Contribution& from, std::int64_t step)
{
    const auto by_module = parameters_by_module(geometry.modules);
    const Parameter* tied = by_module.front().front();
    const Pattern pattern{one.digits, static_cast<std::uint64_t>(one.setup.seed), one.setup.degree, step};
    std::vector<double> values(static_cast<std::size_t>(bucket.padded), 0.0);
    for (const FlatEntry& entry : bucket.entries) {
        if (from.second && entry.parameter != tied) continue;
        const std::vector<double> added =
            pattern.values(from, *entry.parameter, place_of(by_module, *entry.parameter));
        std::copy(added.begin(), added.end(), values.begin() + entry.offset);
    }
    Tensor rounded(device, {bucket.padded}, one.setup.dtype, Category::workspace);
    from_doubles(values, rounded);
    return rounded;
}

}  // namespace

std::vector<double> expected_sum(const GradientsCase& one, const Geometry& geometry, std::size_t bucket,
                                 std::int64_t step)
{
    Device device{DeviceOptions{}};
    const Bucket& of = geometry.buckets[bucket];
    const auto zeros = [&] {
        Tensor tensor(device, {of.padded}, one.setup.dtype, Category::workspace);
        tensor.fill_zero();
        return tensor;
    };
    const std::int64_t rounds = one.accumulate_in_shards ? one.setup.micro_batches : 1;
    const std::int64_t batches = one.setup.micro_batches / rounds;  // in a round
    Tensor sum = zeros();
    for (std::int64_t round = 0; round < rounds; ++round) {
        std::vector<Tensor> of_ranks;
        for (int rank = 0; rank < one.setup.degree; ++rank) {
            Tensor first = zeros(), second = zeros();
            for (std::int64_t m = round * batches; m < (round + 1) * batches; ++m) {
                add(contribution(one, geometry, of, device, {rank, m, false}, step), first);
                add(contribution(one, geometry, of, device, {rank, m, true}, step), second);
            }
            add(second, first);
            of_ranks.push_back(std::move(first));
        }
        add(ring_sum(of_ranks), sum);
    }
    return to_doubles(sum);
}

}  // namespace zero_test
