// The runs that the three ring collectives are tested with, and what they promise.
#pragma once

#include "tests/03_collectives/run.hpp"

namespace collectives_test {

GroupPromise reduce_scatter_promise(const Run& run, const Group& group);
GroupPromise all_gather_promise(const Run& run, const Group& group);
GroupPromise all_reduce_promise(const Run& run, const Group& group);

/// An all-reduce in the rows of a grid, then one in its columns.
GroupPromise grid_promise(const Run& run, const Group& group);

/// Groups of 1 to 8 ranks and many lengths; values that say whose they are.
std::vector<NamedCase> exact_cases(const std::string& function, const Promises& promises);

/// All dtypes, bit by bit; inside a larger buffer; groups in another order, several at once; a large buffer.
std::vector<NamedCase> bitwise_cases(const std::string& function, const Promises& promises);

/// Random links, ranks that start at different times, nodes.
std::vector<NamedCase> time_cases(const std::string& function, const Promises& promises);

}  // namespace collectives_test
