#include "lessons/00_devices/messages.hpp"
#include "lib/machine/base/error.hpp"

using namespace devices;

LinkCost devices::measure_link(Comm& comm)
{
    // Your code: see lessons/00_devices/messages.hpp (hints: make hint-00 PART=00.3)
    not_implemented("00.3 measure_link");
}
