// What all collectives have in common.
#pragma once

#include "lib/tools/watch/preload/operations.hpp"

namespace shardlings::watch {

/// Bytes to or from the ranks before and after this one, plus 1; 0 when they are not comparable.
struct Sides {
    std::uint64_t bytes[2] = {};
};

/// Root, count, type and reduction as far as they have to be alike on all ranks, and what one rank sends and
/// the other expects. `root` is `any` when there is none, `count` negative when ranks may differ in it.
struct Terms {
    int root = any;
    long count = -1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op reduction = MPI_OP_NULL;
    Sides sent{};
    Sides expected{};
};

/// Counts the collective, compares it with what the neighbouring ranks called, and stops here when they
/// called something else. Its number on the communicator; 0: it is not followed.
std::uint64_t enter_collective(Call call, std::uint64_t site, Communicator* communicator, const Terms& terms);

template <class Real>
int collective(Call call, std::uint64_t site, MPI_Comm on, const Terms& terms, Real real)
{
    Communicator* communicator = find_communicator(on);
    const std::uint64_t nth = enter_collective(call, site, communicator, terms);
    const int slot = begin_collective(call, site, communicator, nth);
    const Waiting waiting(call, site, true, std::span(&slot, 1));
    const int result = real();
    attach(slot, MPI_ERR_OTHER, nullptr);  // it has ended
    if (result != MPI_SUCCESS && communicator != nullptr) give_up_collectives(*communicator);
    return result;
}

template <class Real>
int begin_collective_request(Call call, std::uint64_t site, MPI_Comm on, const Terms& terms,
                             MPI_Request* request, Real real)
{
    progress();
    Communicator* communicator = find_communicator(on);
    const std::uint64_t nth = enter_collective(call, site, communicator, terms);
    const int slot = begin_collective(call, site, communicator, nth);
    ++own.depth;
    const int result = real();
    --own.depth;
    attach(slot, result, request);
    if (result != MPI_SUCCESS && communicator != nullptr) give_up_collectives(*communicator);
    return result;
}

}  // namespace shardlings::watch
