#include "lib/tools/watch/preload/operations.hpp"

#include <cstdint>
#include <unordered_map>

namespace shardlings::watch {

namespace {

/// What of a pending operation only this process needs.
struct Local {
    Communicator* communicator = nullptr;
    const void* buffer = nullptr;
    int count = 0;
    MPI_Datatype type{};
    std::uint64_t checksum = 0;
    bool cancelled = false;
};

/// Receives longer than this may arrive in parts, so that their buffer changes before they are complete.
constexpr std::uint64_t arrives_whole = 1024;

struct Table {
    // Not every request is different from all others: sends that were complete at once may share one.
    std::unordered_multimap<std::uintptr_t, int> slots;
    std::vector<int> free;
    Local local[most_pending];
};

Table& table()
{
    static auto* all = new Table;  // outlives everything that exits
    return *all;
}

std::uintptr_t key_of(MPI_Request request)
{
    return (std::uintptr_t)request;  // a pointer or an int, as the MPI has it
}

Pending& pending(int slot)
{
    return own.record->pending[slot];
}

int new_slot()
{
    if (!table().free.empty()) {
        const int slot = table().free.back();
        table().free.pop_back();
        return slot;
    }
    std::uint32_t& end = own.record->header.pending_end;
    if (end == most_pending) return not_followed;
    publish(end, end + 1);
    return static_cast<int>(end) - 1;
}

void forget(int slot)
{
    publish(pending(slot).active, 0U);
    pending(slot).kind = Kind::none;
    Local& local = table().local[slot];
    if (local.communicator != nullptr) {
        --local.communicator->pending;
        release(local.communicator);
    }
    local = {};
    table().free.push_back(slot);
}

/// The slot of a request that has begun, rather than of one that shares its handle and has not.
std::unordered_multimap<std::uintptr_t, int>::iterator find(MPI_Request request)
{
    return table().slots.find(key_of(request));
}

void take_message(int slot)
{
    Pending& operation = pending(slot);
    Local& local = table().local[slot];
    operation.order = ++own.operations;
    if (operation.kind == Kind::send)
        operation.nth = count_sent(operation.communicator, operation.peer, operation.tag);
    local.checksum = checksum(local.buffer, local.count, local.type);
    local.cancelled = false;
    publish(operation.active, 1U);
}

int tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? any : tag;
}

/// A receive buffer that has changed while nothing has arrived in it was written by the program.
void look_at_buffer(MPI_Request request, int slot)
{
    const Pending& operation = pending(slot);
    const Local& local = table().local[slot];
    if (operation.kind != Kind::receive || local.checksum == 0 || operation.bytes > arrives_whole) return;
    int complete = 1;
    PMPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    if (complete != 0 || checksum(local.buffer, local.count, local.type) == local.checksum) return;
    add_finding({Fault::receive_buffer_changed, operation.call, operation.site, operation.communicator, 0,
                 operation.peer, operation.tag});
    table().local[slot].checksum = 0;
}

void complete_operation(int slot, const MPI_Status& status)
{
    Pending& operation = pending(slot);
    Local& local = table().local[slot];
    int cancelled = 0;
    if (local.cancelled) PMPI_Test_cancelled(&status, &cancelled);
    if (operation.kind == Kind::receive && cancelled == 0) {
        int source = world_rank(*local.communicator, status.MPI_SOURCE);
        int tag = status.MPI_TAG;
        if (source < 0) {  // MPICH 4.2 may leave the status of a persistent receive empty
            source = operation.peer;
            tag = operation.tag;
        }
        if (source >= 0 && tag >= 0)
            count_received(operation.communicator, source, tag);
        else
            not_known();
    }
    if (operation.kind == Kind::send && local.checksum != 0 &&
        checksum(local.buffer, local.count, local.type) != local.checksum)
        add_finding({Fault::send_buffer_changed, operation.call, operation.site, operation.communicator, 0,
                     operation.peer, operation.tag});
}

}  // namespace

int begin_blocking(Kind kind, Call call, std::uint64_t site, int peer, int tag, MPI_Comm communicator)
{
    const Communicator* on = find_communicator(communicator);
    if (on == nullptr) return not_followed;
    const int world = world_rank(*on, peer);
    if (world < any) return not_followed;
    const int slot = static_cast<int>(kind == Kind::send ? blocking_send : blocking_receive);
    const std::uint64_t nth = kind == Kind::send ? count_sent(on->id, world, tag) : 0;
    pending(slot) = {kind, call, on->id, world, tag_of(tag), nth, ++own.operations, site, 0, 1, 0};
    return slot;
}

int probed(Call call, std::uint64_t site, int peer, int tag, MPI_Comm communicator)
{
    const Communicator* on = find_communicator(communicator);
    if (on == nullptr) return not_followed;
    const int world = world_rank(*on, peer);
    if (world < any) return not_followed;
    static std::uint32_t used = 0;
    if (own.record->header.polling == 0) used = 0;
    for (std::uint32_t slot = first_probe; slot < first_request; ++slot) {
        Pending& question = own.record->pending[slot];
        if (slot == first_probe + used) {
            ++used;
            question = {Kind::probe, call, on->id, world, tag_of(tag), 0, ++own.operations, site, 0, 1, 0};
        }
        if (question.communicator == on->id && question.peer == world && question.tag == tag_of(tag))
            return static_cast<int>(slot);
    }
    return not_followed;
}

void received(MPI_Comm communicator, const MPI_Status& status)
{
    const Communicator* on = find_communicator(communicator);
    if (on == nullptr) return;
    const int source = world_rank(*on, status.MPI_SOURCE);
    if (source >= 0) count_received(on->id, source, status.MPI_TAG);
}

int begin(Kind kind, Call call, std::uint64_t site, const Message& message, bool active)
{
    progress();
    Communicator* on = find_communicator(message.communicator);
    if (on == nullptr) return not_followed;
    const int world = world_rank(*on, message.peer);
    if (world < any) return not_followed;
    const int slot = new_slot();
    if (slot == not_followed) {
        if (kind == Kind::send && active)
            count_sent(on->id, world, message.tag);
        else
            own.record->header.lost = 1;  // what it receives, or sends each time, is not counted
        return not_followed;
    }
    int size = 0;
    if (own.checksums) PMPI_Type_size(message.type, &size);
    ++on->pending;
    table().local[slot] = {on, message.buffer, message.count, message.type, 0, false};
    pending(slot) = {kind,
                     call,
                     on->id,
                     world,
                     tag_of(message.tag),
                     0,
                     0,
                     site,
                     static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(message.count),
                     0,
                     active ? 0U : 1U};
    if (active) take_message(slot);
    return slot;
}

int begin_collective(Call call, std::uint64_t site, Communicator* communicator, std::uint64_t nth)
{
    const int slot = nth == 0 ? not_followed : new_slot();
    if (slot == not_followed) return slot;
    ++communicator->pending;
    table().local[slot] = {};
    table().local[slot].communicator = communicator;
    pending(slot) = {
        Kind::collective, call, communicator->id, any, any, nth, ++own.operations, site, 0, 1, 0};
    return slot;
}

void attach(int slot, int result, const MPI_Request& request)
{
    if (slot == not_followed) return;
    if (result == MPI_SUCCESS)
        table().slots.emplace(key_of(request), slot);
    else
        forget(slot);
}

void start(MPI_Request request)
{
    progress();
    const auto found = find(request);
    if (found != table().slots.end()) take_message(found->second);
}

void cancel(MPI_Request request)
{
    const auto found = find(request);
    if (found == table().slots.end()) return;
    table().local[found->second].cancelled = true;
    // Whether its message is still on the way is no longer known from counts.
    if (pending(found->second).kind == Kind::send) own.record->header.lost = 1;
}

void free_request(MPI_Request request)
{
    const auto found = find(request);
    if (found == table().slots.end()) return;
    const Pending& operation = pending(found->second);
    // It goes on unseen, and what it receives is not counted.
    if (operation.kind == Kind::receive && operation.active != 0) own.record->header.lost = 1;
    forget(found->second);
    table().slots.erase(found);
}

Requests::Requests(int count, const MPI_Request* requests)
    : handles_(requests, requests + (count > 0 ? count : 0))
{
    slots_.reserve(handles_.size());
    for (const MPI_Request request : handles_) {
        const auto found = request == MPI_REQUEST_NULL ? table().slots.end() : find(request);
        slots_.push_back(found == table().slots.end() ? not_followed : found->second);
        if (own.checksums && slots_.back() != not_followed && pending(slots_.back()).active != 0)
            look_at_buffer(request, slots_.back());
    }
}

MPI_Status* Requests::statuses(MPI_Status* wanted)
{
    statuses_ = wanted;
    if (wanted != MPI_STATUSES_IGNORE && wanted != MPI_STATUS_IGNORE) return wanted;
    own_statuses_.resize(handles_.size());
    statuses_ = own_statuses_.data();
    return statuses_;
}

int Requests::failed(int code, const MPI_Request* after)
{
    not_known();
    for (std::size_t i = 0; i < handles_.size(); ++i) {
        if (after[i] != MPI_REQUEST_NULL || handles_[i] == MPI_REQUEST_NULL) continue;
        const auto found = find(handles_[i]);
        if (found == table().slots.end()) continue;
        const int slot = found->second;
        table().slots.erase(found);
        forget(slot);
    }
    return code;
}

void Requests::complete(int index, int at)
{
    const auto found = find(handles_[static_cast<std::size_t>(index)]);
    if (found == table().slots.end()) return;
    const int slot = found->second;
    if (pending(slot).active == 0) return;  // a persistent one that has not been started
    complete_operation(slot, statuses_[at]);
    if (pending(slot).persistent != 0) {
        publish(pending(slot).active, 0U);
    } else {
        table().slots.erase(found);
        forget(slot);
    }
}

}  // namespace shardlings::watch
