// What stage 2 must hold, send, wait for and add up, backward pass by backward pass, as zero.hpp says.
#pragma once

#include <deque>
#include <set>

#include "tests/05_zero/moments.hpp"
#include "tests/05_zero/times.hpp"

namespace zero_test {

struct GradientsCase {
    Setup setup;
    int gradient_buckets = 1;
    bool accumulate_in_shards = false;
    bool digits = true;
    std::int64_t steps = 2;

    std::string name() const;
};

struct GradientsModel {
    GradientsModel(const GradientsCase& of, const Geometry& with);

    /// A backward pass begins: its buckets grow, for which enough others must have been reduced.
    void enter(std::size_t module);
    void compute(std::size_t module);
    /// The pass over `module` has ended; `reduces`: buckets that end with it are reduced.
    void leave(std::size_t module, bool reduces);
    void finish();

    /// What rank `rank` must have since the last call for it. Full gradients that are being reduced may be
    /// freed as soon as that is done, or later.
    ExpectedMoment moment(std::size_t rank);

    const GradientsCase& one;
    const Geometry& geometry;
    Streams streams;
    std::set<std::size_t> growing;

  private:
    struct Reducing {
        std::size_t bucket;
        Clocks done;
    };
    void reduce(std::size_t bucket);
    std::uint64_t bytes(bool with_reducing) const;
    void remember_peak();

    std::deque<Reducing> reducing_;
    std::vector<std::uint64_t> peaks_, messages_, sent_, chunks_;  // by rank, since the last moment
};

/// The sums that all ranks together must hold of bucket `bucket` in step `step`, its padding 0.
std::vector<double> expected_sum(const GradientsCase& one, const Geometry& geometry, std::size_t bucket,
                                 std::int64_t step);

}  // namespace zero_test
