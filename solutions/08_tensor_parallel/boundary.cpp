#include "lessons/08_tensor_parallel/boundary.hpp"

#include <algorithm>
#include <utility>

#include "lessons/03_collectives/ring.hpp"

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
        // BEGIN SOLUTION 08.1 ReplicatedBoundary::sum
        collectives::ring_all_reduce(group_, partial.buffer());
        return partial;
        // END SOLUTION
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
        // BEGIN SOLUTION 08.1 SequenceBoundary::sum_over_rows
        collectives::ring_all_reduce(group_, gradient.buffer());
        // END SOLUTION
    }
    Comm& group() override { return group_; }

  private:
    /// rows r S … of (S T_group, h) on rank r -> the first R of them on every rank, as (B, T, h)
    Tensor gather(const MicroBatch& batch, const Tensor& x)
    {
        // BEGIN SOLUTION 08.1 SequenceBoundary::gather
        const std::int64_t own = x.elements();
        Tensor all(x.device(), {x.rows() * group_.size(), x.columns()}, x.dtype(), Category::activations);
        convert(x.buffer(), all.buffer().part(group_.rank() * own, own));
        collectives::ring_all_gather(group_, all.buffer());
        return all.view(0, {batch.sequences, batch.tokens, x.columns()});
        // END SOLUTION
    }

    /// partial sums of R rows -> the sum of rows r S … on rank r, zeros behind the end
    Tensor scatter(Tensor partial)
    {
        // BEGIN SOLUTION 08.1 SequenceBoundary::scatter
        const std::int64_t rows = (partial.rows() + group_.size() - 1) / group_.size();
        const std::int64_t columns = partial.columns();
        if (partial.rows() < rows * group_.size()) {
            Tensor padded(partial.device(), {rows * group_.size(), columns}, partial.dtype(),
                          Category::activations);
            padded.fill_zero();
            convert(std::as_const(partial).buffer(), padded.buffer().part(0, partial.elements()));
            partial = std::move(padded);
        }
        collectives::ring_reduce_scatter(group_, partial.buffer());
        return partial.view(group_.rank() * rows * columns, {rows, columns}).clone(Category::activations);
        // END SOLUTION
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
