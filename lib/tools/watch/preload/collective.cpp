#include "lib/tools/watch/preload/collective.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iterator>
#include <unordered_map>

namespace shardlings::watch {

namespace {

constexpr int patience = 3000;  // milliseconds in which the supervisor must have ended a job that is wrong

struct TypeName {
    std::uint64_t hash = 0;
    char name[MPI_MAX_OBJECT_NAME] = {};
};

/// The name of a predefined type, which is the same on all ranks and never goes.
const TypeName* predefined(MPI_Datatype type)
{
    static auto* known = new std::unordered_map<std::uintptr_t, TypeName>;
    const auto found = known->find((std::uintptr_t)type);
    if (found != known->end()) return &found->second;
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
        combiner != MPI_COMBINER_NAMED)
        return nullptr;
    TypeName& name = (*known)[(std::uintptr_t)type];
    int length = 0;
    PMPI_Type_get_name(type, name.name, &length);
    name.hash = 0xCBF2'9CE4'8422'2325U;
    for (int i = 0; i < length; ++i)
        name.hash = (name.hash ^ static_cast<unsigned char>(name.name[i])) * 0x0000'0100'0000'01B3U;
    return &name;
}

/// Its number in `reductions`; 0 for the program's own ones.
std::uint32_t number_of(MPI_Op reduction)
{
    const MPI_Op all[] = {MPI_OP_NULL, MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_LAND,  MPI_BAND,
                          MPI_LOR,     MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    static_assert(std::size(all) == std::size(reductions));
    for (std::uint32_t i = 1; i < std::size(all); ++i)
        if (all[i] == reduction) return i;
    return 0;
}

void describe(Signature& signature, const Terms& terms)
{
    for (const int side : {0, 1}) {
        signature.sends[side] = terms.sent.bytes[side];
        signature.expects[side] = terms.expected.bytes[side];
    }
    signature.reduction = number_of(terms.reduction);
    signature.root = terms.root;
    signature.bytes = 0;
    signature.type = 0;
    signature.count = 0;
    signature.type_name[0] = '\0';
    if (terms.count < 0 || terms.type == MPI_DATATYPE_NULL) return;
    int size = 0;
    if (PMPI_Type_size(terms.type, &size) != MPI_SUCCESS) return;
    signature.count = static_cast<std::uint64_t>(terms.count);
    signature.bytes = 1 + static_cast<std::uint64_t>(size) * signature.count;
    const TypeName* name = predefined(terms.type);
    if (name == nullptr || terms.type == MPI_BYTE || terms.type == MPI_PACKED) return;
    signature.type = name->hash;
    std::snprintf(signature.type_name, sizeof signature.type_name, "%.31s", name->name);
}

/// The same collective begins with a request on one rank and without on another: no two are alike then, and
/// MPI forbids it.
bool differ(const Signature& mine, const Signature& theirs, int side)
{
    if (mine.call != theirs.call || mine.root != theirs.root) return true;
    const auto unequal = [](std::uint64_t sent, std::uint64_t expected) {
        return sent != 0 && expected != 0 && sent != expected;
    };
    if (unequal(mine.sends[side], theirs.expects[1 - side]) ||
        unequal(theirs.sends[1 - side], mine.expects[side]))
        return true;
    if (mine.reduction != 0 && theirs.reduction != 0 && mine.reduction != theirs.reduction) return true;
    if (mine.bytes != 0 && theirs.bytes != 0 && mine.bytes != theirs.bytes) return true;
    return mine.type != 0 && theirs.type != 0 && mine.bytes > 1 && mine.type != theirs.type;
}

const CommunicatorRecord* place_of(const Record& record, std::uint64_t id)
{
    for (std::uint64_t i = 0; i < communicator_attempts; ++i) {
        const CommunicatorRecord& place = record.communicators[(id + i) % most_communicators];
        if (__atomic_load_n(&place.id, __ATOMIC_ACQUIRE) == id) return &place;
    }
    return nullptr;
}

/// Whoever of two neighbours comes second sees what the first has called.
void compare(Communicator& communicator, const Signature& mine)
{
    const int size = static_cast<int>(communicator.world.size());
    for (const int side : {0, 1}) {
        const int neighbour = (communicator.rank + (side == 0 ? size - 1 : 1)) % size;
        const int world = communicator.world[static_cast<std::size_t>(neighbour)];
        if (communicator.neighbours[side] == nullptr) communicator.neighbours[side] = map_record(world);
        if (communicator.neighbours[side] == nullptr) continue;
        const CommunicatorRecord* theirs = place_of(*communicator.neighbours[side], communicator.id);
        if (theirs == nullptr) continue;
        const Signature& other = theirs->signatures[mine.nth % kept_signatures];
        if (__atomic_load_n(&other.nth, __ATOMIC_ACQUIRE) != mine.nth || !differ(mine, other, side)) continue;
        add_finding({Fault::mismatch, mine.call, mine.site, communicator.id, mine.nth, world, side});
        for (int i = 0; i < patience; ++i) usleep(1000);
        return;
    }
}

}  // namespace

std::uint64_t enter_collective(Call call, std::uint64_t site, Communicator* communicator, const Terms& terms)
{
    if (communicator == nullptr || communicator->shared == nullptr) return 0;
    CommunicatorRecord& shared = *communicator->shared;
    const std::uint64_t nth = shared.collectives + 1;
    Signature& signature = shared.signatures[nth % kept_signatures];
    publish(signature.nth, std::uint64_t{0});
    signature.call = call;
    signature.site = site;
    describe(signature, terms);
    publish(signature.nth, nth);
    publish(shared.collectives, nth);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);  // what is mine is seen before I look at what is theirs
    if (communicator->world.size() > 1) compare(*communicator, signature);
    return nth;
}

}  // namespace shardlings::watch
