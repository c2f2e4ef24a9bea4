// The activation bytes of modules' passes, taken and freed one after the other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lessons/10_counting/parameters.hpp"

namespace counting {

/// Bytes of the tensors of one micro-batch on one device.
struct ActivationSizes {
    std::int64_t outside;   // an activation between the cut layers
    std::int64_t whole;     // R h
    std::int64_t gathered;  // all ranks' rows, with sequence parallelism; 0: nothing is gathered
    std::int64_t padded;    // what a partial sum is padded to before it is scattered; 0: it need not be
    std::int64_t part;      // R h / T_p
    std::int64_t probabilities;
    std::int64_t logits;
    std::int64_t statistics;  // of one layer norm
    std::int64_t denominators;
    bool sequence;
    bool keeps_probabilities;

    ActivationSizes(const Job& job, const Place& place)
    {
        const auto e = static_cast<std::int64_t>(size_of(job.dtype));
        const std::int64_t number = job.dtype == DType::fp64 ? 8 : 4;
        const std::int64_t tp = job.layout.tp;
        const std::int64_t h = job.shape.hidden;
        const std::int64_t rows = job.micro_batch() * job.shape.sequence;
        sequence = job.layout.sequence_parallel;
        const std::int64_t rows_outside = sequence ? (rows + tp - 1) / tp : rows;
        outside = e * rows_outside * h;
        whole = e * rows * h;
        gathered = sequence ? e * rows_outside * tp * h : 0;
        padded = sequence && rows % tp != 0 ? gathered : 0;
        part = whole / tp;
        probabilities =
            e * job.micro_batch() * (job.shape.heads / tp) * job.shape.sequence * job.shape.sequence;
        logits = e * rows * vocabulary_of_rank(job, place.tensor_rank);
        statistics = 2 * number * rows_outside;
        denominators = number * rows;
        keeps_probabilities = job.recompute != Recompute::selective;
    }
};

/// Bytes that are held, and the most there were.
class HeldBytes {
  public:
    void take(std::int64_t bytes)
    {
        now_ += bytes;
        peak_ = std::max(peak_, now_);
    }
    void free(std::int64_t bytes) { now_ -= bytes; }
    std::int64_t peak() const { return peak_; }

  private:
    std::int64_t now_ = 0;
    std::int64_t peak_ = 0;
};

/// Walks through the passes of modules: each begins with its input held and ends with its result held.
class MemoryWalk {
  public:
    explicit MemoryWalk(const ActivationSizes& sizes) : s_(sizes) {}

    std::int64_t peak() const { return held_.peak(); }
    void receive() { held_.take(s_.outside); }
    void send() { held_.free(s_.outside); }

    void embedding_forward()
    {
        held_.take(s_.whole);
        leave();
    }
    void embedding_backward()
    {
        held_.take(s_.gathered);
        held_.free(s_.gathered + s_.outside);
    }
    void head_forward()
    {
        held_.take(s_.outside + s_.statistics + s_.gathered + s_.logits);
        held_.free(s_.gathered);
        held_.take(s_.denominators + 8);
    }
    /// The loss has been read, its gradient is there.
    void head_backward()
    {
        held_.take(s_.gathered + s_.whole);
        leave();
        held_.free(s_.gathered);
        held_.take(s_.outside);  // dx
        held_.free(s_.outside * 3 + s_.statistics + s_.logits + s_.denominators + 8);
    }
    void block_forward()
    {
        held_.take(s_.outside + s_.statistics);  // of ln_1
        column(3 * s_.part);
        held_.take(s_.probabilities + s_.part);
        if (!s_.keeps_probabilities) held_.free(s_.probabilities);
        row();
        held_.take(s_.outside + s_.statistics);  // of ln_2
        column(4 * s_.part);
        held_.take(4 * s_.part);
        row();
    }
    void block_backward()
    {
        row_backward(4 * s_.part);
        held_.take(4 * s_.part);      // GELU's
        held_.free(4 * s_.part * 2);  // its input's and its result's
        column_backward(4 * s_.part);
        layer_norm_backward();
        row_backward(s_.part);
        if (!s_.keeps_probabilities) held_.take(s_.probabilities + s_.part);
        if (!s_.keeps_probabilities) held_.free(s_.part);
        held_.take(3 * s_.part);
        held_.free(s_.part + s_.probabilities + 3 * s_.part);
        column_backward(3 * s_.part);
        layer_norm_backward();
    }
    /// What a forward pass that is only there for its result has saved is freed, as the pass itself goes.
    void drop(std::int64_t saved) { held_.free(saved); }

  private:
    /// A partial sum of all rows -> what is outside.
    void leave()
    {
        if (!s_.sequence) return;
        if (s_.padded > 0) {
            held_.take(s_.padded);
            held_.free(s_.whole);
        }
        held_.take(s_.outside);
        held_.free(s_.padded > 0 ? s_.padded : s_.whole);
    }
    void column(std::int64_t result)
    {
        held_.take(s_.gathered + result);
        held_.free(s_.gathered);
    }
    void row()
    {
        held_.take(s_.whole);
        leave();
    }
    /// dy outside -> d of the layer's input, which was saved and goes.
    void row_backward(std::int64_t input)
    {
        held_.take(s_.gathered + input);
        held_.free(s_.gathered + input);
    }
    /// d of its result goes, and its saved input.
    void column_backward(std::int64_t result)
    {
        held_.take(s_.gathered + s_.whole);
        leave();
        held_.free(s_.gathered + s_.outside + result);
    }
    /// dx is added to the residual's gradient; the layer norm's input and result go.
    void layer_norm_backward()
    {
        held_.take(s_.outside);
        held_.free(s_.outside * 3 + s_.statistics);
    }

    ActivationSizes s_;
    HeldBytes held_;
};

}  // namespace counting
