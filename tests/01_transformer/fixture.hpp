// The files in fixtures/: what PyTorch computes for a few small models (fixtures/README.md says what they
// hold).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lib/machine/base/model_shape.hpp"
#include "lib/tools/train/safetensors.hpp"

namespace lesson01 {

using namespace shardlings;

inline const std::vector<std::string> all_fixtures{"small", "single_token", "ignored_targets",
                                                   "three_layers"};

class Fixture {
  public:
    /// Error when the tests are not run from the repository's folder.
    explicit Fixture(const std::string& name)
        : file_("tests/01_transformer/fixtures/" + name + ".safetensors"),
          shape{integer("layers"), integer("hidden"), integer("heads"), integer("sequence"),
                integer("vocabulary")},
          sequences(integer("batch")),
          steps(integer("steps"))
    {
    }

    std::int64_t integer(const std::string& key) const { return std::stoll(file_.metadata().at(key)); }
    double number(const std::string& key) const { return std::stod(file_.metadata().at(key)); }

    const Shape& shape_of(const std::string& name) const { return find(name).shape; }
    std::vector<double> values(const std::string& name) const
    {
        std::vector<double> values(static_cast<std::size_t>(elements_of(shape_of(name))));
        const auto count = static_cast<std::int64_t>(values.size());
        file_.read(find(name), 0, {reinterpret_cast<std::byte*>(values.data()), count, DType::fp64});
        return values;
    }
    /// Of the batch of step 0, 1, …; `name` is "tokens" or "targets".
    std::vector<std::int32_t> ids(const std::string& name, std::int64_t step) const
    {
        std::vector<std::int64_t> wide(static_cast<std::size_t>(sequences * shape.sequence));
        const auto count = static_cast<std::int64_t>(wide.size());
        file_.read(find(name), step * count, {reinterpret_cast<std::byte*>(wide.data()), count, DType::i64});
        return {wide.begin(), wide.end()};
    }
    /// 1 / targets of a step's batch that are not −1.
    double token_weight(std::int64_t step) const
    {
        const std::vector<std::int32_t> targets = ids("targets", step);
        return 1.0 / static_cast<double>(std::count_if(targets.begin(), targets.end(),
                                                       [](std::int32_t id) { return id >= 0; }));
    }

  private:
    const FileTensor& find(const std::string& name) const
    {
        const FileTensor* tensor = file_.find(name);
        check(tensor != nullptr, "{} has no tensor {}", file_.path().string(), name);
        return *tensor;
    }

    SafetensorsFile file_;

  public:
    ModelShape shape;
    std::int64_t sequences;
    std::int64_t steps;
};

}  // namespace lesson01
