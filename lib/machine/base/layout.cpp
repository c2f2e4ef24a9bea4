#include "lib/machine/base/layout.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings {

void Layout::validate() const
{
    constexpr std::array<std::string_view, 4> schedules{"naive", "gpipe", "1f1b", "interleaved"};
    const auto degree = [](std::string_view name, int value) {
        check(value >= 1 && value <= 1024, "--{} is {}: expected 1 to 1024", name, value);
    };
    degree("pp", pp);
    degree("dp", dp);
    degree("tp", tp);
    check(zero >= 0 && zero <= 3, "--zero is {}: expected 0, 1, 2 or 3", zero);
    check(std::find(schedules.begin(), schedules.end(), schedule) != schedules.end(),
          "--schedule is '{}': expected naive, gpipe, 1f1b or interleaved", schedule);
    degree("virtual-stages", virtual_stages);
    check(virtual_stages == 1 || (schedule == "interleaved" && pp > 1),
          "--virtual-stages {} needs --schedule interleaved and --pp 2 or more", virtual_stages);
    check(blocks.empty() || std::ssize(blocks) == pp * virtual_stages,
          "--stages names {}: expected --pp times --virtual-stages, {}", counted(blocks.size(), "chunk"),
          pp * virtual_stages);
    check(!sequence_parallel || tp > 1, "--sequence-parallel needs --tp 2 or more");
}

}  // namespace shardlings
