#include "lib/machine/tensor/arithmetic.hpp"

#include <cmath>
#include <cstring>

#include "lib/machine/tensor/random.hpp"
#include "tests/lib/catch.hpp"

using namespace shardlings;

namespace {

/// Elements of any bits: normal and subnormal numbers, zeros of both signs, infinities and NaN among them.
Tensor any_bits(Device& device, DType dtype, std::int64_t count, std::uint64_t seed)
{
    Tensor tensor(device, {count}, dtype, Category::workspace);
    const RandomStream stream(seed, "bits");
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t bits = stream.bits(static_cast<std::uint64_t>(i));
        std::memcpy(tensor.buffer().part(i, 1).data, &bits, size_of(dtype));
    }
    return tensor;
}

}  // namespace

TEST_CASE("add: every 16-bit sum is the exact one rounded once, wherever it stands", "[tensor]")
{
    Device device({});
    constexpr std::int64_t count = 200'003;
    for (const DType dtype : {DType::bf16, DType::fp16}) {
        const Tensor x = any_bits(device, dtype, count, 1);
        Tensor y = any_bits(device, dtype, count, 2);
        // A sum of doubles has more than twice the digits of these types and exceeds none: rounding it again
        // to 16 bits gives the exact sum rounded once.
        const std::vector<double> xs = to_doubles(x);
        std::vector<double> sums = to_doubles(y);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += xs[i];
        Tensor expected(device, {count}, dtype, Category::workspace);
        from_doubles(sums, expected);
        add(x, y);
        const std::vector<double> got = to_doubles(y);
        const std::vector<double> rounded = to_doubles(expected);
        std::int64_t wrong = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            const bool same = std::isnan(rounded[i])
                                  ? std::isnan(got[i])
                                  : got[i] == rounded[i] && std::signbit(got[i]) == std::signbit(rounded[i]);
            if (!same && wrong++ == 0)
                UNSCOPED_INFO(name_of(dtype)
                              << " element " << i << ": " << got[i] << ", expected " << rounded[i]);
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("add: fp64 and fp32 as they are; other dtypes and lengths are refused", "[tensor]")
{
    Device device({});
    for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16})
        for (const std::int64_t count : {0, 1, 7, 8, 9, 100}) {
            Tensor x(device, {count}, dtype, Category::workspace);
            Tensor y(device, {count}, dtype, Category::workspace);
            std::vector<double> values(static_cast<std::size_t>(count));
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
            from_doubles(values, x);
            from_doubles(values, y);
            add(x, y);
            for (double& value : values) value *= 2.0;
            CHECK(to_doubles(y) == values);
        }
    const Tensor two(device, {2}, DType::fp32, Category::workspace);
    Tensor three(device, {3}, DType::fp32, Category::workspace);
    Tensor ids(device, {2}, DType::i32, Category::workspace);
    CHECK_THROWS_AS(add(two, three), Error);
    CHECK_THROWS_AS(add(two, ids), Error);
    const Tensor more_ids(device, {2}, DType::i32, Category::workspace);
    CHECK_THROWS_AS(add(more_ids, ids), Error);
}
