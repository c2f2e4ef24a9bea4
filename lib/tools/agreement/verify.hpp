// A layout against the single process: does it keep what it promises?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/machine/comm/session.hpp"
#include "lib/tools/agreement/compare.hpp"
#include "lib/tools/data/text.hpp"
#include "lib/tools/train/options.hpp"

namespace shardlings::agreement {

/// One step of a layout beside the single process's.
struct StepVerdict {
    std::int64_t step;
    double single_loss;
    double loss;
    Comparison with_single;
    std::optional<Comparison> with_reference;  // bitwise, where that is promised
    std::int64_t disagreements = 0;            // elements of which ranks have different copies

    bool kept() const
    {
        return with_single.kept() && disagreements == 0 && (!with_reference || with_reference->kept());
    }
};

struct Verdict {
    std::vector<StepVerdict> steps;
    std::vector<std::string> ledger;  // what devices counted that lesson 10 predicts otherwise
    double step_seconds = 0.0;        // virtual time of a step
    double predicted_seconds = 0.0;   // by lesson 10
    double seconds = 0.0;             // of this machine, for the layout's own run

    bool kept() const;
};

/// By how many percent a prediction is larger than what it predicts.
inline double off_by_percent(double predicted, double got)
{
    return 100.0 * (predicted / got - 1.0);
}

/// True when a layout promises the bits of the same degrees of data and tensor parallelism alone. (Not when
/// ZeRO adds up the micro-batches in shards.)
bool promises_bits(const TrainOptions& options);

/// Those degrees alone: no pipeline, no ZeRO, no recomputation. With data parallelism the pipeline stays: the
/// order in which the ring adds an element, and the partial sums of the norm, depend on where in its bucket
/// an element lies, and the stages at the ends have the token embedding in a bucket of its own.
TrainOptions reference_of(const TrainOptions& options);
TrainOptions single_process_of(const TrainOptions& options);

/// Verifies layouts one after the other in one MPI job, with no more ranks than it has; layouts that are
/// compared with the same runs should follow each other, as the last ones are kept.
class Verifier {
  public:
    Verifier(MpiSession& session, const Text& text) : session_(session), text_(text) {}

    /// Every rank of the job must call it. The verdict is on rank 0.
    Verdict verify(const TrainOptions& options);

  private:
    struct Run {
        std::string key;
        std::vector<Observation> steps;
        std::vector<std::string> ledger{};
        double step_seconds = 0.0;
        double predicted_seconds = 0.0;
    };
    Run observe(const TrainOptions& options);
    const std::vector<Observation>& known(Run& run, const TrainOptions& options);

    MpiSession& session_;
    const Text& text_;
    Run single_;
    Run exact_;
    Run reference_;
};

}  // namespace shardlings::agreement
