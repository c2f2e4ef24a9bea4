#include "lib/machine/nn/module.hpp"

#include <algorithm>

namespace shardlings {

std::vector<Parameter*> parameters_of(const Modules& modules)
{
    std::vector<Parameter*> all;
    for (const auto& module : modules)
        for (Parameter* parameter : module->parameters())
            if (std::find(all.begin(), all.end(), parameter) == all.end()) all.push_back(parameter);
    return all;
}

}  // namespace shardlings
