// What the tests of lesson 04 share: probe models as inputs, lists of whole numbers, batches.
#pragma once

#include <cmath>

#include "lessons/04_data_parallel/buckets.hpp"
#include "tests/04_data_parallel/parameter_model.hpp"
#include "tests/lib/run_and_check.hpp"

namespace data_parallel_test {

using namespace grade;

using Numbers = std::vector<std::vector<double>>;  // of every bucket, with its padding

inline const std::vector<DType> all_dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};

/// Half the distance between 1 and the next number: the relative error of one rounding.
inline double unit_roundoff(DType dtype)
{
    return epsilon_of(dtype) / 2.0;
}

inline json model_inputs(const ModelSizes& model)
{
    json inputs{{"sizes", model.sizes}, {"modules", json::array()}, {"module_sizes", json::array()}};
    for (const std::vector<std::int32_t>& used : model.modules) {
        for (const std::int32_t parameter : used) inputs["modules"].push_back(parameter);
        inputs["module_sizes"].push_back(used.size());
    }
    return inputs;
}

/// An output that is a list of whole numbers.
inline std::vector<std::int64_t> indices(const RankResult& result, const std::string& name)
{
    std::vector<std::int64_t> list;
    for (const double value : result.outputs.at(name).get<std::vector<double>>())
        list.push_back(static_cast<std::int64_t>(value));
    return list;
}

/// Whole numbers in [0, limit), reproducible from the seed and the name.
inline std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int32_t limit)
{
    std::vector<std::int32_t> ids;
    for (const double value : random_values(name, count, DType::fp64, 1e6))
        ids.push_back(static_cast<std::int32_t>(std::llround(std::abs(value)) % limit));
    return ids;
}

/// A message unless the case was refused with an error that names what was wrong.
inline std::string refusal_problem(const RankResult& result, const std::string& needed)
{
    if (!result.outputs.contains("refusal")) return "accepted, expected an Error";
    const auto message = result.outputs.at("refusal").get<std::string>();
    return message.find(needed) != std::string::npos
               ? ""
               : fmt::format("refused with the message '{}', which does not name '{}'", message, needed);
}

}  // namespace data_parallel_test
