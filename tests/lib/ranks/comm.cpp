// Scenarios of lib/machine/comm on as many ranks as it was started with: comm SCENARIO... What must hold is
// checked here, by the rank that sees it.
#include <climits>
#include <functional>
#include <map>

#include "tests/lib/ranks/world.hpp"

using namespace shardlings;
using namespace ranks_test;

namespace {

template <class T>
void expect_equal(const T& got, const T& expected, std::string_view what)
{
    check(got == expected, "{}: got {}, expected {}", what, got, expected);
}

ConstBuffer bytes_of(const std::vector<std::byte>& bytes)
{
    return buffer_of(std::span(bytes));
}

void expect_error(const std::function<void()>& call, std::string_view says)
{
    try {
        call();
    } catch (const Error& error) {
        check(std::string_view(error.what()).find(says) != std::string_view::npos,
              "the error says '{}', expected '{}' in it", error.what(), says);
        return;
    }
    throw Error(fmt::format("no error, expected one that says '{}'", says));
}

/// A round trip costs exactly twice alpha + b / bandwidth, inside a node and between two.
void ping_pong(MpiSession& session)
{
    for (const int devices_per_node : {2, 1})
        for (const std::size_t size : {0, 1, 64, 4096, 65536, 1 << 20}) {
            World world(session, devices_per_node);
            std::vector<std::byte> message(size);
            const int peer = 1 - world.comm.rank();
            for (const bool sends : {peer == 1, peer == 0})
                if (sends)
                    world.comm.send(bytes_of(message), peer);
                else
                    world.comm.recv(buffer_of(std::span(message)), peer);
            const Link& link = world.topology().link(0, 1);
            const double way = link.latency + static_cast<double>(size) / link.bandwidth;
            expect_equal(world.now(), 2.0 * way, fmt::format("the clock after a round of {} bytes", size));
            world.comm.barrier();
            expect_equal(world.now(), 2.0 * way, "the clock after a barrier");
        }
}

/// A device has one link into its node and one out of it: messages on one of them follow each other.
void egress(MpiSession& session)
{
    World world(session, 2);  // ranks 0, 1 | 2, 3
    const double inside = world.topology().intra.seconds(1000.0);
    const double between = world.topology().inter.seconds(1000.0);
    std::vector<std::byte> message(1000);
    const int rank = world.comm.rank();
    if (rank == 0) {
        std::vector<Request> sending;
        for (const int to : {2, 1, 3, 1}) sending.push_back(world.comm.isend(bytes_of(message), to));
        expect_equal(world.now(), 0.0, "the clock after starting to send");
        for (Request& request : sending) request.wait();
        expect_equal(world.now(), std::max(2.0 * inside, 2.0 * between), "the clock when all is sent");
        return;
    }
    world.comm.recv(buffer_of(std::span(message)), 0);
    const std::map<int, double> arrival{{1, inside}, {2, between}, {3, 2.0 * between}};
    expect_equal(world.now(), arrival.at(rank), "the arrival of the first message");
    if (rank == 1) {
        world.comm.recv(buffer_of(std::span(message)), 0);
        expect_equal(world.now(), 2.0 * inside, "the arrival of the second message");
    }
}

/// What is computed between starting a message and waiting for it costs nothing extra, up to the message's
/// time.
void overlap(MpiSession& session)
{
    for (const double share : {0.25, 4.0}) {
        World world(session);
        std::vector<std::byte> message(1 << 20);
        const double way = world.topology().intra.seconds(static_cast<double>(message.size()));
        const double flops = share * way * world.topology().flops;
        const double computing = flops / world.topology().flops;
        const int peer = 1 - world.comm.rank();
        Request request = peer == 1 ? world.comm.isend(bytes_of(message), peer)
                                    : world.comm.irecv(buffer_of(std::span(message)), peer);
        world.device.compute(flops);
        expect_equal(world.now(), computing, "the clock before the wait");
        request.wait();
        expect_equal(world.now(), std::max(computing, way), "the clock after the wait");
        check(!request.pending(), "a request is pending after its wait");
        request.wait();  // nothing left to wait for
    }
}

/// Messages and bytes are counted by peer, by kind of link, by group and for the device as a whole.
void traffic(MpiSession& session)
{
    World world(session, 2);
    Comm reversed = world.comm.split(0, -world.comm.rank());
    const int p = world.comm.size();
    const int own = world.comm.rank();
    std::vector<double> values(10);
    const auto pass_on = [&](Comm& comm, std::int64_t count) {
        std::vector<double> in(10);
        const int right = (comm.rank() + 1) % p;
        comm.sendrecv(buffer_of(std::span<const double>(values)).part(0, count), right,
                      buffer_of(std::span(in)).part(0, count), (comm.rank() + p - 1) % p);
    };
    pass_on(world.comm, 10);
    pass_on(world.comm, 0);
    pass_on(reversed, 3);
    expect_equal(world.comm.traffic().total.messages, std::uint64_t{2}, "messages of the world");
    expect_equal(world.comm.traffic().total.bytes, std::uint64_t{80}, "bytes of the world");
    expect_equal(reversed.traffic().total.bytes, std::uint64_t{24}, "bytes of the group");
    const Traffic& all = world.device.traffic();
    expect_equal(all.total.messages, std::uint64_t{3}, "messages of the device");
    expect_equal(all.total.bytes, std::uint64_t{104}, "bytes of the device");
    const int right = (own + 1) % p;
    const int left = (own + p - 1) % p;
    std::map<int, std::uint64_t> to;
    to[right] += 80;
    to[left] += 24;
    std::uint64_t crossing = 0;
    for (const auto& [peer, bytes] : to) {
        expect_equal(all.to.at(peer).bytes, bytes, fmt::format("bytes to rank {}", peer));
        if (peer / 2 != own / 2) crossing += bytes;
    }
    expect_equal(all.inter_node.bytes, crossing, "bytes between nodes");
}

/// Groups by color, ordered by key; their messages do not meet the world's.
void split(MpiSession& session)
{
    World world(session);
    const int own = world.comm.rank();
    Comm group = world.comm.split(own % 2, -own);
    const int size = (session.size() + 1 - own % 2) / 2;
    expect_equal(group.size(), size, "the group's size");
    const int largest = own % 2 + 2 * (size - 1);
    expect_equal(group.rank(), (largest - own) / 2, "the rank in the group");
    for (int rank = 0; rank < size; ++rank)
        expect_equal(group.world_rank(rank), largest - 2 * rank, "the rank in the world");
    // Both communicators carry a message between the same two ranks with the same tag at the same time.
    const int next = (group.rank() + 1) % size;
    const int previous = (group.rank() + size - 1) % size;
    const std::array<std::int32_t, 2> out{own, 100 + own};
    std::array<std::int32_t, 2> in{};
    const std::span<const std::int32_t> outgoing(out);
    const std::span<std::int32_t> incoming(in);
    Request from_world = world.comm.irecv(buffer_of(incoming.first(1)), group.world_rank(previous));
    Request from_group = group.irecv(buffer_of(incoming.last(1)), previous);
    Request to_group = group.isend(buffer_of(outgoing.last(1)), next);
    Request to_world = world.comm.isend(buffer_of(outgoing.first(1)), group.world_rank(next));
    for (Request* request : {&from_world, &from_group, &to_group, &to_world}) request->wait();
    expect_equal(in[0], group.world_rank(previous), "what came through the world");
    expect_equal(in[1], 100 + group.world_rank(previous), "what came through the group");
}

/// A tag picks the message; messages of one tag come in the order they were sent.
void tags(MpiSession& session)
{
    World world(session);
    const std::array<std::int64_t, 4> sent{10, 20, 11, 21};
    const std::array<int, 4> tag{1, 2, 1, 2};
    if (world.comm.rank() == 0) {
        std::vector<Request> sending;
        for (std::size_t i = 0; i < sent.size(); ++i)
            sending.push_back(world.comm.isend(buffer_of(std::span(sent).subspan(i, 1)), 1, tag[i]));
        for (Request& request : sending) request.wait();
        return;
    }
    for (const auto& [asked, expected] :
         std::vector<std::pair<int, std::int64_t>>{{2, 20}, {2, 21}, {1, 10}, {1, 11}}) {
        std::array<std::int64_t, 1> value{};
        world.comm.recv(buffer_of(std::span<std::int64_t>(value)), 0, asked);
        expect_equal(value[0], expected, fmt::format("the message of tag {}", asked));
    }
}

/// A rank may send to itself while it receives.
void to_oneself(MpiSession& session)
{
    World world(session);
    const std::array<double, 2> out{1.5, 2.5};
    std::array<double, 2> in{};
    world.comm.sendrecv(buffer_of(std::span<const double>(out)), world.comm.rank(),
                        buffer_of(std::span<double>(in)), world.comm.rank());
    check(in == out, "a message to oneself did not arrive as it was");
}

/// Arguments that no message can have are refused before anything is sent.
void bad_arguments(MpiSession& session)
{
    World world(session);
    const int p = session.size();
    std::byte byte{};
    const Buffer one{&byte, 1, DType::byte};
    const Buffer huge{&byte, std::int64_t{INT_MAX} + 1, DType::byte};
    expect_error([&] { world.comm.send(one, p); }, fmt::format("rank {} is not in this group", p));
    expect_error([&] { world.comm.recv(one, -1); }, "rank -1 is not in this group");
    expect_error([&] { world.comm.send(one, 0, -1); }, "tag -1: expected 0 to 32767");
    expect_error([&] { world.comm.recv(one, 0, 32768); }, "tag 32768: expected 0 to 32767");
    expect_error([&] { world.comm.send(huge, 0); }, "2147483648 elements in one message");
    expect_equal(world.device.traffic().total.messages, std::uint64_t{0}, "messages sent");
}

/// Prints every rank's clock after messages of many sizes in a ring over nodes, to compare two runs.
void clocks(MpiSession& session)
{
    World world(session, 2);
    const int p = session.size();
    const int right = (world.comm.rank() + 1) % p;
    const int left = (world.comm.rank() + p - 1) % p;
    for (int step = 0; step < 20; ++step) {
        std::vector<std::byte> out(static_cast<std::size_t>(step * 997));
        std::vector<std::byte> in(out.size());
        world.device.compute(1e6 * (1 + (world.comm.rank() * 7 + step) % 5));
        world.comm.sendrecv(bytes_of(out), right, buffer_of(std::span(in)), left);
    }
    std::vector<double> all(static_cast<std::size_t>(p), world.now());
    if (world.comm.rank() != 0)
        world.comm.send(buffer_of(std::span<const double>(all).first(1)), 0);
    else
        for (int rank = 1; rank < p; ++rank)
            world.comm.recv(buffer_of(std::span(all).subspan(static_cast<std::size_t>(rank), 1)), rank);
    if (world.comm.rank() == 0)
        for (const double clock : all) fmt::print("{:a}\n", clock);
}

}  // namespace

int main(int argc, char** argv)
{
    const std::map<std::string, void (*)(MpiSession&)> scenarios{
        {"ping_pong", ping_pong},   {"egress", egress},
        {"overlap", overlap},       {"traffic", traffic},
        {"split", split},           {"tags", tags},
        {"to_oneself", to_oneself}, {"bad_arguments", bad_arguments},
        {"clocks", clocks}};
    return run_rank(argc, argv, [&](MpiSession& session) {
        for (int i = 1; i < argc; ++i) scenarios.at(argv[i])(session);
        return 0;
    });
}
