#include "tests/02_training_step/support.hpp"

#include <cmath>

namespace training_test {

namespace {

constexpr double limit_seconds = 10.0;
constexpr std::size_t shown_cases = 2;
constexpr std::size_t shown_messages = 3;  // of each

/// The first messages, and how many more there are.
std::string shortened(std::vector<std::string> messages)
{
    std::erase(messages, "");
    const std::size_t all = messages.size();
    if (all > shown_messages) {
        messages.resize(shown_messages);
        messages.push_back(fmt::format("and {} more like these", all - shown_messages));
    }
    return join(messages);
}

}  // namespace

void run_and_check(const std::string& file, const std::vector<NamedCase>& cases)
{
    std::vector<CaseInput> inputs;
    for (const NamedCase& one : cases) inputs.push_back(one.input);
    const std::vector<CaseResult> results = run_cases(file, inputs, limit_seconds);
    std::vector<std::string> messages;
    for (std::size_t i = 0; i < cases.size() && messages.size() < shown_cases; ++i) {
        const std::string& failure = results[i].failure;
        const std::string message =
            failure.empty() ? shortened(cases[i].check(results[i].ranks[0])) : failure;
        if (message.starts_with("not implemented")) FAIL(message);
        if (!message.empty()) messages.push_back(cases[i].name + ": " + message);
        if (results[i].stopped) break;
    }
    if (!messages.empty()) FAIL(join(messages));
    SUCCEED();
}

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
