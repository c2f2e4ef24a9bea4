#include "lib/tools/watch/preload/in_flight.hpp"

#include "lib/tools/watch/preload/own.hpp"

namespace shardlings::watch {

InFlight::InFlight(bool receives, Buffer buffer)
{
    if (buffer.empty() || !buffer.is_mapped()) return;
    if (receives) {
        copy_ = buffer.make_copy();
        if (copy_ == nullptr) return;
    }
    buffer_ = std::move(buffer);
}

void InFlight::start()
{
    if (buffer_.empty()) return;
    started_ = true;
    gone_ = false;
    if (copy_ != nullptr) buffer_.copy_to(copy_);  // what no message covers comes back as it was
    sum_ = buffer_.sum();
}

void InFlight::look(const Pending& operation)
{
    if (sum_ == 0) return;
    gone_ = !buffer_.is_mapped();
    if (!gone_ && buffer_.sum() == sum_) return;
    sum_ = 0;
    add_finding({gone_ ? Fault::buffer_freed : Fault::buffer_changed, operation.call, operation.site,
                 operation.communicator, 0, operation.peer, operation.tag});
}

void InFlight::look_from_now_on()
{
    if (sum_ != 0) sum_ = buffer_.sum();
}

void InFlight::end(bool comes)
{
    if (comes && is_receiving() && !gone_) buffer_.copy_from(copy_);
    started_ = false;
    sum_ = 0;
}

}  // namespace shardlings::watch
