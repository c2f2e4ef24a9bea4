// 08.1 Where split layers begin and end: Megatron's conjugate operators f and g (Shoeybi et al. 2019, section
// 3), and those of sequence parallelism (Korthikanti et al. 2022, section 4.2.2).
//
// Between the split layers the activations are the same on all ranks of the group (outside: replicated), or
// each rank has a part of the rows (outside: sequence-parallel). A row is one token of one sequence; there
// are R = B T of them. In these headers T is the tokens, T_group the ranks of the group (the page's T).
#pragma once

#include <memory>

#include "lib/machine/comm/comm.hpp"
#include "lib/machine/nn/module.hpp"

namespace tensor_parallel {

using namespace shardlings;

class Boundary {
  public:
    virtual ~Boundary() = default;
    /// f forward: outside -> all rows (B, T, h) on every rank, before a column-parallel layer.
    virtual Tensor enter(const MicroBatch& batch, const Tensor& x) = 0;
    /// f backward: dx of all rows, partial sums over the group -> their sum, as outside. Takes dx over.
    virtual Tensor enter_backward(Tensor dx) = 0;
    /// g forward: y of all rows, partial sums over the group -> their sum, as outside. Takes y over.
    virtual Tensor leave(Tensor y) = 0;
    /// g backward: dy as outside -> all rows (B, T, h) on every rank.
    virtual Tensor leave_backward(const MicroBatch& batch, const Tensor& dy) = 0;
    /// Which row of the batch the first row outside is, on this rank.
    virtual std::int64_t first_row(const MicroBatch& batch) = 0;
    /// True when each rank has a part of the rows outside.
    virtual bool shares_rows() const { return false; }
    /// The gradient of a parameter that every rank has and that was computed from the rows outside -> of all
    /// rows.
    virtual void sum_over_rows(Tensor& gradient) = 0;
    /// The ranks of the group.
    virtual Comm& group() = 0;
};

/// Outside: all rows on every rank. enter and leave_backward do nothing; leave and enter_backward are a ring
/// all-reduce.
std::unique_ptr<Boundary> make_replicated_boundary(Comm& group);

/// Outside: (S, h), S = ceil(R / T_group): rank r has rows r S … of the R rows and zeros behind their
/// end. enter and leave_backward are a ring all-gather, leave and enter_backward a ring reduce-scatter.
std::unique_ptr<Boundary> make_sequence_boundary(Comm& group);

}  // namespace tensor_parallel
