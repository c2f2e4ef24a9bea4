#include "lessons/08_tensor_parallel/boundary.hpp"

#include <algorithm>
#include <utility>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"

using namespace tensor_parallel;

namespace {

class ReplicatedBoundary : public Boundary {
  public:
    explicit ReplicatedBoundary(Comm& group) : group_(group) {}

    Tensor enter(const MicroBatch&, const Tensor& x) override { return x.view(0, x.shape()); }
    Tensor enter_backward(Tensor dx) override { return sum(std::move(dx)); }
    Tensor leave(Tensor y) override { return sum(std::move(y)); }
    Tensor leave_backward(const MicroBatch&, const Tensor& dy) override { return dy.view(0, dy.shape()); }
    std::int64_t first_row(const MicroBatch&) override { return 0; }
    void sum_over_rows(Tensor&) override {}
    Comm& group() override { return group_; }

  private:
    Tensor sum(Tensor partial)
    {
        // Your code: see lessons/08_tensor_parallel/boundary.hpp (hints: make hint-08 PART=08.1)
        not_implemented("08.1 ReplicatedBoundary::sum");
    }

    Comm& group_;
};

class SequenceBoundary : public Boundary {
  public:
    explicit SequenceBoundary(Comm& group) : group_(group) {}

    Tensor enter(const MicroBatch& batch, const Tensor& x) override { return gather(batch, x); }
    Tensor enter_backward(Tensor dx) override { return scatter(std::move(dx)); }
    Tensor leave(Tensor y) override { return scatter(std::move(y)); }
    Tensor leave_backward(const MicroBatch& batch, const Tensor& dy) override { return gather(batch, dy); }
    std::int64_t first_row(const MicroBatch& batch) override
    {
        const std::int64_t rows = batch.sequences * batch.tokens;
        return group_.rank() * ((rows + group_.size() - 1) / group_.size());
    }
    bool shares_rows() const override { return true; }
    void sum_over_rows(Tensor& gradient) override
    {
        // Your code: see lessons/08_tensor_parallel/boundary.hpp (hints: make hint-08 PART=08.1)
        not_implemented("08.1 SequenceBoundary::sum_over_rows");
    }
    Comm& group() override { return group_; }

  private:
    /// rows r S … of (S T_group, h) on rank r -> the first R of them on every rank, as (B, T, h)
    Tensor gather(const MicroBatch& batch, const Tensor& x)
    {
        // Your code: see lessons/08_tensor_parallel/boundary.hpp (hints: make hint-08 PART=08.1)
        not_implemented("08.1 SequenceBoundary::gather");
    }

    /// partial sums of R rows -> the sum of rows r S … on rank r, zeros behind the end
    Tensor scatter(Tensor partial)
    {
        // Your code: see lessons/08_tensor_parallel/boundary.hpp (hints: make hint-08 PART=08.1)
        not_implemented("08.1 SequenceBoundary::scatter");
    }

    Comm& group_;
};

}  // namespace

std::unique_ptr<Boundary> tensor_parallel::make_replicated_boundary(Comm& group)
{
    return std::make_unique<ReplicatedBoundary>(group);
}

std::unique_ptr<Boundary> tensor_parallel::make_sequence_boundary(Comm& group)
{
    return std::make_unique<SequenceBoundary>(group);
}
