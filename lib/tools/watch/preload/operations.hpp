// Sends, receives and collectives from their beginning to their end.
#pragma once

#include <vector>

#include "lib/tools/watch/preload/communicators.hpp"

namespace shardlings::watch {

/// A send or a receive as the program asked for it.
struct Message {
    const void* buffer;
    int count;
    MPI_Datatype type;
    int peer;
    int tag;
    MPI_Comm communicator;
};

constexpr int not_followed = -1;

/// The one operation of the blocking call that goes on: its slot, or `not_followed`.
int begin_blocking(Kind kind, Call call, std::uint64_t site, int peer, int tag, MPI_Comm communicator);
/// The slot of a message probed for in vain: one for each different question that a loop asks.
int probed(Call call, std::uint64_t site, int peer, int tag, MPI_Comm communicator);
/// A message was received (or taken out of matching by a probe).
void received(MPI_Comm communicator, const MPI_Status& status);

/// An operation that ends with a request. `active`: no, for MPI_*_init.
int begin(Kind kind, Call call, std::uint64_t site, const Message& message, bool active = true);
/// A receive of a message that has been matched, and so will come: only its buffer is looked after.
int begin_matched(Call call, std::uint64_t site, void* buffer, int count, MPI_Datatype type);
/// Where MPI has to put the message of this receive.
void* address_for(int slot, void* buffer);
int begin_collective(Call call, std::uint64_t site, Communicator* communicator, std::uint64_t nth);
/// Its request, once the call has given one; on failure it is forgotten. A send that is complete at once may
/// share its request with others: where their buffers are looked after, each gets one of its own.
void attach(int slot, int result, MPI_Request* request);
void start(MPI_Request request);  // a persistent one
void cancel(MPI_Request request);
int free_request(MPI_Request* request);

/// The requests of one call as they were before it.
class Requests {
  public:
    Requests(int count, const MPI_Request* requests);
    const std::vector<int>& slots() const { return slots_; }
    /// The caller's statuses, or own ones where it wants none: who sent what is in them.
    MPI_Status* statuses(MPI_Status* wanted);
    /// Request 0 is complete and stays: the program may use its buffer.
    void complete_and_keep(const MPI_Status& status);
    /// Request `index` of the call is complete; its status is number `at` of those that `statuses` gave.
    void complete(int index, int at);
    /// The call failed with `code`, which is returned; the requests are `after` it. Those that are no more
    /// are forgotten.
    int failed(int code, const MPI_Request* after);

  private:
    std::vector<MPI_Request> handles_;
    std::vector<int> slots_;
    std::vector<MPI_Status> own_statuses_;
    MPI_Status* statuses_ = nullptr;
};

}  // namespace shardlings::watch
