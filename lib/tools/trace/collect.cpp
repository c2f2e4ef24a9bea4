#include "lib/tools/trace/collect.hpp"

#include <algorithm>

namespace shardlings {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 30;  // a message holds fewer than 2^31 elements

void send_bytes(Comm& comm, std::span<const std::uint8_t> bytes, int to)
{
    const auto length = static_cast<std::int64_t>(bytes.size());
    comm.send(buffer_of(std::span<const std::int64_t>(&length, 1)), to);
    for (std::size_t begin = 0; begin < bytes.size(); begin += chunk_bytes)
        comm.send(buffer_of(bytes.subspan(begin, std::min(chunk_bytes, bytes.size() - begin))), to);
}

std::vector<std::uint8_t> receive_bytes(Comm& comm, int from)
{
    std::int64_t length = 0;
    comm.recv(buffer_of(std::span(&length, 1)), from);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(length));
    for (std::size_t begin = 0; begin < bytes.size(); begin += chunk_bytes)
        comm.recv(buffer_of(std::span(bytes).subspan(begin, std::min(chunk_bytes, bytes.size() - begin))),
                  from);
    return bytes;
}

}  // namespace

std::vector<std::vector<std::uint8_t>> gather_bytes(Comm& comm, std::span<const std::uint8_t> own)
{
    std::vector<std::vector<std::uint8_t>> all;
    if (comm.rank() > 0) {
        send_bytes(comm, own, 0);
        return all;
    }
    all.emplace_back(own.begin(), own.end());
    for (int rank = 1; rank < comm.size(); ++rank) all.push_back(receive_bytes(comm, rank));
    return all;
}

std::vector<RankTrace> collect_traces(Comm& comm, const RankTrace& own)
{
    std::vector<RankTrace> traces;
    for (const auto& bytes : gather_bytes(comm, to_bytes(own))) traces.push_back(from_bytes(bytes));
    return traces;
}

std::vector<RankTrace> collect_traces(Comm& comm)
{
    return collect_traces(comm, trace_of(comm.device()));
}

}  // namespace shardlings
