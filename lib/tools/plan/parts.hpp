// The parts of a layout's memory and time by name, for all reports.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "lib/tools/plan/time.hpp"

namespace shardlings::plan {

inline std::array<std::pair<std::string_view, double>, 6> parts_of(const Memory& m)
{
    return {{{"parameters", m.parameters},
             {"gradients", m.gradients},
             {"optimizer states", m.optimizer_states},
             {"activations", m.activations},
             {"activations of the ends", m.ends},
             {"block at work", m.working}}};
}

inline std::array<std::pair<std::string_view, double>, 7> parts_of(const StepTime& t)
{
    return {{{"compute", t.compute},
             {"recompute", t.recompute},
             {"tensor-parallel group", t.tensor},
             {"sending between stages", t.pipeline},
             {"bubble", t.bubble},
             {"data-parallel group", t.data},
             {"optimizer", t.optimizer}}};
}

inline std::array<std::pair<std::string_view, double>, 3> parts_of(const Traffic& t)
{
    return {{{"tensor", t.tensor}, {"pipeline", t.pipeline}, {"data", t.data}}};
}

/// The terms of lesson 10.3.
inline std::array<std::pair<std::string_view, double>, 8> parts_of(const counting::SequenceFlops& f)
{
    return {{{"embedding", f.embedding},
             {"QKV", f.qkv},
             {"attention logits", f.attention_logits},
             {"softmax", f.softmax},
             {"attention's sum", f.attention_sum},
             {"projection", f.projection},
             {"MLP", f.mlp},
             {"output", f.output}}};
}

}  // namespace shardlings::plan
