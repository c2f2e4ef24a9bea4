// MPI's calls that begin an operation and give a request for it.
#include "lib/tools/watch/preload/operations.hpp"

using namespace shardlings::watch;

namespace {

template <class Real>
int begin_operation(Kind kind, Call call, std::uint64_t site, const Message& message, bool active,
                    MPI_Request* request, Real real)
{
    const int slot = begin(kind, call, site, message, active);
    ++own.depth;
    const int result = real(slot);
    --own.depth;
    attach(slot, result, request);
    return result;
}

}  // namespace

#define WATCHED_SEND(name, in_synchronous_runs, active)                                                    \
    WATCHED MPI_##name(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm on,   \
                       MPI_Request* request)                                                               \
    {                                                                                                      \
        if (!watching()) return PMPI_##name(buffer, count, type, peer, tag, on, request);                  \
        return begin_operation(Kind::send, Call::name, CALL_SITE, {buffer, count, type, peer, tag, on},    \
                               active, request, [&](int) {                                                 \
                                   return own.synchronous                                                  \
                                              ? PMPI_##in_synchronous_runs(buffer, count, type, peer, tag, \
                                                                           on, request)                    \
                                              : PMPI_##name(buffer, count, type, peer, tag, on, request);  \
                               });                                                                         \
    }
#define WATCHED_RECEIVE(name, active)                                                                        \
    WATCHED MPI_##name(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm on,           \
                       MPI_Request* request)                                                                 \
    {                                                                                                        \
        if (!watching()) return PMPI_##name(buffer, count, type, peer, tag, on, request);                    \
        return begin_operation(Kind::receive, Call::name, CALL_SITE, {buffer, count, type, peer, tag, on},   \
                               active, request, [&](int slot) {                                              \
                                   return PMPI_##name(address_for(slot, buffer), count, type, peer, tag, on, \
                                                      request);                                              \
                               });                                                                           \
    }

WATCHED_SEND(Isend, Issend, true)
WATCHED_SEND(Issend, Issend, true)
WATCHED_SEND(Ibsend, Ibsend, true)
WATCHED_SEND(Irsend, Irsend, true)
WATCHED_SEND(Send_init, Ssend_init, false)
WATCHED_SEND(Ssend_init, Ssend_init, false)
WATCHED_SEND(Bsend_init, Bsend_init, false)
WATCHED_SEND(Rsend_init, Rsend_init, false)
WATCHED_RECEIVE(Irecv, true)
WATCHED_RECEIVE(Recv_init, false)

WATCHED MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request)
{
    if (!watching()) return PMPI_Imrecv(buffer, count, type, message, request);
    const int slot = begin_matched(Call::Imrecv, CALL_SITE, buffer, count, type);
    const int result = PMPI_Imrecv(address_for(slot, buffer), count, type, message, request);
    attach(slot, result, request);
    return result;
}

WATCHED MPI_Start(MPI_Request* request)
{
    if (watching()) start(*request);
    return PMPI_Start(request);
}

WATCHED MPI_Startall(int count, MPI_Request requests[])
{
    if (watching())
        for (int i = 0; i < count; ++i) start(requests[i]);
    return PMPI_Startall(count, requests);
}

WATCHED MPI_Cancel(MPI_Request* request)
{
    if (watching()) cancel(*request);
    return PMPI_Cancel(request);
}

WATCHED MPI_Request_free(MPI_Request* request)
{
    return watching() ? free_request(request) : PMPI_Request_free(request);
}
