// What recursive doubling promises; all_reduce may choose it too.
#pragma once

#include "tests/03_collectives/run.hpp"

namespace collectives_test {

GroupPromise recursive_doubling_promise(const Run& run, const Group& group);

}  // namespace collectives_test
