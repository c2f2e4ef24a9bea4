#include "lib/machine/tensor/arithmetic.hpp"

#include <Eigen/Core>
#include <bit>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace shardlings {

namespace {

template <class Stored>
void add_elements(ConstBuffer x, Buffer y)
{
    const Eigen::Map<const Eigen::Array<Stored, Eigen::Dynamic, 1>> from(
        reinterpret_cast<const Stored*>(x.data), x.count);
    Eigen::Map<Eigen::Array<Stored, Eigen::Dynamic, 1>> to(reinterpret_cast<Stored*>(y.data), y.count);
    to += from;
}

// Eigen adds 16-bit numbers one at a time, or, bf16 on some processors, takes the smallest ones for zero.
// Sums of floats are what these are rounded from, once: a float has more than twice their digits.

/// The upper half of a float is a bf16: in integers the compiler adds many at once.
std::uint16_t bf16_sum(std::uint16_t x, std::uint16_t y)
{
    constexpr std::uint16_t not_a_number = 0x7fc0;
    const float sum =
        std::bit_cast<float>(std::uint32_t{x} << 16) + std::bit_cast<float>(std::uint32_t{y} << 16);
    const auto bits = std::bit_cast<std::uint32_t>(sum);
    const std::uint32_t to_nearest_even = 0x7fff + (bits >> 16 & 1);
    return sum != sum ? not_a_number : static_cast<std::uint16_t>((bits + to_nearest_even) >> 16);
}

void add_bf16(ConstBuffer x, Buffer y)
{
    const auto* from = reinterpret_cast<const std::uint16_t*>(x.data);
    auto* to = reinterpret_cast<std::uint16_t*>(y.data);
    for (std::int64_t i = 0; i < x.count; ++i) to[i] = bf16_sum(from[i], to[i]);
}

void add_fp16(ConstBuffer x, Buffer y)
{
    std::int64_t done = 0;
#ifdef __F16C__
    constexpr std::int64_t at_once = 8;
    const auto* from = reinterpret_cast<const __m128i*>(x.data);
    auto* to = reinterpret_cast<__m128i*>(y.data);
    for (; done + at_once <= x.count; done += at_once, ++from, ++to) {
        const __m256 sum =
            _mm256_add_ps(_mm256_cvtph_ps(_mm_loadu_si128(from)), _mm256_cvtph_ps(_mm_loadu_si128(to)));
        _mm_storeu_si128(to, _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    add_elements<Eigen::half>(x.part(done, x.count - done), y.part(done, y.count - done));
}

}  // namespace

void add(ConstBuffer x, Buffer y)
{
    check(x.count == y.count && x.dtype == y.dtype, "cannot add {} elements of {} to {} of {}", x.count,
          name_of(x.dtype), y.count, name_of(y.dtype));
    switch (x.dtype) {
        case DType::fp64:
            return add_elements<double>(x, y);
        case DType::fp32:
            return add_elements<float>(x, y);
        case DType::bf16:
            return add_bf16(x, y);
        case DType::fp16:
            return add_fp16(x, y);
        default:
            throw Error(fmt::format("{} elements cannot be added", name_of(x.dtype)));
    }
}

void add(const Tensor& x, Tensor& y)
{
    add(x.buffer(), y.buffer());
}

}  // namespace shardlings
