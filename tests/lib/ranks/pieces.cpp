// Scenarios of Comm::exchange_pieces on as many ranks as it was started with: pieces SCENARIO... What must
// hold is checked here, by the rank that sees it.
#include <cstring>
#include <map>

#include "tests/lib/ranks/world.hpp"

using namespace shardlings;
using namespace ranks_test;

namespace {

/// Every byte of a message tells where it is from: its sender, its length and its place.
std::vector<std::byte> message_of(int rank, std::size_t bytes)
{
    std::vector<std::byte> message(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        message[i] = static_cast<std::byte>(i + i / 251 + bytes + 37 * static_cast<std::size_t>(rank));
    return message;
}

ConstBuffer as(DType dtype, const std::vector<std::byte>& message)
{
    return {message.data(), static_cast<std::int64_t>(message.size() / size_of(dtype)), dtype};
}

/// The length of rank `rank`'s message in a round, in elements: equal for all, or another one for each.
std::int64_t length_of(std::int64_t longest, int rank, bool equal)
{
    return equal ? longest : longest * (rank % 3) / 2;
}

/// One exchange of messages, to `to` and from `from`: the pieces put together are the message that was sent.
void exchange(Comm& comm, DType dtype, std::int64_t longest, int to, int from, bool equal)
{
    Device& device = comm.device();
    const auto bytes_of = [&](int rank) {
        return static_cast<std::size_t>(length_of(longest, rank, equal)) * size_of(dtype);
    };
    const std::vector<std::byte> out = message_of(comm.rank(), bytes_of(comm.rank()));
    const std::vector<std::byte> expected = message_of(from, bytes_of(from));
    const ConstBuffer asked = as(dtype, expected);
    device.reset_peaks();
    std::int64_t next = 0;
    comm.exchange_pieces(as(dtype, out), to, asked.count, from, [&](std::int64_t offset, ConstBuffer piece) {
        check(offset == next, "a piece begins at element {}, expected {}", offset, next);
        check(piece.dtype == dtype && piece.count > 0 && piece.bytes() <= Comm::largest_piece,
              "a piece of {} {} elements", piece.count, name_of(piece.dtype));
        check(std::memcmp(piece.data, asked.part(offset, piece.count).data, piece.bytes()) == 0,
              "the piece at element {} of {} is not what rank {} sent", offset, asked.count, from);
        next = offset + piece.count;
    });
    check(next == asked.count, "{} of {} elements were handed over", next, asked.count);
    const MemoryUse& memory = device.memory();
    const auto most = std::min<std::uint64_t>(expected.size(), Comm::most_in_pieces);
    check(memory.peak_of(Category::communication) == most && memory.current == 0,
          "{} bytes for pieces, expected {}; {} left", memory.peak, most, memory.current);
}

/// The same exchange into memory for all of it.
void exchange_in_place(Comm& comm, DType dtype, std::int64_t longest, int to, int from, bool equal)
{
    const auto message = [&](int rank) {
        return message_of(rank, static_cast<std::size_t>(length_of(longest, rank, equal)) * size_of(dtype));
    };
    const std::vector<std::byte> out = message(comm.rank());
    const std::vector<std::byte> expected = message(from);
    std::vector<std::byte> in(expected.size());
    comm.device().reset_peaks();
    comm.exchange_pieces(as(dtype, out), to, {in.data(), as(dtype, in).count, dtype}, from);
    check(in == expected, "what rank {} sent did not arrive as it was", from);
    check(comm.device().memory().peak == 0, "{} bytes were used", comm.device().memory().peak);
}

/// All lengths around those at which pieces grow and become more than are on their way at once, in both
/// directions round the ring.
void all_lengths(const DeviceOptions& options)
{
    Device device(options);
    Comm comm = Comm::world(device);
    const int p = comm.size();
    const int right = (comm.rank() + 1) % p;
    const int left = (comm.rank() + p - 1) % p;
    for (const DType dtype : {DType::fp64, DType::bf16, DType::byte}) {
        const auto size = static_cast<std::int64_t>(size_of(dtype));
        std::vector<std::int64_t> lengths{0, 1, 11 * Comm::largest_piece / size + 3};
        for (const std::int64_t bytes : {Comm::smallest_piece, Comm::pieces_ahead * Comm::smallest_piece,
                                         Comm::pieces_ahead * Comm::largest_piece})
            for (const int more : {-1, 0, 1}) lengths.push_back(bytes / size + more);
        for (const std::int64_t longest : lengths)
            for (const bool equal : {true, false}) {
                exchange(comm, dtype, longest, right, left, equal);
                exchange(comm, dtype, longest, left, right, equal);
                exchange_in_place(comm, dtype, longest, right, left, equal);
            }
    }
}

void lengths(MpiSession& session)
{
    all_lengths(options_of(session, session.size()));
}

/// The same when memory is poisoned before use and after, and every send waits for its receiver.
void checked(MpiSession& session)
{
    DeviceOptions options = options_of(session, session.size());
    options.poison = true;
    options.synchronous = true;
    all_lengths(options);
}

/// Messages, bytes and virtual time are those of sendrecv.
void costs(MpiSession& session)
{
    World whole(session, 2);
    World cut(session, 2);
    const int p = session.size();
    const int right = (session.rank() + 1) % p;
    const int left = (session.rank() + p - 1) % p;
    for (int step = 0; step < 8; ++step) {
        const auto bytes_of = [step](int rank) {
            return static_cast<std::size_t>((step * 7 + rank * 3) % 5) * 70'000;
        };
        const std::vector<std::byte> out(bytes_of(session.rank()));
        std::vector<std::byte> in(bytes_of(left));
        for (World* world : {&whole, &cut})
            world->device.compute(1e9 * (1 + (session.rank() * 7 + step) % 5));
        whole.comm.sendrecv(buffer_of(std::span(out)), right, buffer_of(std::span(in)), left);
        cut.comm.exchange_pieces(buffer_of(std::span(out)), right, static_cast<std::int64_t>(in.size()), left,
                                 [](std::int64_t, ConstBuffer) {});
        check(cut.now() == whole.now(), "step {}: the clock is at {}, after sendrecv at {}", step, cut.now(),
              whole.now());
    }
    for (const auto count : {&Traffic::total, &Traffic::inter_node}) {
        const Traffic::Count of_cut = cut.comm.traffic().*count;
        const Traffic::Count of_whole = whole.comm.traffic().*count;
        check(of_cut.messages == of_whole.messages && of_cut.bytes == of_whole.bytes,
              "{} messages of {} bytes were counted, for sendrecv {} of {}", of_cut.messages, of_cut.bytes,
              of_whole.messages, of_whole.bytes);
    }
}

/// In virtual time the message has arrived when its first piece is taken, whatever the piece then costs.
void arrival(MpiSession& session)
{
    World world(session);
    const int p = session.size();
    const std::vector<std::byte> out(300'000);
    const double arrived = world.topology().link(0, 0).seconds(300'000.0);
    constexpr double flops = 1e6;
    double now = arrived;
    world.comm.exchange_pieces(buffer_of(std::span(out)), (session.rank() + 1) % p, 300'000,
                               (session.rank() + p - 1) % p, [&](std::int64_t offset, ConstBuffer) {
                                   check(world.now() == now,
                                         "the piece at {} is taken at {} s, expected {} s", offset,
                                         world.now(), now);
                                   world.device.compute(flops);
                                   now = world.now();
                               });
    check(now > arrived && world.now() == now, "the clock is at {} s in the end, expected {} s", world.now(),
          now);
}

/// Pieces do not meet the messages of another tag that are on their way meanwhile.
void tags(MpiSession& session)
{
    World world(session);
    const int p = session.size();
    const int right = (session.rank() + 1) % p;
    const int left = (session.rank() + p - 1) % p;
    const std::vector<std::byte> out = message_of(session.rank(), 300'000);
    std::vector<std::byte> in(out.size());
    Request arriving = world.comm.irecv(buffer_of(std::span(in)), left, 2);
    Request leaving = world.comm.isend(buffer_of(std::span(out)), right, 2);
    const std::vector<std::byte> pieces = message_of(session.rank() + 100, 500'000);
    const std::vector<std::byte> expected = message_of(left + 100, 500'000);
    world.comm.exchange_pieces(
        buffer_of(std::span(pieces)), right, 500'000, left,
        [&](std::int64_t offset, ConstBuffer piece) {
            check(std::memcmp(piece.data, expected.data() + offset, piece.bytes()) == 0,
                  "the piece at {} is not of this message", offset);
        },
        1);
    arriving.wait();
    leaving.wait();
    check(in == message_of(left, 300'000), "the message of the other tag did not arrive as it was sent");
}

/// Rank 0 sends `sent` to rank 1, which asks for `asked` elements of a dtype.
void ask_for(MpiSession& session, ConstBuffer sent, std::int64_t asked, DType dtype)
{
    World world(session);
    const ConstBuffer nothing{nullptr, 0, world.comm.rank() == 0 ? sent.dtype : dtype};
    const auto take = [](std::int64_t, ConstBuffer) { throw Error("a piece was taken"); };
    if (world.comm.rank() == 0)
        world.comm.exchange_pieces(sent, 1, 0, 1, take, 5);
    else
        world.comm.exchange_pieces(nothing, 0, asked, 0, take, 5);
}

void other_dtype(MpiSession& session)
{
    ask_for(session, as(DType::bf16, message_of(0, 32)), 16, DType::fp16);
}

void other_length(MpiSession& session)
{
    ask_for(session, as(DType::fp32, message_of(0, 800'000)), 100, DType::fp32);
}

/// One side of a message sends it in pieces, the other does not ask for pieces, or the other way round.
void one_side(MpiSession& session, bool in_pieces)
{
    World world(session);
    std::vector<std::byte> message(200'000);
    const Buffer all = buffer_of(std::span(message));
    const int peer = 1 - session.rank();
    if (in_pieces == (session.rank() == 0))
        world.comm.exchange_pieces(
            all, peer, all.count, peer, [](std::int64_t, ConstBuffer) {}, 5);
    else if (session.rank() == 0)
        world.comm.send(all, peer, 5);
    else
        world.comm.recv(all, peer, 5);
}

void sent_in_pieces(MpiSession& session)
{
    one_side(session, true);
}

void asked_in_pieces(MpiSession& session)
{
    one_side(session, false);
}

void bad_arguments(MpiSession& session)
{
    World world(session);
    const ConstBuffer nothing{nullptr, 0, DType::fp32};
    const auto refuses = [&](int to, std::int64_t count, int from, int tag) {
        try {
            world.comm.exchange_pieces(
                nothing, to, count, from, [](std::int64_t, ConstBuffer) {}, tag);
        } catch (const Error&) {
            return true;
        }
        return false;
    };
    check(refuses(session.size(), 1, 0, 0), "a message to a rank that is not there was accepted");
    check(refuses(0, 1, -1, 0), "a message from rank -1 was accepted");
    check(refuses(0, -1, 0, 0), "a message of -1 elements was accepted");
    check(refuses(0, 1, 0, 40'000), "tag 40000 was accepted");
    check(world.device.traffic().total.messages == 0 && world.device.memory().peak == 0,
          "a message that was refused was counted, or took memory");
}

}  // namespace

int main(int argc, char** argv)
{
    const std::map<std::string, void (*)(MpiSession&)> scenarios{{"lengths", lengths},
                                                                 {"checked", checked},
                                                                 {"costs", costs},
                                                                 {"arrival", arrival},
                                                                 {"tags", tags},
                                                                 {"other_dtype", other_dtype},
                                                                 {"other_length", other_length},
                                                                 {"sent_in_pieces", sent_in_pieces},
                                                                 {"asked_in_pieces", asked_in_pieces},
                                                                 {"bad_arguments", bad_arguments}};
    return run_rank(argc, argv, [&](MpiSession& session) {
        for (int i = 1; i < argc; ++i) scenarios.at(argv[i])(session);
        return 0;
    });
}
