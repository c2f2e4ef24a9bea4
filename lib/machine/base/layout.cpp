#include "lib/machine/base/layout.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lib/machine/base/error.hpp"

namespace shardlings {

void Layout::validate() const
{
    constexpr std::array<std::string_view, 4> schedules{"naive", "gpipe", "1f1b", "interleaved"};
    const auto single = [](std::string_view name, int degree) {
        check(degree >= 1, "--{} is {}: expected 1 or more", name, degree);
        check(degree == 1, "--{} {} is not available yet: this version trains on one device, use --{} 1",
              name, degree, name);
    };
    single("pp", pp);
    single("dp", dp);
    single("tp", tp);
    check(zero >= 0 && zero <= 3, "--zero is {}: expected 0, 1, 2 or 3", zero);
    check(zero == 0, "--zero {} needs data parallelism, which is not available yet: use --zero 0", zero);
    check(std::find(schedules.begin(), schedules.end(), schedule) != schedules.end(),
          "--schedule is '{}': expected naive, gpipe, 1f1b or interleaved", schedule);
    check(!sequence_parallel, "--sequence-parallel needs tensor parallelism, which is not available yet");
}

}  // namespace shardlings
