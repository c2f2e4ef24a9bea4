// MPI's calls that wait for requests, or ask whether they are complete.
#include "lib/tools/watch/preload/operations.hpp"

using namespace shardlings::watch;

WATCHED MPI_Wait(MPI_Request* request, MPI_Status* status)
{
    if (!watching()) return PMPI_Wait(request, status);
    Requests requests(1, request);
    const Waiting waiting(Call::Wait, CALL_SITE, true, requests.slots());
    const int result = PMPI_Wait(request, status = requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    requests.complete(0, 0);
    return result;
}

WATCHED MPI_Waitall(int count, MPI_Request* request, MPI_Status* status)
{
    if (!watching()) return PMPI_Waitall(count, request, status);
    Requests requests(count, request);
    const Waiting waiting(Call::Waitall, CALL_SITE, true, requests.slots());
    const int result = PMPI_Waitall(count, request, requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    for (int i = 0; i < count; ++i) requests.complete(i, i);
    return result;
}

WATCHED MPI_Waitany(int count, MPI_Request* request, int* index, MPI_Status* status)
{
    if (!watching()) return PMPI_Waitany(count, request, index, status);
    Requests requests(count, request);
    const Waiting waiting(Call::Waitany, CALL_SITE, false, requests.slots());
    const int result = PMPI_Waitany(count, request, index, count == 0 ? status : requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    if (*index != MPI_UNDEFINED) requests.complete(*index, 0);
    return result;
}

WATCHED MPI_Waitsome(int count, MPI_Request* request, int* done, int* indices, MPI_Status* status)
{
    if (!watching()) return PMPI_Waitsome(count, request, done, indices, status);
    Requests requests(count, request);
    const Waiting waiting(Call::Waitsome, CALL_SITE, false, requests.slots());
    const int result = PMPI_Waitsome(count, request, done, indices, requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    for (int i = 0; *done != MPI_UNDEFINED && i < *done; ++i) requests.complete(indices[i], i);
    return result;
}

WATCHED MPI_Test(MPI_Request* request, int* flag, MPI_Status* status)
{
    if (!watching()) return PMPI_Test(request, flag, status);
    Poll poll(Call::Test, CALL_SITE);
    Requests requests(1, request);
    const int result = PMPI_Test(request, flag, requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    if (*flag == 0) {
        poll.failed(true, requests.slots());
    } else {
        requests.complete(0, 0);
        progress();
    }
    return result;
}

WATCHED MPI_Testall(int count, MPI_Request* request, int* flag, MPI_Status* status)
{
    if (!watching()) return PMPI_Testall(count, request, flag, status);
    Poll poll(Call::Testall, CALL_SITE);
    Requests requests(count, request);
    const int result = PMPI_Testall(count, request, flag, requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    if (*flag == 0) {
        poll.failed(true, requests.slots());
    } else {
        for (int i = 0; i < count; ++i) requests.complete(i, i);
        progress();
    }
    return result;
}

WATCHED MPI_Testany(int count, MPI_Request* request, int* index, int* flag, MPI_Status* status)
{
    if (!watching()) return PMPI_Testany(count, request, index, flag, status);
    Poll poll(Call::Testany, CALL_SITE);
    Requests requests(count, request);
    const int result =
        PMPI_Testany(count, request, index, flag, count == 0 ? status : requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    if (*flag == 0) {
        poll.failed(false, requests.slots());
    } else {
        if (*index != MPI_UNDEFINED) requests.complete(*index, 0);
        progress();
    }
    return result;
}

WATCHED MPI_Testsome(int count, MPI_Request* request, int* done, int* indices, MPI_Status* status)
{
    if (!watching()) return PMPI_Testsome(count, request, done, indices, status);
    Poll poll(Call::Testsome, CALL_SITE);
    Requests requests(count, request);
    const int result = PMPI_Testsome(count, request, done, indices, requests.statuses(status));
    if (result != MPI_SUCCESS) return requests.failed(result, request);
    if (*done == 0) {
        poll.failed(false, requests.slots());
    } else {
        for (int i = 0; i < *done; ++i) requests.complete(indices[i], i);
        progress();
    }
    return result;
}

// Complete or not, the request stays as it is.
WATCHED MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status)
{
    if (!watching()) return PMPI_Request_get_status(request, flag, status);
    Poll poll(Call::Request_get_status, CALL_SITE);
    Requests requests(1, &request);
    const int result = PMPI_Request_get_status(request, flag, status = requests.statuses(status));
    if (result != MPI_SUCCESS) return result;
    if (*flag == 0) {
        poll.failed(true, requests.slots());
    } else {
        requests.complete_and_keep(*status);
        progress();
    }
    return result;
}
