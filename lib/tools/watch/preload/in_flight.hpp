// The buffer of a send or a receive while MPI has it.
#pragma once

#include "lib/tools/watch/preload/buffer.hpp"
#include "lib/tools/watch/record.hpp"

namespace shardlings::watch {

/// A receive is given a copy of the program's buffer, and what has come is taken from there when it is
/// complete: until then nobody but the program writes to its buffer, in however many parts a message comes.
class InFlight {
  public:
    InFlight() = default;
    InFlight(bool receives, Buffer buffer);

    /// What MPI is given in place of the program's `buffer`.
    void* address(void* buffer) const { return copy_ == nullptr ? buffer : buffer_.address_in(copy_); }
    void start();
    /// Tells of a buffer that has changed since the start; once.
    void look(const Pending& operation);
    /// A receive that has not given the program what has come.
    bool is_receiving() const { return copy_ != nullptr && started_; }
    bool overlaps(const InFlight& other) const { return buffer_.overlaps(other.buffer_); }
    /// The program's buffer has been written to by another receive.
    void look_from_now_on();
    /// It has ended. `comes`: the program gets what has come.
    void end(bool comes);

  private:
    Buffer buffer_;
    Buffer::Copy copy_;
    std::uint64_t sum_ = 0;  // 0: nothing is looked for
    bool started_ = false;
    bool gone_ = false;  // the program's memory
};

}  // namespace shardlings::watch
