// Element types and untyped views of elements. The dtype travels at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardlings {

/// fp64, fp32, bf16 and fp16 hold numbers; i32 holds token ids; byte is for anything else that is sent.
enum class DType : std::uint8_t { fp64, fp32, bf16, fp16, i32, i64, byte };

/// Bytes of one element.
std::size_t size_of(DType dtype);

std::string_view name_of(DType dtype);

/// The floating-point dtype called `name` (fp64, fp32, bf16, fp16); Error for anything else.
DType parse_dtype(std::string_view name);

constexpr bool is_sixteen_bit(DType dtype)
{
    return dtype == DType::bf16 || dtype == DType::fp16;
}

/// The number of representable steps between 1 and 2, inverted: 2^-52, 2^-23, 2^-7 (bf16), 2^-10 (fp16).
double epsilon_of(DType dtype);

/// A view of `count` elements that somebody else owns.
struct ConstBuffer {
    const std::byte* data = nullptr;
    std::int64_t count = 0;
    DType dtype = DType::byte;

    std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(dtype); }
    /// Elements [offset, offset + length).
    ConstBuffer part(std::int64_t offset, std::int64_t length) const
    {
        return {data + static_cast<std::size_t>(offset) * size_of(dtype), length, dtype};
    }
};

/// The same, to write to.
struct Buffer {
    std::byte* data = nullptr;
    std::int64_t count = 0;
    DType dtype = DType::byte;

    std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(dtype); }
    Buffer part(std::int64_t offset, std::int64_t length) const
    {
        return {data + static_cast<std::size_t>(offset) * size_of(dtype), length, dtype};
    }
    operator ConstBuffer() const { return {data, count, dtype}; }
};

}  // namespace shardlings
