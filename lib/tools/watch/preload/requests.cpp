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
    const int result = real();
    --own.depth;
    attach(slot, result, *request);
    return result;
}

}  // namespace

#define WATCHED_REQUEST(kind, name, in_synchronous_runs, pointer, active)                                   \
    WATCHED MPI_##name(pointer buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm on,        \
                       MPI_Request* request)                                                                \
    {                                                                                                       \
        if (!watching()) return PMPI_##name(buffer, count, type, peer, tag, on, request);                   \
        return begin_operation(                                                                             \
            Kind::kind, Call::name, CALL_SITE, {buffer, count, type, peer, tag, on}, active, request, [&] { \
                return own.synchronous                                                                      \
                           ? PMPI_##in_synchronous_runs(buffer, count, type, peer, tag, on, request)        \
                           : PMPI_##name(buffer, count, type, peer, tag, on, request);                      \
            });                                                                                             \
    }

WATCHED_REQUEST(send, Isend, Issend, const void*, true)
WATCHED_REQUEST(send, Issend, Issend, const void*, true)
WATCHED_REQUEST(send, Ibsend, Ibsend, const void*, true)
WATCHED_REQUEST(send, Irsend, Irsend, const void*, true)
WATCHED_REQUEST(receive, Irecv, Irecv, void*, true)
WATCHED_REQUEST(send, Send_init, Ssend_init, const void*, false)
WATCHED_REQUEST(send, Ssend_init, Ssend_init, const void*, false)
WATCHED_REQUEST(send, Bsend_init, Bsend_init, const void*, false)
WATCHED_REQUEST(send, Rsend_init, Rsend_init, const void*, false)
WATCHED_REQUEST(receive, Recv_init, Recv_init, void*, false)

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
    if (watching()) free_request(*request);
    return PMPI_Request_free(request);
}
