// Models that are nothing but parameters, on which buckets, sums and updates are tested.
#pragma once

#include "tests/04_data_parallel/parameter_model.hpp"

namespace data_parallel_test {

/// An embedding, two blocks and a head that uses the first parameter too.
inline const ModelSizes tied_gpt{{33, 12, 4, 4, 16, 5, 4, 4, 16, 5, 3, 3},
                                 {{0, 1}, {2, 3, 4, 5}, {6, 7, 8, 9}, {10, 11, 0}}};
inline const ModelSizes several_ties{{6, 2, 9, 1, 7}, {{0, 1}, {2, 0}, {3, 1}, {4, 2}, {0, 1, 2}}};
inline const ModelSizes empty_modules{{8, 3, 5}, {{}, {0}, {}, {}, {1, 0}, {2}, {}, {1, 2}}};
inline const ModelSizes single{{1}, {{0}}};
inline const ModelSizes tie_alone{{10, 4}, {{0}, {1}, {0}}};

}  // namespace data_parallel_test
