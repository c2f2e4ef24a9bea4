#include "lib/machine/comm/state.hpp"

#include <array>
#include <climits>
#include <cstdlib>
#include <exception>
#include <utility>

#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/simulated.hpp"
#include "lib/machine/device/observer.hpp"

namespace shardlings {

namespace {

constexpr int stamp_bytes = sizeof(Stamp);
constexpr int max_tag = 32767;  // the smallest upper bound that the MPI standard allows

MPI_Comm duplicate(MPI_Comm comm)
{
    MPI_Comm copy = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return copy;
}

}  // namespace

void check_mpi(int code, const char* call)
{
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(
        fmt::format("{} failed: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

void abort_job()
{
    if (std::getenv(simulated_rank_variable) != nullptr) std::_Exit(1);
    MPI_Abort(MPI_COMM_WORLD, 1);
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

Comm::State::State(MPI_Comm parent, Device& owner, std::vector<int> ranks)
    : payload(duplicate(parent)), stamps(duplicate(parent)), device(&owner), world_ranks(std::move(ranks))
{
    check_mpi(MPI_Comm_rank(payload, &rank), "MPI_Comm_rank");
}

Comm::State::~State()
{
    int finalized = 0;
    MPI_Finalized(&finalized);
    // Freeing is collective: when an error unwinds this rank alone, the job is about to be ended instead.
    if (finalized != 0 || std::uncaught_exceptions() > 0) return;
    MPI_Comm_free(&payload);
    MPI_Comm_free(&stamps);
}

void Comm::State::check_message(const char* call, std::int64_t count, int peer, int tag) const
{
    check(peer >= 0 && peer < static_cast<int>(world_ranks.size()),
          "{}: rank {} is not in this group: expected 0 to {}", call, peer, world_ranks.size() - 1);
    check(tag >= 0 && tag <= max_tag, "{}: tag {}: expected 0 to {}", call, tag, max_tag);
    check(count >= 0 && count <= INT_MAX, "{}: {} elements in one message: expected at most {}, split it",
          call, count, INT_MAX);
}

Stamp Comm::State::depart(ConstBuffer values, int to)
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
    message_sent(*device, to_world, values.bytes(), arrival);
    if (device->recording())
        device->record({"send", "send", begin, arrival, 0.0, values.bytes(), to_world, -1});
    return {arrival, values.count, static_cast<std::int32_t>(values.dtype), 0};
}

void Comm::State::announce(Request::State& request, ConstBuffer values, int to, int tag)
{
    request.device = device;
    request.peer_world = world_ranks[static_cast<std::size_t>(to)];
    request.tag = tag;
    request.stamp = depart(values, to);
    request.stamp.in_pieces = request.in_pieces ? 1 : 0;
    check_mpi(MPI_Isend(&request.stamp, stamp_bytes, MPI_BYTE, to, tag, stamps, &request.stamp_request),
              "MPI_Isend");
}

void Comm::State::expect(Request::State& request, Buffer values, int from, int tag)
{
    request.device = device;
    request.receives = true;
    request.expected = values;
    request.payload_count = values.count;
    request.peer_world = world_ranks[static_cast<std::size_t>(from)];
    request.tag = tag;
    check_mpi(MPI_Irecv(&request.stamp, stamp_bytes, MPI_BYTE, from, tag, stamps, &request.stamp_request),
              "MPI_Irecv");
}

void Comm::State::start_payload(ConstBuffer values, int to, int tag, MPI_Request& request) const
{
    spend_computed_time(*device);
    const auto start = device->synchronous() ? MPI_Issend : MPI_Isend;
    check_mpi(start(values.data, static_cast<int>(values.count), mpi_type(values.dtype), to, tag, payload,
                    &request),
              "MPI_Isend");
}

void Request::State::check_received(std::int64_t arrived) const
{
    const auto sent = static_cast<DType>(stamp.dtype);
    check(sent == expected.dtype && stamp.count == expected.count,
          "rank {} expected {} {} elements from rank {} (tag {}) but was sent {} {}: the two sides must name "
          "the same dtype and length",
          device->rank(), expected.count, name_of(expected.dtype), peer_world, tag, stamp.count,
          name_of(sent));
    check(
        (stamp.in_pieces != 0) == in_pieces && arrived == payload_count,
        "rank {} expected {} elements {} from rank {} (tag {}) but they were sent {}: either both sides call "
        "exchange_pieces or none",
        device->rank(), expected.count, in_pieces ? "in pieces" : "as a whole", peer_world, tag,
        in_pieces ? "as a whole" : "in pieces");
}

void Request::State::finish()
{
    spend_computed_time(*device);
    MPI_Status status;
    const int code = MPI_Wait(&payload, &status);
    check_mpi(MPI_Wait(&stamp_request, MPI_STATUS_IGNORE), "MPI_Wait");
    int error_class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    if (receives && (error_class == MPI_SUCCESS || error_class == MPI_ERR_TRUNCATE)) {
        int count = 0;
        MPI_Get_count(&status, mpi_type(expected.dtype), &count);
        check_received(count);
    }
    check_mpi(code, "MPI_Wait");
    Clock& clock = device->clock();
    const double begin = clock.now();
    clock.wait_until(stamp.arrival);
    message_waited(*device, receives, peer_world, expected.bytes(), stamp.arrival);
    if (!device->recording()) return;
    const char* kind = receives ? "receive" : "wait";
    device->record({kind, kind, begin, clock.now(), 0.0, expected.bytes(), peer_world, -1});
}

}  // namespace shardlings
