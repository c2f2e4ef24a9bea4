#include "lib/machine/comm/comm.hpp"

#include <mpi.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

/// What travels beside every message: its arrival in virtual time and what it is.
struct Stamp {
    double arrival;
    std::int64_t count;
    std::int64_t dtype;
};
constexpr int stamp_bytes = sizeof(Stamp);
constexpr int max_tag = 32767;  // the smallest upper bound that the MPI standard allows

void check_mpi(int code, const char* call)
{
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(
        fmt::format("{} failed: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

MPI_Datatype mpi_type(DType dtype)
{
    switch (dtype) {
        case DType::fp64:
            return MPI_DOUBLE;
        case DType::fp32:
            return MPI_FLOAT;
        case DType::bf16:
        case DType::fp16:
            return MPI_UINT16_T;
        case DType::i32:
            return MPI_INT32_T;
        case DType::i64:
            return MPI_INT64_T;
        case DType::byte:
            return MPI_BYTE;
    }
    return MPI_BYTE;
}

MPI_Comm duplicate(MPI_Comm comm)
{
    MPI_Comm copy = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return copy;
}

}  // namespace

struct Comm::State {
    MPI_Comm payload = MPI_COMM_NULL;
    MPI_Comm stamps = MPI_COMM_NULL;  // a second communicator, so that stamps never match payloads
    Device* device = nullptr;
    int rank = 0;
    std::vector<int> world_ranks;
    Traffic traffic;

    State(MPI_Comm parent, Device& owner, std::vector<int> ranks)
        : payload(duplicate(parent)), stamps(duplicate(parent)), device(&owner), world_ranks(std::move(ranks))
    {
        check_mpi(MPI_Comm_rank(payload, &rank), "MPI_Comm_rank");
    }
    ~State()
    {
        int finalized = 0;
        MPI_Finalized(&finalized);
        // Freeing is collective: when an error unwinds this rank alone, the job is about to be ended instead.
        if (finalized != 0 || std::uncaught_exceptions() > 0) return;
        MPI_Comm_free(&payload);
        MPI_Comm_free(&stamps);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void check_message(const char* call, std::int64_t count, int peer, int tag) const
    {
        check(peer >= 0 && peer < static_cast<int>(world_ranks.size()),
              "{}: rank {} is not in this group: expected 0 to {}", call, peer, world_ranks.size() - 1);
        check(tag >= 0 && tag <= max_tag, "{}: tag {}: expected 0 to {}", call, tag, max_tag);
        check(count >= 0 && count <= INT_MAX, "{}: {} elements in one message: expected at most {}, split it",
              call, count, INT_MAX);
    }

    /// Books the message on the sender's link and returns its stamp.
    Stamp depart(ConstBuffer values, int to)
    {
        const int from_world = device->rank();
        const int to_world = world_ranks[static_cast<std::size_t>(to)];
        const Topology& topology = device->topology();
        const bool crosses = topology.node_of(from_world) != topology.node_of(to_world);
        double& free = device->egress_free(crosses);
        const double begin = std::max(device->clock().now(), free);
        const double arrival =
            begin + topology.link(from_world, to_world).seconds(static_cast<double>(values.bytes()));
        free = arrival;
        traffic.add(to_world, values.bytes(), crosses);
        device->traffic().add(to_world, values.bytes(), crosses);
        if (device->recording())
            device->record({"send", "send", begin, arrival, 0.0, values.bytes(), to_world, -1});
        return {arrival, values.count, static_cast<std::int64_t>(values.dtype)};
    }
};

struct Request::State {
    MPI_Request payload = MPI_REQUEST_NULL;
    MPI_Request stamp_request = MPI_REQUEST_NULL;
    Stamp stamp{};
    Device* device = nullptr;
    bool receives = false;
    Buffer expected;
    int peer_world = -1;
    int tag = 0;
    std::source_location where;

    void check_received(const MPI_Status& status) const;
    /// Waits for both messages and moves the clock.
    void finish();
};

void Request::State::check_received(const MPI_Status& status) const
{
    int count = 0;
    MPI_Get_count(&status, mpi_type(expected.dtype), &count);
    check(stamp.dtype == static_cast<std::int64_t>(expected.dtype) && stamp.count == expected.count &&
              count == expected.count,
          "rank {} expected {} {} elements from rank {} (tag {}) but was sent {} {}: the two sides must name "
          "the same "
          "dtype and length",
          device->rank(), expected.count, name_of(expected.dtype), peer_world, tag, stamp.count,
          name_of(static_cast<DType>(stamp.dtype)));
}

Request::Request(std::unique_ptr<State> state) : state_(std::move(state)) {}
Request::Request() = default;
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept
{
    Request old(std::move(*this));
    state_ = std::move(other.state_);
    return *this;
}

Request::~Request()
{
    if (state_ == nullptr || std::uncaught_exceptions() > 0) return;
    fmt::print(stderr,
               "rank {}: the {} started at {}:{} was never waited for: keep its Request and call wait()\n",
               state_->device->rank(), state_->receives ? "irecv" : "isend", state_->where.file_name(),
               state_->where.line());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void Request::State::finish()
{
    MPI_Status status;
    const int code = MPI_Wait(&payload, &status);
    check_mpi(MPI_Wait(&stamp_request, MPI_STATUS_IGNORE), "MPI_Wait");
    int error_class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    if (receives && (error_class == MPI_SUCCESS || error_class == MPI_ERR_TRUNCATE)) check_received(status);
    check_mpi(code, "MPI_Wait");
    Clock& clock = device->clock();
    const double begin = clock.now();
    clock.wait_until(stamp.arrival);
    if (!device->recording()) return;
    const char* kind = receives ? "receive" : "wait";
    device->record({kind, kind, begin, clock.now(), 0.0, expected.bytes(), peer_world, -1});
}

void Request::wait()
{
    if (state_ == nullptr) return;
    const std::unique_ptr<State> state = std::move(state_);
    state->finish();
}

Comm::Comm(std::unique_ptr<State> state) : state_(std::move(state)) {}
Comm::Comm(Comm&&) noexcept = default;
Comm& Comm::operator=(Comm&&) noexcept = default;
Comm::~Comm() = default;

Comm Comm::world(Device& device)
{
    int size = 0;
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    check(size <= device.topology().devices(), "{} ranks do not fit the topology of {} nodes of {} devices",
          size, device.topology().nodes, device.topology().devices_per_node);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
    return Comm(std::make_unique<State>(MPI_COMM_WORLD, device, std::move(ranks)));
}

int Comm::rank() const
{
    return state_->rank;
}

int Comm::size() const
{
    return static_cast<int>(state_->world_ranks.size());
}

int Comm::world_rank(int rank) const
{
    return state_->world_ranks.at(static_cast<std::size_t>(rank));
}

Device& Comm::device() const
{
    return *state_->device;
}

const Traffic& Comm::traffic() const
{
    return state_->traffic;
}

void Comm::start_send(Request::State& request, ConstBuffer values, int to, int tag)
{
    state_->check_message("send", values.count, to, tag);
    request.device = state_->device;
    request.peer_world = state_->world_ranks[static_cast<std::size_t>(to)];
    request.tag = tag;
    request.stamp = state_->depart(values, to);
    const auto start = state_->device->synchronous() ? MPI_Issend : MPI_Isend;
    check_mpi(start(values.data, static_cast<int>(values.count), mpi_type(values.dtype), to, tag,
                    state_->payload, &request.payload),
              "MPI_Isend");
    check_mpi(
        MPI_Isend(&request.stamp, stamp_bytes, MPI_BYTE, to, tag, state_->stamps, &request.stamp_request),
        "MPI_Isend");
}

Request Comm::isend(ConstBuffer values, int to, int tag, std::source_location where)
{
    auto request = std::make_unique<Request::State>();
    request->where = where;
    start_send(*request, values, to, tag);
    return Request(std::move(request));
}

void Comm::start_recv(Request::State& request, Buffer values, int from, int tag)
{
    state_->check_message("recv", values.count, from, tag);
    request.device = state_->device;
    request.receives = true;
    request.expected = values;
    request.peer_world = state_->world_ranks[static_cast<std::size_t>(from)];
    request.tag = tag;
    check_mpi(MPI_Irecv(values.data, static_cast<int>(values.count), mpi_type(values.dtype), from, tag,
                        state_->payload, &request.payload),
              "MPI_Irecv");
    check_mpi(
        MPI_Irecv(&request.stamp, stamp_bytes, MPI_BYTE, from, tag, state_->stamps, &request.stamp_request),
        "MPI_Irecv");
}

Request Comm::irecv(Buffer values, int from, int tag, std::source_location where)
{
    auto request = std::make_unique<Request::State>();
    request->where = where;
    start_recv(*request, values, from, tag);
    return Request(std::move(request));
}

void Comm::send(ConstBuffer values, int to, int tag)
{
    Request::State request;
    start_send(request, values, to, tag);
    request.finish();
}

void Comm::recv(Buffer values, int from, int tag)
{
    Request::State request;
    start_recv(request, values, from, tag);
    request.finish();
}

void Comm::sendrecv(ConstBuffer out, int to, Buffer in, int from, int tag)
{
    Request::State receive;
    Request::State sending;
    start_recv(receive, in, from, tag);
    start_send(sending, out, to, tag);
    receive.finish();
    sending.finish();
}

Comm Comm::split(int color, int key) const
{
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(state_->payload, color, key, &part), "MPI_Comm_split");
    int size = 0;
    check_mpi(MPI_Comm_size(part, &size), "MPI_Comm_size");
    std::vector<int> ranks(static_cast<std::size_t>(size));
    const int own = state_->device->rank();
    check_mpi(MPI_Allgather(&own, 1, MPI_INT, ranks.data(), 1, MPI_INT, part), "MPI_Allgather");
    auto state = std::make_unique<State>(part, *state_->device, std::move(ranks));
    check_mpi(MPI_Comm_free(&part), "MPI_Comm_free");
    return Comm(std::move(state));
}

void Comm::barrier() const
{
    check_mpi(MPI_Barrier(state_->stamps), "MPI_Barrier");
}

}  // namespace shardlings
