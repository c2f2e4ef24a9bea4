#include "lessons/02_training_step/clipping.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/tensor.hpp"

using namespace training;

double training::sum_of_squares(ConstBuffer gradient)
{
    // Your code: see lessons/02_training_step/clipping.hpp (hints: make hint-02 PART=02.2)
    not_implemented("02.2 sum_of_squares");
}

double training::global_norm(std::span<const double> sums_of_squares)
{
    // Your code: see lessons/02_training_step/clipping.hpp (hints: make hint-02 PART=02.2)
    not_implemented("02.2 global_norm");
}

double training::clip_factor(double norm, double max_norm)
{
    // Your code: see lessons/02_training_step/clipping.hpp (hints: make hint-02 PART=02.2)
    not_implemented("02.2 clip_factor");
}
