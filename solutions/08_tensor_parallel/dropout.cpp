#include "lessons/08_tensor_parallel/dropout.hpp"

#include <algorithm>

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
        // BEGIN SOLUTION 08.5 apply_dropout
        const std::int64_t h = x.columns();
        const std::int64_t rows = std::min(x.rows(), batch.sequences * batch.tokens - first_row);
        const auto scale = static_cast<Real>(1.0 / (1.0 - dropout.probability));
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::int64_t row = batch.first_sequence * batch.tokens + first_row + i;
            for (std::int64_t c = 0; c < h; ++c) {
                const bool keeps =
                    stream.uniform(static_cast<std::uint64_t>(row * h + c)) >= dropout.probability;
                Real& element = x_.matrix()(i, c);
                element = keeps ? element * scale : Real(0);
            }
        }
        // END SOLUTION
    });
}
