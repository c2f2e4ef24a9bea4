// What a training run tells: lines of progress while it goes on, and a JSON file of its figures.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/machine/device/device.hpp"
#include "lib/tools/data/statistics.hpp"
#include "lib/tools/train/options.hpp"
#include "lib/tools/train/trainer.hpp"

namespace shardlings {

/// One line of a run's history.
struct StepFigures {
    std::int64_t step;
    StepReport report;
    double virtual_seconds;  // the device's clock when the step had ended
};

/// Prints a line every few steps: step, loss, tokens/s, memory of the budget, time left. On a terminal the
/// line is written over the last one.
class ProgressLine {
  public:
    ProgressLine(const TrainOptions& options, std::int64_t first_step);
    void show(const StepFigures& figures, const Device& device);

  private:
    const TrainOptions& options_;
    std::int64_t first_step_;
    bool terminal_;
    std::chrono::steady_clock::time_point begin_;
};

/// What one device used and sent by the end of the last step, as the JSON report has it.
using RankFigures = nlohmann::json;
RankFigures figures_of(const Device& device, const Layout& layout, const Trainer& trainer,
                       const StepReport& last);
/// Those of all ranks, by rank, on rank 0 of `comm`. Every rank must call it.
std::vector<RankFigures> collect_figures(Comm& comm, const RankFigures& own);

/// The validation split's mean loss in bits per byte, beside what counting bytes gives.
struct ValidationFigures {
    double bits_per_byte;
    TextStatistics statistics;
};

/// The run's figures but for the validation.
nlohmann::json report_of(const TrainOptions& options, const std::vector<StepFigures>& steps,
                         const std::vector<RankFigures>& ranks);
/// All of them, in bytes and seconds, as the design describes: config, steps, validation, ranks.
nlohmann::json report_of(const TrainOptions& options, const std::vector<StepFigures>& steps,
                         const ValidationFigures& validation, const std::vector<RankFigures>& ranks);

/// Writes them. Error when the file cannot be written; it appears whole or not at all.
void write_json_report(const std::string& path, const nlohmann::json& report);

}  // namespace shardlings
