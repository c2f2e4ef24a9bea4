#include "tests/04_data_parallel/support.hpp"

using namespace data_parallel_test;

namespace {

struct Cutting {
    std::vector<std::int32_t> sizes;
    int degree;
};

struct GotSegment {
    std::int64_t parameter, owner, offset, count, parameter_offset;
    bool operator==(const GotSegment&) const = default;
};

std::vector<GotSegment> got_segments(const RankResult& result)
{
    std::vector<GotSegment> segments;
    const auto parameters = indices(result, "parameters");
    for (std::size_t i = 0; i < parameters.size(); ++i)
        segments.push_back({parameters[i], indices(result, "owners")[i], indices(result, "offsets")[i],
                            indices(result, "counts")[i], indices(result, "parameter_offsets")[i]});
    return segments;
}

std::string segment_problem(const GotSegment& segment, std::int64_t begin, std::int64_t size,
                            std::int64_t shard)
{
    const std::string name = fmt::format("elements [{}, {})", segment.offset, segment.offset + segment.count);
    if (segment.count < 1) return fmt::format("there is a segment of {} elements", segment.count);
    if (segment.parameter_offset != begin)
        return fmt::format("{}: parameter_offset is {}, expected {}, where p{} begins in the bucket", name,
                           segment.parameter_offset, begin, segment.parameter);
    if (segment.offset < begin || segment.offset + segment.count > begin + size)
        return fmt::format("{} are not all of p{}, which has [{}, {})", name, segment.parameter, begin,
                           begin + size);
    if (segment.offset < segment.owner * shard ||
        segment.offset + segment.count > (segment.owner + 1) * shard)
        return fmt::format("{} are not all of rank {}'s shard, which is [{}, {})", name, segment.owner,
                           segment.owner * shard, (segment.owner + 1) * shard);
    return "";
}

std::vector<std::string> check_segments(const Cutting& one, const RankResult& result)
{
    const std::vector<GotSegment> got = got_segments(result);
    std::vector<std::int64_t> begins{0};
    for (const std::int32_t size : one.sizes) begins.push_back(begins.back() + size);
    const std::int64_t elements = begins.back();
    const std::int64_t shard = (elements + one.degree - 1) / one.degree;
    std::vector<int> covered(static_cast<std::size_t>(elements));
    for (const GotSegment& segment : got) {
        if (segment.parameter < 0) return {"a segment belongs to no parameter of the bucket"};
        const auto parameter = static_cast<std::size_t>(segment.parameter);
        const std::string message = segment_problem(segment, begins[parameter], one.sizes[parameter], shard);
        if (!message.empty()) return {message};
        for (std::int64_t i = 0; i < segment.count; ++i)
            ++covered[static_cast<std::size_t>(segment.offset + i)];
    }
    for (std::size_t i = 0; i < covered.size(); ++i)
        if (covered[i] != 1)
            return {fmt::format("element {} of the bucket's {} is in {} segments, expected 1", i, elements,
                                covered[i])};
    const auto order = [](const GotSegment& a, const GotSegment& b) {
        return std::pair(a.parameter, a.owner) < std::pair(b.parameter, b.owner);
    };
    if (!std::ranges::is_sorted(got, order))
        return {
            "the segments are not ordered by parameter, then by owner: the norm is to be added in one "
            "order everywhere"};
    return {};
}

NamedCase segments_case(const Cutting& one)
{
    std::string name = fmt::format("a bucket for {} ranks with parameters of", one.degree);
    for (const std::int32_t size : one.sizes) name += fmt::format(" {}", size);
    json inputs = model_inputs({one.sizes, {}});
    inputs["degree"] = one.degree;
    return {name + " elements", one_rank("segments_of", inputs),
            [=](const RankResult& result) { return check_segments(one, result); }};
}

}  // namespace

TEST_CASE("04.2 segments_of: every element once, by parameter, then by owner", "[04.2]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {1, 2, 3, 4, 5, 8, 16})
        for (const std::vector<std::int32_t>& sizes : std::vector<std::vector<std::int32_t>>{
                 {1}, {8}, {17}, {1, 1, 1}, {3, 40, 2}, {4, 4}, {5, 3, 9, 1, 30}})
            cases.push_back(segments_case({sizes, degree}));
    run_and_check("buckets", cases);
}
