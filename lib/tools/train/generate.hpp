// Text from a trained model.
#pragma once

#include <cstdint>
#include <string>

namespace shardlings {

struct GenerateOptions {
    std::string load;             // folder of a checkpoint
    std::string prompt = "The ";  // its bytes are the first tokens
    std::int64_t tokens = 200;
    double temperature = 0.8;  // logits are divided by it; 0: the largest logit
    std::uint64_t seed = 1;
};

/// Prints the prompt and `tokens` further bytes, each drawn from softmax(logits / temperature) given the last
/// T bytes. Needs no MPI. Error for a bad checkpoint, an empty prompt, sizes out of range.
void generate(const GenerateOptions& options);

}  // namespace shardlings
