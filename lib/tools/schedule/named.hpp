// Schedules by the name that --schedule takes.
#pragma once

#include <string_view>

#include "lessons/06_pipeline/schedule.hpp"

namespace shardlings {

/// "naive", "gpipe", "1f1b" or "interleaved". Error for another name, or numbers that the schedule cannot
/// have.
pipeline::Schedule make_schedule(std::string_view name, int stages, int micro_batches, int chunks);

}  // namespace shardlings
