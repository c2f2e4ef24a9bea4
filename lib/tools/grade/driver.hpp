// The judged side of a test: a program that links somebody's code and nothing that knows the answer. It reads
// the cases that the judge wrote, runs each, and writes what came out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/machine/comm/comm.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace grade {

using namespace shardlings;

/// One case on one rank: its device, its messages, its inputs and its outputs.
class Case {
  public:
    struct State;
    explicit Case(State& state) : state_(state) {}

    Device& device();
    Comm& comm();

    /// Input `name` as a tensor on the device; Error when the case has none.
    Tensor tensor(const std::string& name, Category category = Category::activations);
    double number(const std::string& name);
    std::int64_t integer(const std::string& name);
    std::string text(const std::string& name);
    bool flag(const std::string& name);
    std::vector<std::int32_t> ids(const std::string& name);
    std::vector<double> numbers(const std::string& name);

    void put(const std::string& name, const Tensor& tensor);
    void put(const std::string& name, double number);
    void put(const std::string& name, const std::vector<double>& numbers);
    void put(const std::string& name, const std::string& text);
    /// The elements as they are stored: short, and bit by bit.
    void put_bytes(const std::string& name, ConstBuffer elements);

    /// Counts memory peaks, traffic, virtual time and FLOPs from here on, so that making the inputs is not
    /// counted.
    void start_measuring();
    /// Stops counting: what is done to show the results is not counted either. Called at the end by itself.
    void stop_measuring();

  private:
    State& state_;
};

using Operation = std::function<void(Case&)>;

/// main() of a driver: `argv` = folder, first case. Every rank writes one result a case into the folder.
int run_driver(int argc, char** argv, const std::map<std::string, Operation>& operations);

}  // namespace grade
