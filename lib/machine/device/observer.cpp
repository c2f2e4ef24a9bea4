#include "lib/machine/device/observer.hpp"

namespace shardlings {

[[gnu::weak]] void memory_changed(const Device&, Category, std::int64_t) noexcept {}
[[gnu::weak]] void peaks_forgotten(const Device&) noexcept {}
[[gnu::weak]] void computed(const Device&, double) noexcept {}
[[gnu::weak]] void message_sent(const Device&, int, std::uint64_t, double) noexcept {}
[[gnu::weak]] void message_waited(const Device&, bool, int, std::uint64_t, double) noexcept {}

}  // namespace shardlings
