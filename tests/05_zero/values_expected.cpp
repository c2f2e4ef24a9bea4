#include "tests/05_zero/values_expected.hpp"

#include <algorithm>
#include <utility>

namespace zero_test {

ValuesModel::ValuesModel(const Setup& of, const Geometry& with, bool by_broadcast)
    : setup(of),
      geometry(with),
      broadcast(by_broadcast),
      streams(of.degree),
      peaks_(static_cast<std::size_t>(of.degree)),
      messages_(peaks_),
      sent_(peaks_)
{
}

BucketList ValuesModel::needs(char pass, std::size_t module) const
{
    return pass == 'b' && !geometry.modules[module]->backward_reads_values() ? BucketList{}
                                                                             : geometry.used[module];
}

void ValuesModel::enter(const BucketList& now, const BucketList& next)
{
    for (const std::size_t b : now) {
        if (!there.contains(b)) fetch(b);
        streams.wait(there.at(b));
    }
    for (const std::size_t b : next)
        if (!there.contains(b)) fetch(b);
}

void ValuesModel::leave(const BucketList& kept)
{
    for (std::uint64_t& peak : peaks_) peak = std::max(peak, bytes());
    std::erase_if(
        there, [&](const auto& one) { return std::find(kept.begin(), kept.end(), one.first) == kept.end(); });
}

void ValuesModel::compute(std::size_t module)
{
    for (int rank = 0; rank < setup.degree; ++rank)
        streams.compute[static_cast<std::size_t>(rank)] += setup.flops(rank)[module] / device_flops;
}

std::uint64_t ValuesModel::bytes() const
{
    std::uint64_t bytes = geometry.shards(setup.degree);
    for (const auto& one : there) bytes += geometry.bytes_of(one.first);
    return bytes;
}

ExpectedMoment ValuesModel::moment(std::size_t rank)
{
    BucketList list;
    for (const auto& one : there) list.push_back(one.first);
    ExpectedMoment expected;
    expected.least = expected.most = bytes();
    expected.peak = std::max(std::exchange(peaks_[rank], 0), expected.most);
    expected.clock = streams.compute[rank];
    expected.messages = std::exchange(messages_[rank], 0);
    expected.sent = std::exchange(sent_[rank], 0);
    expected.held = list_of(geometry, setup.degree, list);
    expected.geometry = &geometry;
    expected.degree = setup.degree;
    return expected;
}

void ValuesModel::fetch(std::size_t bucket)
{
    const auto p = static_cast<std::size_t>(setup.degree);
    const std::uint64_t shard = geometry.bytes_of(bucket) / p;
    const auto bytes = static_cast<double>(shard);
    there[bucket] = streams.run(setup.overlap, [&](Clocks& clocks) {
        if (!broadcast) return ring(clocks, setup.link, bytes);
        for (std::size_t owner = 0; owner < p; ++owner) tree(clocks, setup.link, bytes, owner);
    });
    for (std::size_t rank = 0; rank < p; ++rank) {
        std::uint64_t count = p - 1;
        if (broadcast) {
            count = 0;
            for (std::size_t owner = 0; owner < p; ++owner) count += tree_messages(p, rank, owner);
        }
        messages_[rank] += count;
        sent_[rank] += count * shard;
    }
}

}  // namespace zero_test
