#include "lib/tools/watch/preload/communicators.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <unordered_map>

namespace shardlings::watch {

namespace {

using Key = std::uintptr_t;

std::unordered_map<Key, Communicator*>& table()
{
    static auto* all = new std::unordered_map<Key, Communicator*>;  // outlives everything that exits
    return *all;
}

struct {
    MPI_Comm handle;
    Communicator* communicator = nullptr;
} last;

Key key_of(MPI_Comm handle)
{
    return (Key)handle;  // a pointer or an int, as the MPI has it
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value)
{
    hash = (hash ^ value) * 0x9E37'79B9'7F4A'7C15U;
    return hash ^ (hash >> 29U);
}

std::vector<int> world_ranks(MPI_Comm handle, bool between)
{
    MPI_Group group;
    MPI_Group world;
    int size = 0;
    if (between)
        PMPI_Comm_remote_group(handle, &group);
    else
        PMPI_Comm_group(handle, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::vector<int> own_numbers(ranks.size());
    std::iota(own_numbers.begin(), own_numbers.end(), 0);
    PMPI_Group_translate_ranks(group, size, own_numbers.data(), world, ranks.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return ranks;
}

/// The ranks, on the communicator, that this one gets from in its topology.
std::vector<int> neighbours_on(MPI_Comm handle, int rank)
{
    int topology = MPI_UNDEFINED;
    int count = 0;
    PMPI_Topo_test(handle, &topology);
    std::vector<int> ranks;
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(handle, &count);
        ranks.resize(2 * static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i)
            PMPI_Cart_shift(handle, i, 1, &ranks[2 * static_cast<std::size_t>(i)],
                            &ranks[2 * static_cast<std::size_t>(i) + 1]);
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(handle, rank, &count);
        ranks.resize(static_cast<std::size_t>(count));
        PMPI_Graph_neighbors(handle, rank, count, ranks.data());
    } else if (topology == MPI_DIST_GRAPH) {
        int out = 0;
        int weighted = 0;
        PMPI_Dist_graph_neighbors_count(handle, &count, &out, &weighted);
        std::vector<int> to(static_cast<std::size_t>(out));
        std::vector<int> weights(static_cast<std::size_t>(count));
        std::vector<int> out_weights(to.size());
        ranks.resize(weights.size());
        PMPI_Dist_graph_neighbors(handle, count, ranks.data(), weights.data(), out, to.data(),
                                  out_weights.data());
    }
    return ranks;
}

void note_neighbours(MPI_Comm handle, const Communicator& communicator)
{
    for (const int neighbour : neighbours_on(handle, communicator.rank)) {
        if (neighbour < 0 || neighbour >= static_cast<int>(communicator.world.size()))
            continue;  // MPI_PROC_NULL
        const int world = communicator.world[static_cast<std::size_t>(neighbour)];
        communicator.shared->neighbours[world / 64] |= std::uint64_t{1}
                                                       << (static_cast<unsigned>(world) % 64U);
    }
}

/// A place among a few next to the one its id says, so that others find it without looking at all: a free one
/// or, where there is none, that of a communicator that has been freed.
CommunicatorRecord* free_place(std::uint64_t id)
{
    CommunicatorRecord* left = nullptr;
    for (std::uint64_t i = 0; i < communicator_attempts; ++i) {
        CommunicatorRecord& place = own.record->communicators[(id + i) % most_communicators];
        if (place.id == 0) return &place;
        if (place.freed != 0 && left == nullptr) left = &place;
    }
    own.record->header.forgotten = 1;
    return left;
}

CommunicatorRecord* make_room(const Communicator& communicator, Call made_by)
{
    for (const int rank : communicator.world)
        if (rank < 0 || rank >= static_cast<int>(most_ranks)) return nullptr;
    CommunicatorRecord* place = free_place(communicator.id);
    if (place == nullptr) return nullptr;
    publish(place->id, std::uint64_t{0});
    *place = CommunicatorRecord{};
    place->size = static_cast<std::uint32_t>(communicator.world.size());
    for (const int rank : communicator.world)
        place->members[rank / 64] |= std::uint64_t{1} << (static_cast<unsigned>(rank) % 64U);
    const std::string name = made_by == Call::none ? "" : name_of(made_by);
    std::snprintf(place->name, sizeof place->name, "%s", name.c_str());
    publish(place->id, communicator.id);
    return place;
}

std::uint64_t hash_of(const std::vector<int>& ranks, std::uint64_t hash)
{
    for (const int rank : ranks) hash = mix(hash, static_cast<std::uint64_t>(rank));
    return hash;
}

Communicator& add(MPI_Comm handle, std::uint64_t id, std::vector<int> world)
{
    auto* made = new Communicator;
    made->id = id | 1U;
    made->world = std::move(world);
    PMPI_Comm_rank(handle, &made->rank);
    table()[key_of(handle)] = made;
    last = {};
    return *made;
}

}  // namespace

Communicator* find_communicator(MPI_Comm handle)
{
    if (last.communicator != nullptr && last.handle == handle) return last.communicator;
    const auto found = table().find(key_of(handle));
    if (found == table().end()) return nullptr;
    last = {handle, found->second};
    return found->second;
}

void add_communicator(MPI_Comm handle, const Communicator* parent, std::uint64_t nth, Call made_by,
                      std::vector<int> world)
{
    if (handle == MPI_COMM_NULL || parent == nullptr || nth == 0) return;
    const bool complete = world.empty();
    if (complete) world = world_ranks(handle, false);
    const std::uint64_t id = mix(mix(parent->id, nth), static_cast<std::uint64_t>(made_by));
    Communicator& made = add(handle, hash_of(world, id), std::move(world));
    made.shared = make_room(made, made_by);
    if (made.shared != nullptr && complete) note_neighbours(handle, made);
}

void add_communicator_of_members(MPI_Comm handle, Call made_by)
{
    static auto* made_before = new std::unordered_map<std::uint64_t, std::uint64_t>;
    if (handle == MPI_COMM_NULL) return;
    int between = 0;
    PMPI_Comm_test_inter(handle, &between);
    auto here = world_ranks(handle, false);
    auto there = between == 0 ? here : world_ranks(handle, true);
    for (const auto* side : {&here, &there})
        if (std::ranges::any_of(*side, [](int rank) { return rank < 0; })) return;
    const auto call = static_cast<std::uint64_t>(made_by);
    const auto [less, more] =
        std::minmax({hash_of(here, call), hash_of(there, call)});  // the same on both sides
    const std::uint64_t members = mix(mix(call, less), more);      // mix(x, x) would be the same for every x
    Communicator& made = add(handle, mix(members, ++(*made_before)[members]), std::move(there));
    if (between == 0) made.shared = make_room(made, made_by);
}

void give_up_collectives(Communicator& communicator)
{
    constexpr std::uint64_t more_than_any = std::uint64_t{1} << 62U;  // so that nobody waits for this rank
    if (communicator.shared == nullptr) return;
    publish(communicator.shared->collectives, more_than_any);
    for (Signature& signature : communicator.shared->signatures) publish(signature.nth, std::uint64_t{0});
    communicator.shared = nullptr;
}

void add_first_communicators()
{
    Communicator root;
    add_communicator(MPI_COMM_WORLD, &root, 1, Call::none);
    std::snprintf(find_communicator(MPI_COMM_WORLD)->shared->name, longest_name, "MPI_COMM_WORLD");
    root.id = 1 + static_cast<std::uint64_t>(own.record->header.rank);
    add_communicator(MPI_COMM_SELF, &root, 2, Call::none);
}

void release(Communicator* communicator)
{
    if (communicator->freed && communicator->pending == 0) delete communicator;
}

void forget_communicator(MPI_Comm handle)
{
    const auto found = table().find(key_of(handle));
    if (found == table().end()) return;
    Communicator* gone = found->second;
    table().erase(found);
    last = {};
    if (gone->shared != nullptr) publish(gone->shared->freed, 1U);
    gone->shared = nullptr;
    gone->freed = true;
    release(gone);
}

int world_rank(const Communicator& communicator, int peer)
{
    constexpr int nobody = any - 1;
    if (peer == MPI_ANY_SOURCE) return any;
    if (peer < 0 || peer >= static_cast<int>(communicator.world.size())) return nobody;
    const int rank = communicator.world[static_cast<std::size_t>(peer)];
    return rank < 0 ? nobody : rank;
}

}  // namespace shardlings::watch
