// Figure 1 of the ZeRO paper: what of 7.5 billion parameters' training is left on a device.
#include <fmt/core.h>

#include <cmath>
#include <exception>

#include "lessons/05_zero/memory.hpp"

namespace {

/// GB with one decimal from 10 on and two below, halves away from zero, as the paper prints them.
double rounded(double bytes)
{
    const double unit = bytes < 10e9 ? 0.01 : 0.1;
    return std::round(bytes / 1e9 / unit) * unit;
}

}  // namespace

int main()
try {
    constexpr double parameters = 7.5e9;
    fmt::print("GB a device    none   stage 1   stage 2   stage 3\n");
    for (const int degree : {1, 4, 16, 64, 256, 1024}) {
        fmt::print("Nd = {:<6}", degree);
        for (const int stage : {0, 1, 2, 3})
            fmt::print(
                "{:>10.4g}",
                rounded(zero::state_bytes(stage, parameters, degree, shardlings::DType::bf16).total()));
        fmt::print("\n");
    }
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
