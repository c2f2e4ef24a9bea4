// MPI's blocking sends, receives and probes.
#include <array>

#include "lib/tools/watch/preload/operations.hpp"

namespace shardlings::watch {

namespace {

template <class Real>
int send(Call call, std::uint64_t site, int peer, int tag, MPI_Comm communicator, Real real)
{
    const std::array slots{begin_blocking(Kind::send, call, site, peer, tag, communicator)};
    const Waiting waiting(call, site, true, slots);
    const int result = real();
    if (result != MPI_SUCCESS) not_known();
    return result;
}

/// `real` is given the status to fill. `takes`: the message is out of the way afterwards.
template <class Real>
int receive(Kind kind, Call call, std::uint64_t site, int peer, int tag, MPI_Comm communicator, bool takes,
            MPI_Status* wanted, Real real)
{
    MPI_Status own_status;
    MPI_Status* status = wanted == MPI_STATUS_IGNORE ? &own_status : wanted;
    const std::array slots{begin_blocking(kind, call, site, peer, tag, communicator)};
    const Waiting waiting(call, site, true, slots);
    const int result = real(status);
    if (result == MPI_SUCCESS && takes) received(communicator, *status);
    if (result != MPI_SUCCESS) not_known();
    return result;
}

template <class Real>
int probe(Call call, std::uint64_t site, int peer, int tag, MPI_Comm communicator, bool takes, int* found,
          MPI_Status* wanted, Real real)
{
    Poll poll(call, site);
    MPI_Status own_status;
    MPI_Status* status = wanted == MPI_STATUS_IGNORE ? &own_status : wanted;
    const int result = real(status);
    if (result != MPI_SUCCESS) return result;
    if (*found != 0) {
        if (takes) received(communicator, *status);
        progress();
        return result;
    }
    const std::array slots{probed(call, site, peer, tag, communicator)};
    poll.failed(true, slots);
    return result;
}

template <class Real>
int send_and_receive(Call call, std::uint64_t site, int to, int send_tag, int from, int receive_tag,
                     MPI_Comm communicator, MPI_Status* wanted, Real real)
{
    MPI_Status own_status;
    MPI_Status* status = wanted == MPI_STATUS_IGNORE ? &own_status : wanted;
    const std::array slots{begin_blocking(Kind::send, call, site, to, send_tag, communicator),
                           begin_blocking(Kind::receive, call, site, from, receive_tag, communicator)};
    const Waiting waiting(call, site, true, slots);
    const int result = real(status);
    if (result == MPI_SUCCESS)
        received(communicator, *status);
    else
        not_known();
    return result;
}

}  // namespace

}  // namespace shardlings::watch

using namespace shardlings::watch;

// In --synchronous runs a standard send ends only when its receive has begun, as it does for long messages.
#define WATCHED_SEND(name, in_synchronous_runs)                                                        \
    WATCHED MPI_##name(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm on) \
    {                                                                                                  \
        if (!watching()) return PMPI_##name(buffer, count, type, to, tag, on);                         \
        return send(Call::name, CALL_SITE, to, tag, on, [&] {                                          \
            return own.synchronous ? PMPI_##in_synchronous_runs(buffer, count, type, to, tag, on)      \
                                   : PMPI_##name(buffer, count, type, to, tag, on);                    \
        });                                                                                            \
    }

WATCHED_SEND(Send, Ssend)
WATCHED_SEND(Ssend, Ssend)
WATCHED_SEND(Rsend, Rsend)

// It never waits for anybody, but its message counts.
WATCHED MPI_Bsend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm on)
{
    if (watching()) {
        progress();
        begin_blocking(Kind::send, Call::Bsend, CALL_SITE, to, tag, on);
    }
    const int result = PMPI_Bsend(buffer, count, type, to, tag, on);
    if (watching() && result != MPI_SUCCESS) not_known();
    return result;
}

WATCHED MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm on,
                 MPI_Status* status)
{
    if (!watching()) return PMPI_Recv(buffer, count, type, from, tag, on, status);
    return receive(Kind::receive, Call::Recv, CALL_SITE, from, tag, on, true, status,
                   [&](MPI_Status* s) { return PMPI_Recv(buffer, count, type, from, tag, on, s); });
}

WATCHED MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                     int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm on,
                     MPI_Status* status)
{
    if (!watching())
        return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, on,
                             status);
    return send_and_receive(Call::Sendrecv, CALL_SITE, to, out_tag, from, in_tag, on, status,
                            [&](MPI_Status* s) {
                                return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count,
                                                     in_type, from, in_tag, on, s);
                            });
}

WATCHED MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from,
                             int in_tag, MPI_Comm on, MPI_Status* status)
{
    if (!watching()) return PMPI_Sendrecv_replace(buffer, count, type, to, out_tag, from, in_tag, on, status);
    return send_and_receive(
        Call::Sendrecv_replace, CALL_SITE, to, out_tag, from, in_tag, on, status, [&](MPI_Status* s) {
            return PMPI_Sendrecv_replace(buffer, count, type, to, out_tag, from, in_tag, on, s);
        });
}

WATCHED MPI_Probe(int from, int tag, MPI_Comm on, MPI_Status* status)
{
    if (!watching()) return PMPI_Probe(from, tag, on, status);
    return receive(Kind::probe, Call::Probe, CALL_SITE, from, tag, on, false, status,
                   [&](MPI_Status* s) { return PMPI_Probe(from, tag, on, s); });
}

WATCHED MPI_Mprobe(int from, int tag, MPI_Comm on, MPI_Message* message, MPI_Status* status)
{
    if (!watching()) return PMPI_Mprobe(from, tag, on, message, status);
    return receive(Kind::probe, Call::Mprobe, CALL_SITE, from, tag, on, true, status,
                   [&](MPI_Status* s) { return PMPI_Mprobe(from, tag, on, message, s); });
}

WATCHED MPI_Iprobe(int from, int tag, MPI_Comm on, int* found, MPI_Status* status)
{
    if (!watching()) return PMPI_Iprobe(from, tag, on, found, status);
    return probe(Call::Iprobe, CALL_SITE, from, tag, on, false, found, status,
                 [&](MPI_Status* s) { return PMPI_Iprobe(from, tag, on, found, s); });
}

WATCHED MPI_Improbe(int from, int tag, MPI_Comm on, int* found, MPI_Message* message, MPI_Status* status)
{
    if (!watching()) return PMPI_Improbe(from, tag, on, found, message, status);
    return probe(Call::Improbe, CALL_SITE, from, tag, on, true, found, status,
                 [&](MPI_Status* s) { return PMPI_Improbe(from, tag, on, found, message, s); });
}
