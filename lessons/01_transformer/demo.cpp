// Causal attention alone: three tokens and one head of size 1, with numbers that can be checked by hand.
#include <cmath>
#include <exception>

#include "lessons/01_transformer/attention.hpp"

using namespace transformer;

namespace {

Tensor make_tensor(Device& device, const Shape& shape, const std::vector<double>& values)
{
    Tensor tensor(device, shape, DType::fp64, Category::activations);
    from_doubles(values, tensor);
    return tensor;
}

void print(const char* name, const Tensor& tensor)
{
    const std::vector<double> values = to_doubles(tensor);
    for (std::int64_t i = 0; i < tensor.rows(); ++i) {
        fmt::print("{:<16}", i == 0 ? name : "");
        for (std::int64_t j = 0; j < tensor.columns(); ++j) {
            const double value = values[static_cast<std::size_t>(i * tensor.columns() + j)];
            fmt::print(" {:8.4f}", std::round(value * 1e4) / 1e4 + 0.0);  // + 0: no −0
        }
        fmt::print("\n");
    }
}

void attention_by_hand()
{
    Device device{DeviceOptions{}};
    const double ln2 = std::log(2.0);
    const double ln3 = std::log(3.0);
    // A row a token: q, k, v.
    const Tensor qkv = make_tensor(device, {1, 3, 3}, {1, 0, 6, 1, ln2, 12, 1, ln3, 0});
    const AttentionOutput out = attention_forward(qkv, 1);
    print("P", out.probabilities);
    print("y", out.y);
    const Tensor dy = make_tensor(device, {1, 3, 1}, {0, 0, 1});
    print("dq dk dv", attention_backward(dy, qkv, out.probabilities, 1));
}

}  // namespace

int main()
try {
    attention_by_hand();
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
