// Comm: point-to-point messages between devices. The only place that speaks MPI.
//
// Collectives are not here: lesson 03 writes them by hand over these calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "lib/machine/base/dtype.hpp"
#include "lib/machine/device/device.hpp"

namespace shardlings {

/// The dtype that messages of T carry.
template <class T>
constexpr DType dtype_of()
{
    if constexpr (std::is_same_v<T, double>)
        return DType::fp64;
    else if constexpr (std::is_same_v<T, float>)
        return DType::fp32;
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return DType::i32;
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return DType::i64;
    else {
        static_assert(sizeof(T) == 1, "messages hold double, float, int32, int64 or bytes");
        return DType::byte;
    }
}

template <class T>
ConstBuffer buffer_of(std::span<const T> values)
{
    return {reinterpret_cast<const std::byte*>(values.data()), static_cast<std::int64_t>(values.size()),
            dtype_of<T>()};
}

template <class T>
Buffer buffer_of(std::span<T> values)
{
    return {reinterpret_cast<std::byte*>(values.data()), static_cast<std::int64_t>(values.size()),
            dtype_of<T>()};
}

/// A message under way. wait() must be called before it is destroyed: a request that is forgotten ends the
/// job with the line that started it.
class Request {
  public:
    Request();
    Request(Request&&) noexcept;
    Request& operator=(Request&&) noexcept;
    ~Request();

    /// Returns when the buffer may be used again (send) or holds the message (receive). In virtual time the
    /// device idles until then. Does nothing on a request that holds no message.
    void wait();
    bool pending() const { return state_ != nullptr; }
    /// When the link will have carried a message that is being sent, in virtual time. Of a pending isend
    /// only.
    double arrival() const;

  private:
    friend class Comm;
    struct State;
    explicit Request(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A group of p devices that send each other messages. Move-only; owns its MPI communicator, a duplicate of
/// nobody's.
///
/// Every message carries its dtype, its length and its arrival in virtual time; one that is not what the
/// receiver asked for is an Error naming both. Messages between two ranks with one tag arrive in the order
/// they were sent. Sending to oneself is allowed with isend/irecv or sendrecv only.
class Comm {
  public:
    /// All ranks of the job. Needs a live MpiSession; the device must outlive the Comm.
    static Comm world(Device& device);
    Comm(Comm&&) noexcept;
    Comm& operator=(Comm&&) noexcept;
    ~Comm();

    int rank() const;
    int size() const;
    /// The rank in the world of this group's `rank`.
    int world_rank(int rank) const;
    Device& device() const;

    /// Blocks until the buffer may be used again; the clock moves to when the link has carried the message.
    void send(ConstBuffer values, int to, int tag = 0);
    /// Blocks until the message is there; the clock moves to its arrival.
    void recv(Buffer values, int from, int tag = 0);
    /// Sends and receives at once, so that a ring of ranks that all call it does not deadlock.
    /// The two buffers must not overlap.
    void sendrecv(ConstBuffer out, int to, Buffer in, int from, int tag = 0);

    /// As sendrecv, faster for long messages: each goes in pieces that are on their way one behind the other.
    /// For traffic and virtual time it is one message each way. The other side of both messages must call
    /// exchange_pieces too.
    void exchange_pieces(ConstBuffer out, int to, Buffer in, int from, int tag = 0);
    /// The same with the message from `from`, `count` elements of the dtype of `out`, given to `take` piece
    /// by piece, in order, while the next pieces arrive: it needs no place of its own, and is used while it
    /// is in the cache. `piece` is elements [offset, offset + piece.count) and only there during the call;
    /// `take` must not write to `out`. In virtual time the message has arrived before the first is taken.
    /// Needs memory of the category communication for the pieces on their way: not more than the message nor
    /// most_in_pieces bytes.
    using TakePiece = std::function<void(std::int64_t offset, ConstBuffer piece)>;
    void exchange_pieces(ConstBuffer out, int to, std::int64_t count, int from, const TakePiece& take,
                         int tag = 0);
    /// A message goes in pieces of a quarter of it, but of 64 to 256 KiB.
    static constexpr int pieces_ahead = 4;
    static constexpr std::int64_t smallest_piece = 64 * 1024;
    static constexpr std::int64_t largest_piece = 256 * 1024;
    static constexpr std::int64_t most_in_pieces = pieces_ahead * largest_piece;

    /// Start a message and return; the buffer must not be touched (isend: written) until the request is
    /// waited for.
    [[nodiscard]] Request isend(ConstBuffer values, int to, int tag = 0,
                                std::source_location where = std::source_location::current());
    [[nodiscard]] Request irecv(Buffer values, int from, int tag = 0,
                                std::source_location where = std::source_location::current());

    /// Groups of the ranks that pass the same color, ordered by key, then by rank. Every rank must call it.
    Comm split(int color, int key) const;
    /// Returns when every rank has called it. Costs no virtual time and is not counted as traffic.
    void barrier() const;

    /// Messages and payload bytes that this group's calls have sent from here.
    const Traffic& traffic() const;

  private:
    struct State;
    struct Exchange;
    explicit Comm(std::unique_ptr<State> state);
    void start_send(Request::State& request, ConstBuffer values, int to, int tag);
    void start_recv(Request::State& request, Buffer values, int from, int tag);
    std::unique_ptr<State> state_;
};

}  // namespace shardlings
