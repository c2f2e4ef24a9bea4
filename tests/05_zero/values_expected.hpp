// What stage 3 must have, send and wait for, pass by pass, as zero.hpp says.
#pragma once

#include <map>

#include "tests/05_zero/moments.hpp"
#include "tests/05_zero/times.hpp"

namespace zero_test {

using BucketList = std::vector<std::size_t>;

struct ValuesModel {
    ValuesModel(const Setup& setup, const Geometry& geometry, bool broadcast);

    /// The buckets that a pass needs: all of the module's, but none for a backward pass that reads no values.
    BucketList needs(char pass, std::size_t module) const;
    /// Before a pass: `now` is fetched unless it is there, then `next`; the pass begins when `now` is there.
    void enter(const BucketList& now, const BucketList& next);
    /// After a pass: nothing but `kept` is there.
    void leave(const BucketList& kept);
    /// The pass itself.
    void compute(std::size_t module);

    /// What rank `rank` must have since the last call for it.
    ExpectedMoment moment(std::size_t rank);

    const Setup& setup;
    const Geometry& geometry;
    bool broadcast;
    Streams streams;
    std::map<std::size_t, Clocks> there;  // buckets, and when they have come

  private:
    void fetch(std::size_t bucket);
    std::uint64_t bytes() const;

    std::vector<std::uint64_t> peaks_;  // by rank, since the last moment
    std::vector<std::uint64_t> messages_;
    std::vector<std::uint64_t> sent_;
};

}  // namespace zero_test
