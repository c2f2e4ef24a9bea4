#include "lib/tools/data/statistics.hpp"

#include <cmath>
#include <vector>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

constexpr std::size_t symbols = 256;

}  // namespace

TextStatistics measure_statistics(const Text& text)
{
    const auto training = text.training();
    const auto validation = text.validation();
    check(validation.size() >= 2, "the validation split of {} has {}: at least 2 are needed", text.origin(),
          counted(validation.size(), "byte"));

    std::vector<double> count(symbols, 0.0);
    std::vector<double> pairs(symbols * symbols, 0.0);
    std::vector<double> followed(symbols, 0.0);
    for (const std::uint8_t byte : training) count[byte] += 1.0;
    for (std::size_t i = 1; i < training.size(); ++i) {
        pairs[training[i - 1] * symbols + training[i]] += 1.0;
        followed[training[i - 1]] += 1.0;
    }

    TextStatistics bits;
    const double total = static_cast<double>(training.size() + symbols);
    for (std::size_t i = 1; i < validation.size(); ++i) {
        const std::size_t a = validation[i - 1];
        const std::size_t b = validation[i];
        bits.order_0 -= std::log2((count[b] + 1.0) / total);
        bits.bigram -= std::log2((pairs[a * symbols + b] + 1.0) / (followed[a] + symbols));
    }
    const auto predicted = static_cast<double>(validation.size() - 1);
    return {bits.order_0 / predicted, bits.bigram / predicted};
}

}  // namespace shardlings
