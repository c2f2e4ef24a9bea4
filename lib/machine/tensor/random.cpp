#include "lib/machine/tensor/random.hpp"

#include <Random123/philox.h>

#include <Random123/boxmuller.hpp>

namespace shardlings {

namespace {

/// FNV-1a, so that a name gives the same stream with every standard library.
std::uint64_t hash(std::string_view text)
{
    std::uint64_t value = 14695981039346656037u;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return value;
}

r123::Philox4x64::ctr_type block(std::uint64_t i, std::uint64_t seed, std::uint64_t name_hash)
{
    return r123::Philox4x64{}({{i, 0, 0, 0}}, {{seed, name_hash}});
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : seed_(seed), name_hash_(hash(name)) {}

std::uint64_t RandomStream::bits(std::uint64_t i) const
{
    return block(i / 4, seed_, name_hash_)[i % 4];
}

double RandomStream::uniform(std::uint64_t i) const
{
    return static_cast<double>(bits(i) >> 11) * 0x1p-53;
}

std::array<double, 4> RandomStream::four_normals(std::uint64_t i) const
{
    const auto bits = block(i, seed_, name_hash_);
    const r123::double2 first = r123::boxmuller(bits[0], bits[1]);
    const r123::double2 second = r123::boxmuller(bits[2], bits[3]);
    return {first.x, first.y, second.x, second.y};
}

}  // namespace shardlings
