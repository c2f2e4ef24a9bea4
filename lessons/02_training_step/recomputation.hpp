// 02.5 Recomputation (Chen et al. 2016, "Training deep nets with sublinear memory cost").
#pragma once

#include "lib/machine/nn/module.hpp"

namespace training {

using namespace shardlings;

/// A module that computes what `inner` computes, bitwise, but saves only its input x, as a view, so that x is
/// never there twice: backward runs inner's forward again, right before inner's backward. `inner` may keep x
/// but must not write to it.
std::unique_ptr<Module> make_recomputed(std::unique_ptr<Module> inner);

}  // namespace training
