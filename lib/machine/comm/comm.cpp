#include "lib/machine/comm/comm.hpp"

#include <cstdio>
#include <exception>
#include <numeric>
#include <utility>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/state.hpp"

namespace shardlings {

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
    abort_job();
}

void Request::wait()
{
    if (state_ == nullptr) return;
    const std::unique_ptr<State> state = std::move(state_);
    state->finish();
}

double Request::arrival() const
{
    check(state_ != nullptr && !state_->receives, "arrival() is of a message that is being sent");
    return state_->stamp.arrival;
}

Comm::Comm(std::unique_ptr<State> state) : state_(std::move(state)) {}
Comm::Comm(Comm&&) noexcept = default;
Comm& Comm::operator=(Comm&&) noexcept = default;
Comm::~Comm() = default;

Comm Comm::world(Device& device)
{
    int size = 0;
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    check(size <= device.topology().devices(), "{} ranks do not fit the topology of {} of {}", size,
          counted(device.topology().nodes, "node"), counted(device.topology().devices_per_node, "device"));
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
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
    state_->start_payload(values, to, tag, request.payload);
    state_->announce(request, values, to, tag);
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
    check_mpi(MPI_Irecv(values.data, static_cast<int>(values.count), mpi_type(values.dtype), from, tag,
                        state_->payload, &request.payload),
              "MPI_Irecv");
    state_->expect(request, values, from, tag);
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

namespace {

/// The world ranks of the members of `part`, which are some of those of `whole`. Nothing is sent.
std::vector<int> world_ranks_of(MPI_Comm part, MPI_Comm whole, const std::vector<int>& world_ranks)
{
    MPI_Group members = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    check_mpi(MPI_Comm_group(part, &members), "MPI_Comm_group");
    check_mpi(MPI_Comm_group(whole, &all), "MPI_Comm_group");
    int size = 0;
    check_mpi(MPI_Group_size(members, &size), "MPI_Group_size");
    std::vector<int> own(static_cast<std::size_t>(size));
    std::iota(own.begin(), own.end(), 0);
    std::vector<int> ranks(own.size());
    check_mpi(MPI_Group_translate_ranks(members, size, own.data(), all, ranks.data()),
              "MPI_Group_translate_ranks");
    check_mpi(MPI_Group_free(&members), "MPI_Group_free");
    check_mpi(MPI_Group_free(&all), "MPI_Group_free");
    for (int& rank : ranks) rank = world_ranks[static_cast<std::size_t>(rank)];
    return ranks;
}

}  // namespace

Comm Comm::split(int color, int key) const
{
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(state_->payload, color, key, &part), "MPI_Comm_split");
    std::vector<int> ranks = world_ranks_of(part, state_->payload, state_->world_ranks);
    auto state = std::make_unique<State>(part, *state_->device, std::move(ranks));
    check_mpi(MPI_Comm_free(&part), "MPI_Comm_free");
    return Comm(std::move(state));
}

void Comm::barrier() const
{
    check_mpi(MPI_Barrier(state_->stamps), "MPI_Barrier");
}

}  // namespace shardlings
