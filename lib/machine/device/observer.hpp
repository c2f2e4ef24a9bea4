// Who looks on while devices work, beside the counters that a Device keeps itself.
#pragma once

#include <cstdint>

#include "lib/machine/device/device.hpp"

namespace shardlings {

/// Called after each change of a device's counters. They do nothing, unless the program defines its own: the
/// grader's does, so that counters that somebody wrote to are noticed.

/// `change` bytes more (or fewer) of the category are in use.
void memory_changed(const Device& device, Category category, std::int64_t change) noexcept;
/// The peaks are from now on those of what follows.
void peaks_forgotten(const Device& device) noexcept;
/// `flops` operations were charged.
void computed(const Device& device, double flops) noexcept;
/// A message is on its way to the world's rank `peer` and is there at `arrival`, in virtual time.
void message_sent(const Device& device, int peer, std::uint64_t bytes, double arrival) noexcept;
/// The device has waited for a message, which `receives` or sends, until `arrival` at least.
void message_waited(const Device& device, bool receives, int peer, std::uint64_t bytes,
                    double arrival) noexcept;

}  // namespace shardlings
