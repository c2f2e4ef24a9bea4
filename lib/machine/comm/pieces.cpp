#include <algorithm>
#include <array>

#include "lib/machine/comm/state.hpp"

namespace shardlings {

namespace {

constexpr int ahead = Comm::pieces_ahead;
using Requests = std::array<MPI_Request, ahead>;

/// How a message is cut: all pieces of `length` elements but the last. Also an empty message has a piece, so
/// that its sender waits for the receiver as for any other.
struct Pieces {
    std::int64_t count;
    std::int64_t length;

    Pieces(std::int64_t elements, DType dtype)
        : count(elements), length(Comm::piece_bytes / static_cast<std::int64_t>(size_of(dtype)))
    {
    }
    std::int64_t number() const { return std::max<std::int64_t>(1, (count + length - 1) / length); }
    std::int64_t begin(std::int64_t piece) const { return piece * length; }
    std::int64_t length_of(std::int64_t piece) const { return std::min(length, count - begin(piece)); }
};

MPI_Request& place_of(std::int64_t piece, Requests& requests)
{
    return requests[static_cast<std::size_t>(piece % ahead)];
}

void wait_for(MPI_Request& request)
{
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace

void Comm::exchange_pieces(ConstBuffer out, int to, std::int64_t count, int from, const TakePiece& take,
                           int tag)
{
    state_->check_message("exchange_pieces", out.count, to, tag);
    state_->check_message("exchange_pieces", count, from, tag);
    const Pieces arriving(count, out.dtype);
    const Pieces leaving(out.count, out.dtype);
    const std::int64_t held = std::min(count, ahead * arriving.length);
    const Allocation memory =
        device().allocate(static_cast<std::size_t>(held) * size_of(out.dtype), Category::communication);
    const auto place = [&](std::int64_t piece) {
        return Buffer{memory.data(), held, out.dtype}.part(arriving.begin(piece % ahead),
                                                           arriving.length_of(piece));
    };
    Requests receives;
    Requests sends;
    receives.fill(MPI_REQUEST_NULL);
    sends.fill(MPI_REQUEST_NULL);
    const auto start_receive = [&](std::int64_t piece) {
        if (piece >= arriving.number()) return;
        const Buffer to_fill = place(piece);
        check_mpi(MPI_Irecv(to_fill.data, static_cast<int>(to_fill.count), mpi_type(out.dtype), from, tag,
                            state_->payload, &place_of(piece, receives)),
                  "MPI_Irecv");
    };
    const auto start_send = [&](std::int64_t piece) {
        if (piece >= leaving.number()) return;
        wait_for(place_of(piece, sends));
        state_->start_payload(out.part(leaving.begin(piece), leaving.length_of(piece)), to, tag,
                              place_of(piece, sends));
    };

    Request::State receive;
    Request::State sending;
    state_->expect(receive, {nullptr, count, out.dtype}, from, tag, true);
    for (int piece = 0; piece < ahead; ++piece) start_receive(piece);
    state_->announce(sending, out, to, tag, true);
    for (int piece = 0; piece < ahead; ++piece) start_send(piece);
    receive.wait_for_stamp();
    receive.check_received(receive.expected.count);
    receive.idle_until_arrival();
    for (std::int64_t piece = 0; piece < arriving.number(); ++piece) {
        wait_for(place_of(piece, receives));
        if (count > 0) take(arriving.begin(piece), place(piece));
        start_receive(piece + ahead);
        start_send(piece + ahead);
    }
    for (std::int64_t piece = arriving.number() + ahead; piece < leaving.number(); ++piece) start_send(piece);
    for (MPI_Request& request : sends) wait_for(request);
    sending.wait_for_stamp();
    sending.idle_until_arrival();
}

}  // namespace shardlings
