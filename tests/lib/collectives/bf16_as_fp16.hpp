// Wrong in bf16: 16 bits are 16 bits.
#pragma once

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void bf16_as_fp16(Comm& comm, Buffer values)
{
    if (is_sixteen_bit(values.dtype)) values.dtype = DType::fp16;
    sum_on_rank_0(comm, values);
    send_to_all(comm, values, 0, comm.size());
}

}  // namespace collectives_test
