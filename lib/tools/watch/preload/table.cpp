#include "lib/tools/watch/preload/table.hpp"

#include "lib/tools/watch/preload/operations.hpp"

namespace shardlings::watch {

namespace {

/// A receive whose request the program has freed.
struct Orphan {
    MPI_Request request;
    bool persistent;
    InFlight message;
};

std::vector<Orphan>& orphans()
{
    static auto* all = new std::vector<Orphan>;  // outlives everything that exits
    return *all;
}

/// Receives into the same memory, which MPI forbids and programs do where they care for none of it, and into
/// gaps of each other's types.
template <class Do>
void for_overlapping(const InFlight& message, Do what)
{
    for (std::uint32_t slot = first_request; slot < own.record->header.pending_end; ++slot) {
        InFlight& other = table().local[slot].message;
        if (&other != &message && other.is_receiving() && other.overlaps(message))
            what(other, pending(static_cast<int>(slot)));
    }
}

void end(InFlight& message, bool comes)
{
    if (!message.is_receiving() || !comes) {
        message.end(false);
        return;
    }
    for_overlapping(message, [](InFlight& other, const Pending& operation) { other.look(operation); });
    message.end(true);
    for_overlapping(message, [](InFlight& other, const Pending&) { other.look_from_now_on(); });
}

}  // namespace

Table& table()
{
    static auto* all = new Table;  // outlives everything that exits
    return *all;
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

void end_message(int slot, bool comes)
{
    InFlight& message = table().local[slot].message;
    message.look(pending(slot));
    end(message, comes);
}

void adopt(MPI_Request request, int slot)
{
    orphans().push_back({request, pending(slot).persistent != 0, std::move(table().local[slot].message)});
    own.orphans = true;
    end_orphans();
}

void end_orphans()
{
    for (std::size_t i = 0; i < orphans().size();) {
        Orphan& orphan = orphans()[i];
        MPI_Status status;
        int done = 0;
        int cancelled = 0;
        if (PMPI_Test(&orphan.request, &done, &status) != MPI_SUCCESS) done = 1;
        if (done == 0) {
            ++i;
            continue;
        }
        PMPI_Test_cancelled(&status, &cancelled);
        end(orphan.message, cancelled == 0);
        if (orphan.persistent && orphan.request != MPI_REQUEST_NULL) PMPI_Request_free(&orphan.request);
        orphans().erase(orphans().begin() + static_cast<std::ptrdiff_t>(i));
    }
    own.orphans = !orphans().empty();
}

}  // namespace shardlings::watch
