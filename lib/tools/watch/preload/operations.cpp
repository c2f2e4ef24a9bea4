#include "lib/tools/watch/preload/operations.hpp"

#include <cstdint>

#include "lib/tools/watch/preload/table.hpp"

namespace shardlings::watch {

namespace {

int tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? any : tag;
}

void take_message(int slot)
{
    Pending& operation = pending(slot);
    Local& local = table().local[slot];
    operation.order = ++own.operations;
    if (operation.kind == Kind::send)
        operation.nth = count_sent(operation.communicator, operation.peer, operation.tag);
    local.message.start();
    local.cancelled = false;
    publish(operation.active, 1U);
}

void look_after(int slot, Communicator* on, bool receives, const Message& message)
{
    table().local[slot] = {};
    table().local[slot].communicator = on;
    table().local[slot].sends = !receives;
    if (own.checksums)
        table().local[slot].message = {receives, Buffer(message.buffer, message.count, message.type)};
}

/// Nothing is known of its message, so that it may always end; but its buffer is looked after.
int begin_unknown(Kind kind, Call call, std::uint64_t site, const Message& message, bool active)
{
    const int slot = own.checksums ? new_slot() : not_followed;
    if (slot == not_followed) return slot;
    look_after(slot, nullptr, kind == Kind::receive, message);
    const int peer = message.peer == MPI_ANY_SOURCE ? any : message.peer;
    pending(slot) = {Kind::none, call, 0, peer, tag_of(message.tag), 0, 0, site, 0, active ? 0U : 1U};
    if (active) take_message(slot);
    return slot;
}

/// A send that is complete has this request instead of one that it shares.
MPI_Request complete_request()
{
    MPI_Request request = MPI_REQUEST_NULL;
    const auto query = [](void*, MPI_Status* status) {
        PMPI_Status_set_cancelled(status, 0);
        return PMPI_Status_set_elements(status, MPI_BYTE, 0);
    };
    PMPI_Grequest_start(
        query, [](void*) { return MPI_SUCCESS; }, [](void*, int) { return MPI_SUCCESS; }, nullptr, &request);
    PMPI_Grequest_complete(request);
    return request;
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
    end_message(slot, cancelled == 0);
}

/// A persistent one may be started again.
void end_request(Table::Slots::iterator found)
{
    const int slot = found->second;
    if (pending(slot).persistent != 0) {
        publish(pending(slot).active, 0U);
        return;
    }
    table().slots.erase(found);
    forget(slot);
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
    pending(slot) = {kind, call, on->id, world, tag_of(tag), nth, ++own.operations, site, 1, 0};
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
            question = {Kind::probe, call, on->id, world, tag_of(tag), 0, ++own.operations, site, 1, 0};
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
    if (on == nullptr) {
        if (message.peer == MPI_PROC_NULL) return not_followed;
        return begin_unknown(kind, call, site, message, active);
    }
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
    ++on->pending;
    look_after(slot, on, kind == Kind::receive, message);
    pending(slot) = {kind, call, on->id, world, tag_of(message.tag), 0, 0, site, 0, active ? 0U : 1U};
    if (active) take_message(slot);
    return slot;
}

int begin_matched(Call call, std::uint64_t site, void* buffer, int count, MPI_Datatype type)
{
    progress();
    return begin_unknown(Kind::receive, call, site, {buffer, count, type, any, any, MPI_COMM_NULL}, true);
}

void* address_for(int slot, void* buffer)
{
    return slot == not_followed ? buffer : table().local[slot].message.address(buffer);
}

int begin_collective(Call call, std::uint64_t site, Communicator* communicator, std::uint64_t nth)
{
    const int slot = nth == 0 ? not_followed : new_slot();
    if (slot == not_followed) return slot;
    ++communicator->pending;
    table().local[slot] = {};
    table().local[slot].communicator = communicator;
    pending(slot) = {Kind::collective, call, communicator->id, any, any, nth, ++own.operations, site, 1, 0};
    return slot;
}

void attach(int slot, int result, MPI_Request* request)
{
    if (slot == not_followed) return;
    if (result != MPI_SUCCESS) {
        if (table().local[slot].sends) not_known();
        forget(slot);
        return;
    }
    int complete = 0;
    if (own.checksums && table().local[slot].sends && pending(slot).persistent == 0)
        PMPI_Request_get_status(*request, &complete, MPI_STATUS_IGNORE);
    if (complete != 0) {
        PMPI_Request_free(request);
        *request = complete_request();
    }
    table().slots.emplace((std::uintptr_t)*request, slot);
}

void start(MPI_Request request)
{
    progress();
    const auto found = table().find(request);
    if (found != table().slots.end()) take_message(found->second);
}

void cancel(MPI_Request request)
{
    const auto found = table().find(request);
    if (found == table().slots.end()) return;
    table().local[found->second].cancelled = true;
    // Whether its message is still on the way is no longer known from counts.
    if (pending(found->second).kind == Kind::send) own.record->header.lost = 1;
}

int free_request(MPI_Request* request)
{
    const auto found = table().find(*request);
    if (found == table().slots.end()) return PMPI_Request_free(request);
    const int slot = found->second;
    table().slots.erase(found);
    const bool active = pending(slot).active != 0;
    // It goes on unseen, and what it receives is not counted.
    if (active && pending(slot).kind == Kind::receive) own.record->header.lost = 1;
    int result = MPI_SUCCESS;
    if (active && table().local[slot].message.is_receiving()) {
        adopt(*request, slot);
        *request = MPI_REQUEST_NULL;
    } else {
        result = PMPI_Request_free(request);
    }
    forget(slot);
    return result;
}

Requests::Requests(int count, const MPI_Request* requests)
    : handles_(requests, requests + (count > 0 ? count : 0))
{
    slots_.reserve(handles_.size());
    for (const MPI_Request request : handles_) {
        const auto found = request == MPI_REQUEST_NULL ? table().slots.end() : table().find(request);
        slots_.push_back(found == table().slots.end() ? not_followed : found->second);
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
        const auto found = table().find(handles_[i]);
        if (handles_[i] == MPI_REQUEST_NULL || found == table().slots.end()) continue;
        const int slot = found->second;
        int complete = after[i] == MPI_REQUEST_NULL ? 1 : 0;
        if (complete == 0 && pending(slot).persistent != 0)
            PMPI_Request_get_status(after[i], &complete, MPI_STATUS_IGNORE);
        if (complete == 0) continue;
        end_message(slot, true);
        end_request(found);
    }
    return code;
}

void Requests::complete_and_keep(const MPI_Status& status)
{
    const int slot = slots_.front();
    if (slot == not_followed || pending(slot).active == 0) return;
    int cancelled = 0;
    if (table().local[slot].cancelled) PMPI_Test_cancelled(&status, &cancelled);
    end_message(slot, cancelled == 0);
}

void Requests::complete(int index, int at)
{
    const auto found = table().find(handles_[static_cast<std::size_t>(index)]);
    if (found == table().slots.end()) return;
    const int slot = found->second;
    if (pending(slot).active == 0) return;  // a persistent one that has not been started
    complete_operation(slot, statuses_[at]);
    end_request(found);
}

}  // namespace shardlings::watch
