#include "tests/05_zero/bits.hpp"

#include <algorithm>

namespace zero_test {

namespace {

double number_at(ConstBuffer elements, std::int64_t index)
{
    double number = 0.0;
    convert(elements.part(index, 1), {reinterpret_cast<std::byte*>(&number), 1, DType::fp64});
    return number;
}

}  // namespace

std::string name_of_element(const std::vector<Bucket>& buckets, std::size_t bucket, std::int64_t place)
{
    const std::string where = fmt::format("(element {} of bucket {})", place, bucket);
    for (const FlatEntry& entry : buckets[bucket].entries)
        if (place >= entry.offset && place < entry.offset + entry.parameter->elements())
            return fmt::format("{}[{}] {}", entry.parameter->name, place - entry.offset, where);
    return "padding " + where;
}

std::string compare_bits(const std::string& what, const std::vector<Bucket>& buckets, std::size_t bucket,
                         const json& got, const Chunk& part, const Tensor& whole, const Chunk& only)
{
    const std::vector<std::uint8_t>& bytes = got.get_binary();
    const std::size_t size = size_of(whole.dtype());
    if (bytes.size() != static_cast<std::size_t>(part.count) * size)
        return fmt::format("{} of bucket {} has {} elements, expected {}", what, bucket, bytes.size() / size,
                           part.count);
    const ConstBuffer is{reinterpret_cast<const std::byte*>(bytes.data()), part.count, whole.dtype()};
    const std::int64_t begin = std::max(part.offset, only.offset);
    const std::int64_t end = std::min(part.offset + part.count, only.offset + only.count);
    for (std::int64_t place = begin; place < end; ++place) {
        const ConstBuffer a = is.part(place - part.offset, 1), b = whole.buffer().part(place, 1);
        if (std::equal(a.data, a.data + size, b.data)) continue;
        return fmt::format("{} of {} is {:.9g}, expected {:.9g}", what,
                           name_of_element(buckets, bucket, place), number_at(is, place - part.offset),
                           number_at(whole.buffer(), place));
    }
    return "";
}

}  // namespace zero_test
