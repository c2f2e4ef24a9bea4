#include <algorithm>
#include <array>
#include <utility>

#include "lib/machine/comm/state.hpp"

namespace shardlings {

namespace {

constexpr int ahead = Comm::pieces_ahead;
using Requests = std::array<MPI_Request, ahead>;

constexpr std::int64_t alignment = 64;  // bytes

/// How a message is cut: all pieces have `length` elements but the last. Also an empty message has a piece,
/// so that its sender waits for the receiver as for any other.
struct Pieces {
    std::int64_t count;
    std::int64_t length;
    std::int64_t number;

    Pieces(std::int64_t elements, DType dtype) : count(elements)
    {
        const auto size = static_cast<std::int64_t>(size_of(dtype));
        const std::int64_t quarter = (count * size + ahead - 1) / ahead;
        const std::int64_t share = (quarter + alignment - 1) / alignment * alignment;
        length = std::clamp(share, Comm::smallest_piece, Comm::largest_piece) / size;
        number = std::max<std::int64_t>(1, (count + length - 1) / length);
    }
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

/// One message each way, both cut. At most `ahead` pieces of each are on their way.
struct Comm::Exchange {
    Comm::State& comm;
    ConstBuffer out;
    int to;
    Buffer in;              // all of the arriving message, or places for `ahead` pieces of it
    std::int64_t in_count;  // elements of the arriving message
    int from;
    int tag;
    Pieces leaving{out.count, out.dtype};
    Pieces arriving{in_count, in.dtype};
    Requests sends{};
    Requests receives{};

    Buffer place(std::int64_t piece) const
    {
        const std::int64_t begin = arriving.begin(in.count == in_count ? piece : piece % ahead);
        return in.part(begin, arriving.length_of(piece));
    }
    void start_send(std::int64_t piece)
    {
        if (piece >= leaving.number) return;
        MPI_Request& request = place_of(piece, sends);
        wait_for(request);
        comm.start_payload(out.part(leaving.begin(piece), leaving.length_of(piece)), to, tag, request);
    }
    void start_receive(std::int64_t piece)
    {
        if (piece >= arriving.number) return;
        const Buffer values = place(piece);
        check_mpi(MPI_Irecv(values.data, static_cast<int>(values.count), mpi_type(values.dtype), from, tag,
                            comm.payload, &place_of(piece, receives)),
                  "MPI_Irecv");
    }
    void run(const TakePiece& take);
};

void Comm::Exchange::run(const TakePiece& take)
{
    sends.fill(MPI_REQUEST_NULL);
    receives.fill(MPI_REQUEST_NULL);
    Request::State receive;
    Request::State sending;
    for (int piece = 0; piece < ahead; ++piece) start_receive(piece);
    comm.expect(receive, {nullptr, in_count, in.dtype}, from, tag);
    receive.in_pieces = true;
    receive.payload_count = arriving.length_of(0);
    for (int piece = 0; piece < ahead; ++piece) start_send(piece);
    sending.in_pieces = true;
    comm.announce(sending, out, to, tag);
    std::swap(receive.payload, receives.front());
    receive.finish();
    for (std::int64_t piece = 0; piece < arriving.number; ++piece) {
        wait_for(place_of(piece, receives));
        if (in_count > 0) take(arriving.begin(piece), place(piece));
        start_receive(piece + ahead);
        start_send(piece + ahead);
    }
    for (std::int64_t piece = arriving.number + ahead; piece < leaving.number; ++piece) start_send(piece);
    for (MPI_Request& request : sends) wait_for(request);
    sending.finish();
}

void Comm::exchange_pieces(ConstBuffer out, int to, Buffer in, int from, int tag)
{
    state_->check_message("exchange_pieces", out.count, to, tag);
    state_->check_message("exchange_pieces", in.count, from, tag);
    Exchange{*state_, out, to, in, in.count, from, tag}.run([](std::int64_t, ConstBuffer) {});
}

void Comm::exchange_pieces(ConstBuffer out, int to, std::int64_t count, int from, const TakePiece& take,
                           int tag)
{
    state_->check_message("exchange_pieces", out.count, to, tag);
    state_->check_message("exchange_pieces", count, from, tag);
    const std::int64_t held = std::min(count, ahead * Pieces(count, out.dtype).length);
    const Allocation memory =
        device().allocate(static_cast<std::size_t>(held) * size_of(out.dtype), Category::communication);
    Exchange{*state_, out, to, {memory.data(), held, out.dtype}, count, from, tag}.run(take);
}

}  // namespace shardlings
