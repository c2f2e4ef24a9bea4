// Two observations of a step beside each other, and what may differ.
//
// bitwise    nothing. Against the same data and tensor parallelism without ZeRO and recomputation and (see
//            reference_of) without a pipeline: these change who holds and sends what, not one sum.
// rounding   fp64, against the single process. Data and tensor parallelism add in another order. Loss, norm,
//            and every element of gradients and m: 1e-12 of the tensor's largest (4500 roundings of 2^-52,
//            more than the terms of any sum in the small models that are verified); v, of squares: twice
//            that.
// precision  16 and 32 bit, against the single process in fp64: the root mean square distance of every tensor
//            is at most 4 times that of the single process in the same dtype (or 4 roundings of its largest
//            element). Both add the same numbers with the same roundings in another order, so their distances
//            are about as large; what is missing or counted twice is as large as the gradient itself. A norm
//            is one number, of which the single process may be near by chance: it may be off by what the
//            gradients may.
//
// A parameter may also move by what Adam makes of a gradient that is off by d. In step t its update lr m /
// (sqrt(v) + eps), bias corrections left out, changes by up to lr (1 + sqrt(t)) d / (sqrt(v) + eps), as
// |m| <= sqrt(t v) by Cauchy-Schwarz, and by no more than 2 sqrt(t) lr: where a gradient is all rounding, as
// that of the keys' biases, only its sign decides. d: what the gradient's promise allows.
// From then on the gradients differ by more than their own rounding: in fp64 too, where a gradient near
// Adam's epsilon that is off by 1e-18 moves its parameter by lr 1e-18 / 1e-8, which is 1e-13, 1000 roundings.
// That is estimated as linear response: a gradient changes from step to step because the parameters move by
// about lr; where they are off by a part of that, it is off by the same part of its change. Both are measured
// as the promise measures: the largest elements in fp64, root mean squares else.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/tools/agreement/observation.hpp"

namespace shardlings::agreement {

/// The worst that was found of one quantity, over all tensors.
struct Deviation {
    Quantity quantity;
    double error = 0.0;      // as the promise measures it
    double allowed = 0.0;    // of that tensor
    std::string tensor;      // where error / allowed is largest
    std::int64_t index = 0;  // there, row-major, of the element that is furthest off
    double expected = 0.0;
    double got = 0.0;

    bool kept() const { return error <= allowed; }
};

/// What is compared of a step.
struct Comparison {
    double loss_error = 0.0;  // relative
    double loss_allowed = 0.0;
    double norm_error = 0.0;  // relative
    double norm_allowed = 0.0;
    std::vector<Deviation> deviations;

    bool kept() const;
};

/// `loss_too`: the loss must have the same bits as well. (With data parallelism it is summed over all ranks,
/// in an order that depends on how many there are.)
Comparison compare_bitwise(const Observation& expected, const Observation& got,
                           const std::vector<TensorPlace>& places, bool loss_too);

/// Compares a run with the single process, step after step: `rounding` for fp64, else `precision`.
class Judge {
  public:
    explicit Judge(const TrainOptions& options);

    /// The next step of the single process in fp64, of the single process, and of the run.
    Comparison compare(const Observation& exact, const Observation& single, const Observation& got);
    const std::vector<TensorPlace>& places() const { return places_; }

  private:
    /// How far an element of a gradient may be off because of its own roundings.
    double gradient_allowed(const Observation& exact, const Observation& single,
                            const TensorPlace& place) const;
    /// Relative. Two norms differ by no more than the norm of the difference: | |g'| - |g| | <= |g' - g|.
    double norm_allowed(const Observation& exact, const Observation& single) const;
    void move_parameters(const Observation& exact, const Observation& single);
    void respond(const Observation& exact);
    /// Of two tensors, as the promise measures it.
    double distance_of(std::span<const double> a, std::span<const double> b) const;
    double allowed(const Observation& exact, const Observation& single, Quantity quantity,
                   std::size_t tensor) const;

    const TrainOptions& options_;
    std::vector<TensorPlace> places_;
    std::vector<double> slack_;     // how far Adam may have moved each parameter
    std::vector<double> response_;  // of each tensor's gradient to that, so far
    std::vector<double> previous_;  // the exact gradient of the step before
    double part_off_ = 0.0;         // of the learning rate, root mean square over the parameters
    std::int64_t step_ = 0;
};

}  // namespace shardlings::agreement
