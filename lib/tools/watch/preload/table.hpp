// The operations that have begun and not ended, as only this process needs to know them.
#pragma once

#include <unordered_map>
#include <vector>

#include "lib/tools/watch/preload/communicators.hpp"
#include "lib/tools/watch/preload/in_flight.hpp"

namespace shardlings::watch {

struct Local {
    Communicator* communicator = nullptr;
    InFlight message;
    bool sends = false;
    bool cancelled = false;
};

struct Table {
    // Not every request is different from all others: sends that were complete at once may share one.
    using Slots = std::unordered_multimap<std::uintptr_t, int>;
    Slots slots;
    std::vector<int> free;
    Local local[most_pending];

    Slots::iterator find(MPI_Request request)
    {
        return slots.find((std::uintptr_t)request);  // a pointer or an int, as the MPI has it
    }
};

Table& table();

inline Pending& pending(int slot)
{
    return own.record->pending[slot];
}

/// A free place of `pending`, or `not_followed`.
int new_slot();
void forget(int slot);
/// The operation has ended: its buffer has to be as it was, and the program gets what it has received.
void end_message(int slot, bool comes);
/// A receive goes on though its request is freed: it is completed here some time, unseen.
void adopt(MPI_Request request, int slot);

}  // namespace shardlings::watch
