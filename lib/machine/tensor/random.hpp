// Counter-based random numbers: number i of a stream is a function of (seed, stream name, i) alone, so that
// any shard of a parameter can be drawn without drawing the rest. Philox4x64-10 (Salmon et al. 2011,
// "Parallel random numbers: as easy as 1, 2, 3") from Random123.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace shardlings {

class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::string_view name);

    /// Uniform 64 bits, number i of the stream.
    std::uint64_t bits(std::uint64_t i) const;
    /// Uniform in [0, 1), number i of the stream.
    double uniform(std::uint64_t i) const;
    /// Standard normal numbers 4 i, …, 4 i + 3 of the stream (Box and Muller).
    std::array<double, 4> four_normals(std::uint64_t i) const;
    double normal(std::uint64_t i) const { return four_normals(i / 4)[i % 4]; }

  private:
    std::uint64_t seed_;
    std::uint64_t name_hash_;
};

}  // namespace shardlings
