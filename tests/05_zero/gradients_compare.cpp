#include <cmath>

#include "tests/05_zero/gradients_check.hpp"

namespace zero_test {

namespace {

std::string plural(std::int64_t micro_batches, std::int64_t m)
{
    return micro_batches > 1 ? fmt::format(" micro-batch {}", m) : "";
}

/// What a sum of digits holds too little or too much: "; it lacks rank 1's gradient", "; it holds …".
std::string digits_text(const GradientsCase& one, double got, double expected, double weight, bool tied)
{
    const double digits = got / weight, right = expected / weight;
    if (std::isnan(got)) return "; it was never zeroed or never written";
    if (got == 0.0) return "; nothing was added";
    if (digits != std::floor(digits)) return "; is it another element's, or that of another shard?";
    const int ranks = one.setup.degree;
    std::string text;
    for (std::int64_t m = 0; m < one.setup.micro_batches; ++m)
        for (int second = 0; second <= (tied ? 1 : 0); ++second)
            for (int rank = 0; rank < ranks; ++rank) {
                const double digit = std::ldexp(1.0, Contribution{rank, m, second == 1}.digit(ranks));
                if (std::fmod(std::floor(digits / digit), 2.0) == 1.0) continue;
                text += fmt::format("{} rank {}'s{}{}", text.empty() ? "; it lacks" : ",", rank,
                                    plural(one.setup.micro_batches, m),
                                    second == 1 ? " lookup (the second gradient)" : "");
            }
    if (!text.empty() || digits == right) return text;
    return fmt::format("; it is {:.4g} times that: are gradients added twice, or those of the step before?",
                       got / expected);
}

/// The parameter whose element is at `place` of the bucket.
const FlatEntry* entry_at(const Bucket& bucket, std::int64_t place)
{
    for (const FlatEntry& entry : bucket.entries)
        if (place >= entry.offset && place < entry.offset + entry.parameter->elements()) return &entry;
    return nullptr;
}

std::string compare_element(const GradientsCase& one, const Geometry& geometry, std::size_t bucket,
                            std::int64_t place, double got, double expected)
{
    if (got == expected) return "";
    const FlatEntry* entry = entry_at(geometry.buckets[bucket], place);
    if (entry == nullptr)
        return fmt::format("element {} of {} is {:.6g}, but it is padding and must stay 0", place,
                           name_of(geometry, bucket), got);
    const auto by_module = parameters_by_module(geometry.modules);
    const std::int64_t index = place - entry->offset;
    const auto weight = static_cast<double>(place_of(by_module, *entry->parameter) + index + 1);
    return fmt::format(
        "the sum of {}[{}] (element {} of {}) is {:.17g}, expected {:.17g}{}", entry->parameter->name, index,
        place, name_of(geometry, bucket), got, expected,
        one.digits ? digits_text(one, got, expected, weight, entry->parameter == by_module[0][0]) : "");
}

}  // namespace

std::string compare_sum(const GradientsCase& one, const Geometry& geometry, std::size_t bucket, int rank,
                        std::int64_t step, const std::vector<double>& part, const std::vector<double>& got)
{
    const data_parallel::Chunk own = geometry.buckets[bucket].shard(one.setup.degree, rank);
    if (part != std::vector<double>{static_cast<double>(own.offset), static_cast<double>(own.count)})
        return fmt::format("elements [{}, {}) of {} are held, expected [{}, {})", part.at(0),
                           part.at(0) + part.at(1), name_of(geometry, bucket), own.offset,
                           own.offset + own.count);
    const std::vector<double> whole = expected_sum(one, geometry, bucket, step);
    for (std::int64_t i = 0; i < own.count; ++i) {
        const std::string wrong =
            compare_element(one, geometry, bucket, own.offset + i, got.at(static_cast<std::size_t>(i)),
                            whole[static_cast<std::size_t>(own.offset + i)]);
        if (!wrong.empty()) return wrong;
    }
    return "";
}

}  // namespace zero_test
