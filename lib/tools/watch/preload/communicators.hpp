// Communicators by an id that all their members know them by.
#pragma once

#include <string_view>
#include <vector>

#include "lib/tools/watch/preload/own.hpp"

namespace shardlings::watch {

struct Communicator {
    std::uint64_t id = 0;
    int rank = 0;
    std::vector<int> world;  // world rank of each rank that one can name on it
    CommunicatorRecord* shared =
        nullptr;      // null: between two groups, or no place: collectives are not followed
    int pending = 0;  // operations that refer to it
    bool freed = false;
    const Record* neighbours[2] = {};  // of the ranks before and after this one
};

/// Null when it came to be in a way that is not followed: then nothing is known of its messages.
Communicator* find_communicator(MPI_Comm handle);
/// The id is a hash of the parent's, of the number of the collective that made it, and of its members: every
/// member comes to the same without a message.
void add_communicator(MPI_Comm handle, const Communicator* parent, std::uint64_t nth, Call made_by,
                      std::vector<int> world = {});
/// One that only its members made: the id is a hash of them and of how many such they have made before.
/// Between two groups messages are followed, collectives are not.
void add_communicator_of_members(MPI_Comm handle, Call made_by);
void add_first_communicators();
/// One of its collectives has failed, and may have been begun on some ranks only: they are followed no more.
void give_up_collectives(Communicator& communicator);
void forget_communicator(MPI_Comm handle);
void release(Communicator* communicator);
/// Rank `peer` of it as world rank; `any` for MPI_ANY_SOURCE; below `any` for what is no rank.
int world_rank(const Communicator& communicator, int peer);

}  // namespace shardlings::watch
