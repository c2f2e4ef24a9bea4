// The single process: lesson 01's model on the whole tensors, with dropout as lesson 08 describes it.
#pragma once

#include <map>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "tests/08_tensor_parallel/support.hpp"

namespace tensor_parallel_test {

/// By the parameters' names.
using ByName = std::map<std::string, std::vector<double>>;

/// One batch through a GPT that is cut over a group.
struct GptRun {
    Outside at;  // of one micro-batch
    ModelShape shape;
    std::int64_t micro_batches = 2;
    double dropout = 0.0;
    bool recompute = false;
    std::int64_t step = 1, first_sequence = 0;
    double loss_scale = 1.0;
    std::uint64_t seed = 11;

    std::string name() const;
    std::int64_t sequences() const { return at.sequences * micro_batches; }
    std::vector<std::int32_t> inputs() const;
    /// The first third does not count, so that micro-batches count unequal numbers.
    std::vector<std::int32_t> targets() const;
    json input() const;
    CaseInput case_input(const std::string& operation) const;
};

/// A run of the whole model in `dtype`, from the initial values rounded to at.dtype.
class SingleProcess {
  public:
    SingleProcess(const GptRun& run, DType dtype);

    double loss() const { return loss_; }
    ByName gradients() const { return numbers(&Parameter::gradient); }
    ByName values() const { return numbers(&Parameter::value); }
    const FlatLayout& layout() const { return flat_.layout(); }
    const Modules& modules() const { return modules_; }

  private:
    ByName numbers(Tensor Parameter::*tensor) const;

    Device device_{DeviceOptions{}};
    Modules modules_;
    FlatParameters flat_;
    double loss_ = 0.0;
};

/// The batch in micro-batches, as every rank is given it.
class GptBatch {
  public:
    explicit GptBatch(const GptRun& run);
    std::vector<MicroBatch> parts() const;

  private:
    GptRun run_;
    std::vector<std::int32_t> inputs_, targets_;
};

}  // namespace tensor_parallel_test
