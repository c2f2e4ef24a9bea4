#include "lessons/08_tensor_parallel/dropout.hpp"

#include <algorithm>

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace tensor_parallel;

void tensor_parallel::apply_dropout(const Dropout& dropout, std::string_view name, const MicroBatch& batch,
                                    std::int64_t first_row, Tensor& x)
{
    check(dropout.probability >= 0.0 && dropout.probability < 1.0,
          "--dropout is {}: expected 0 or more, and less than 1", dropout.probability);
    if (dropout.probability == 0.0 || batch.step == 0) return;
    const RandomStream stream(dropout.seed, fmt::format("dropout {} {}", name, batch.step));
    with_real(x.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Update<Real> x_(x);
        // Your code: see lessons/08_tensor_parallel/dropout.hpp (hints: make hint-08 PART=08.5)
        not_implemented("08.5 apply_dropout");
    });
}
