// Schedules by the name that --schedule takes.
#pragma once

#include <string>
#include <string_view>

#include "lessons/06_pipeline/schedule.hpp"

namespace shardlings {

/// "naive", "gpipe", "1f1b" or "interleaved". Error for another name, or numbers that the schedule cannot
/// have.
pipeline::Schedule make_schedule(std::string_view name, int stages, int micro_batches, int chunks);

/// "1f1b: 4 stages, 8 micro-batches", "interleaved: 4 stages of 2 chunks, 8 micro-batches".
std::string title_of_schedule(std::string_view name, int stages, int micro_batches, int chunks);

}  // namespace shardlings
