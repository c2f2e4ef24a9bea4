// One layer after another, 1024 features wide, for 4096 rows in fp32, until the device is full.
#include <fmt/core.h>

#include "lessons/00_devices/memory.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/comm/session.hpp"

using namespace devices;

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        DeviceOptions options;
        options.rank = session.rank();
        options.budget = parse_bytes("64MiB");
        Device device(options);
        std::vector<Tensor> kept;
        kept.push_back(make_zeros(device, {4096, 1024}, DType::fp32));
        for (int layer = 1;; ++layer) {
            kept.emplace_back(device, Shape{1024, 1024}, DType::fp32, Category::parameters);
            kept.emplace_back(device, Shape{1024, 1024}, DType::fp32, Category::gradients);
            kept.push_back(make_zeros(device, {4096, 1024}, DType::fp32));
            fmt::print("layer {}: {} of {}\n", layer, format_bytes(device.memory().current),
                       format_bytes(device.budget()));
            std::fflush(stdout);
        }
        return 0;
    });
}
