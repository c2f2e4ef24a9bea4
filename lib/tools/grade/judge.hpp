// The judging side of a test: it makes the cases, starts a driver that runs somebody's code, and looks at
// what came out. It never runs the code it judges.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/machine/device/device.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace grade {

using namespace shardlings;
using nlohmann::json;

/// One case. `ranks` holds one object of inputs for each rank.
struct CaseInput {
    std::string operation;
    std::vector<json> ranks;
    std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();
    Topology topology{};  // must hold the ranks; one node of as many devices as ranks when it does not
};

/// The same case on one rank.
CaseInput one_rank(std::string operation, json inputs);

/// What one rank of a case left.
struct RankResult {
    bool finished = false;  // false: it crashed, hung, or was stopped because another rank was
    bool not_implemented = false;
    bool out_of_memory = false;
    std::string error;  // the message of what it threw
    json outputs;
    json measured;  // peak_by, current_by, peak, current, begin, messages, bytes, inter_node_bytes, to,
                    // virtual_seconds, flops
};

struct CaseResult {
    std::string failure;   // empty when every rank finished without an error; else what happened
    bool stopped = false;  // at the limit, or because the ranks waited for each other
    bool started = true;   // false: earlier cases went wrong in such a way that this one was left out
    std::vector<RankResult> ranks;
};

/// Runs the cases, in one launch while they behave, on the driver of a source file:
/// $SHARDLINGS_DRIVERS/`file`, or …/all. A case that crashes fails and the rest still run. The rest is left
/// out, as the verdict stands and would only come later, after `limit` seconds in which no rank finished a
/// case, after a deadlock (which comes with its cycle and the lines of the file), after code on several ranks
/// that is not implemented, and after three launches that failed.
std::vector<CaseResult> run_cases(const std::string& file, const std::vector<CaseInput>& cases,
                                  double limit = 20.0);

/// A tensor as an input: {"shape", "dtype", "values"}.
json tensor_input(const Shape& shape, DType dtype, const std::vector<double>& values);
json tensor_input(const Tensor& tensor);

/// `count` reproducible normal numbers times `scale`, rounded to `dtype`: what a test feeds in. The seed is
/// $SHARDLINGS_TEST_SEED (the grader sets a new one) or 1, and the name.
std::vector<double> random_values(const std::string& name, std::int64_t count, DType dtype,
                                  double scale = 1.0);

/// How far a result may be from what is expected: |got − expected| <= absolute + relative · |expected|.
struct Tolerance {
    double relative = 0.0;
    double absolute = 0.0;
};

/// Empty when `got`, the JSON of an output tensor, has the shape and dtype of `expected` and its elements
/// within the tolerance; else the message for the student: tensor, first and worst index, expected, got,
/// error in ulp, and what that usually means where it can be told (all zero, transposed, a constant factor, a
/// sign, NaN).
std::string compare(const std::string& name, const json& got, const json& expected, Tolerance tolerance);
std::string compare(const std::string& name, const json& got, const Tensor& expected, Tolerance tolerance);
std::string compare_number(const std::string& name, double got, double expected, Tolerance tolerance);

/// Joins the messages that are not empty, a line each.
std::string join(const std::vector<std::string>& messages);

}  // namespace grade
