#include <cstring>

#include "lib/tools/watch/preload/operations.hpp"

namespace shardlings::watch {

std::uint64_t checksum(const void* buffer, int count, MPI_Datatype type)
{
    if (!own.checksums || buffer == nullptr || count <= 0) return 0;
    int size = 0;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    if (PMPI_Type_size(type, &size) != MPI_SUCCESS ||
        PMPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS || lower != 0 || extent != size)
        return 0;
    const auto* bytes = static_cast<const unsigned char*>(buffer);
    const std::size_t length = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
    std::uint64_t lanes[4] = {1, 2, 3, 4};
    std::size_t at = 0;
    for (; at + sizeof lanes <= length; at += sizeof lanes)
        for (std::size_t lane = 0; lane < 4; ++lane) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + at + 8 * lane, sizeof word);
            lanes[lane] = (lanes[lane] ^ word) * 0x9E37'79B9'7F4A'7C15U;
            lanes[lane] ^= lanes[lane] >> 32U;
        }
    for (; at < length; ++at) lanes[0] = (lanes[0] ^ bytes[at]) * 0x0000'0100'0000'01B3U;
    const std::uint64_t all = lanes[0] ^ lanes[1] * 3 ^ lanes[2] * 5 ^ lanes[3] * 7;
    return all | 1U;
}

}  // namespace shardlings::watch
