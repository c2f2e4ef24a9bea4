#include "tests/02_training_step/support.hpp"

#include <cmath>

namespace training_test {

std::string compare_within(const std::string& name, const json& got, const json& expected,
                           const std::vector<double>& bounds)
{
    if (!got.is_object() || got.at("values").size() != bounds.size()) return compare(name, got, expected, {});
    json bounded = got;  // what is near enough counts as right
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const double wanted = expected.at("values").at(i).get<double>();
        if (std::abs(got.at("values").at(i).get<double>() - wanted) <= bounds[i])
            bounded.at("values").at(i) = wanted;
    }
    return compare(name, bounded, expected, {});
}

std::vector<double> rounded(const std::vector<double>& values, DType dtype)
{
    Device device{DeviceOptions{}};
    Tensor tensor(device, {static_cast<std::int64_t>(values.size())}, dtype, Category::workspace);
    from_doubles(values, tensor);
    return to_doubles(tensor);
}

std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int32_t limit)
{
    std::vector<std::int32_t> ids;
    for (const double value : random_values(name, count, DType::fp64, 1e6))
        ids.push_back(static_cast<std::int32_t>(std::llround(std::abs(value)) % limit));
    return ids;
}

std::uint64_t bytes_of(const RankResult& result, Category category)
{
    return result.measured.at("current_by").at(static_cast<std::size_t>(category)).get<std::uint64_t>();
}

std::string check_memory(const RankResult& result, std::uint64_t left, std::uint64_t allowed)
{
    const auto number = [&](const char* name) { return result.measured.at(name).get<std::uint64_t>(); };
    const std::uint64_t begin = number("begin");
    if (number("current") != begin + left)
        return fmt::format("when it returns {} bytes of the device are in use, expected {}",
                           number("current"), begin + left);
    if (number("peak") > begin + allowed)
        return fmt::format("needed {} bytes on top of what was there, expected at most {}",
                           number("peak") - begin, allowed);
    return "";
}

}  // namespace training_test
