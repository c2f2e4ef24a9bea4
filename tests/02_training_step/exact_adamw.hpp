// The AdamW update in long double, with the error that rounding may cause in the dtype of the states.
#pragma once

#include "lessons/02_training_step/adamw.hpp"
#include "tests/02_training_step/support.hpp"

namespace training_test {

/// A number and how far a computation in the states' dtype may end from it.
struct Bounded {
    long double value = 0.0L;
    long double error = 0.0L;
};

/// One element of the optimizer.
struct Element {
    Bounded m, v, w;
};

struct Update {
    training::AdamW options;
    std::int64_t step = 1;
    double gradient_factor = 1.0;
    double factor_error = 0.0;  // relative, of the factor itself
    bool decays = false;
    DType dtype = DType::fp32;  // of the states
};

/// Wrong ways to move the weight, for the diagnosis; `right` is the right one.
enum class Variant {
    right,
    no_correction,
    no_correction_of_m,
    no_correction_of_v,
    epsilon_in_root,
    no_root,
    decay_flipped,
    decay_without_rate,
    old_moments,
    uphill
};

/// The element after one update with the stored gradient g.
void exact_update(const Update& update, double g, Element& element, Variant variant = Variant::right);

/// `count` updates that differ in their step number only.
std::vector<Update> consecutive(const Update& first, int count);

/// The elements after several updates: gradients[s][i] in updates[s].
std::vector<Element> exact_updates(const std::vector<Update>& updates,
                                   const std::vector<std::vector<double>>& gradients,
                                   std::vector<Element> elements, Variant variant = Variant::right);

/// Elements that start from these numbers.
std::vector<Element> elements_from(const std::vector<double>& m, const std::vector<double>& v,
                                   const std::vector<double>& w);

/// Messages about m, v and the weights of a case whose outputs are named so, with the likely cause.
std::vector<std::string> check_elements(const std::vector<Update>& updates,
                                        const std::vector<std::vector<double>>& gradients,
                                        const std::vector<Element>& before, const json& m, const json& v,
                                        const json& w, const std::string& name_of_w);

}  // namespace training_test
