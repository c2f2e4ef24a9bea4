// What Comm and Request are inside. For this folder only: it knows MPI.
#pragma once

#include <mpi.h>

#include "lib/machine/comm/comm.hpp"

namespace shardlings {

/// Error naming the MPI function and its reason unless `code` is success.
void check_mpi(int code, const char* call);

/// Ends all ranks, with exit code 1. Simulated ranks are this process, and SMPI's MPI_Abort leaves exit code
/// 0.
void abort_job();

MPI_Datatype mpi_type(DType dtype);

/// What travels beside every message: its arrival in virtual time and what it is.
struct Stamp {
    double arrival;
    std::int64_t count;
    std::int32_t dtype;
    std::int32_t in_pieces;  // 1 for exchange_pieces
};

struct Comm::State {
    MPI_Comm payload = MPI_COMM_NULL;
    MPI_Comm stamps = MPI_COMM_NULL;  // a second communicator, so that stamps never match payloads
    Device* device = nullptr;
    int rank = 0;
    std::vector<int> world_ranks;
    Traffic traffic;

    State(MPI_Comm parent, Device& owner, std::vector<int> ranks);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void check_message(const char* call, std::int64_t count, int peer, int tag) const;
    /// Books the message on the sender's link and returns its stamp.
    Stamp depart(ConstBuffer values, int to);

    /// All of a message but its payload: the sender's stamp on its way, the receiver waiting for it. After
    /// the payload, which takes longer.
    void announce(Request::State& request, ConstBuffer values, int to, int tag);
    void expect(Request::State& request, Buffer values, int from, int tag);
    void start_payload(ConstBuffer values, int to, int tag, MPI_Request& request) const;
};

struct Request::State {
    MPI_Request payload = MPI_REQUEST_NULL;
    MPI_Request stamp_request = MPI_REQUEST_NULL;
    Stamp stamp{};
    Device* device = nullptr;
    bool receives = false;
    bool in_pieces = false;
    Buffer expected;
    std::int64_t payload_count =
        0;  // elements that `payload` waits for: all of `expected`, or its first piece
    int peer_world = -1;
    int tag = 0;
    std::source_location where;

    /// Error unless what was sent is what was asked for, and `arrived` elements of it came at once.
    void check_received(std::int64_t arrived) const;
    /// Waits for payload and stamp and moves the clock to the message's arrival.
    void finish();
};

}  // namespace shardlings
