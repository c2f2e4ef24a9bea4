#include <algorithm>

#include "lib/machine/base/error.hpp"
#include "lib/tools/report/report.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

constexpr std::uint64_t largest_file = std::uint64_t{1} << 28;  // bytes

/// A loss may be null: JSON's way to write what is not finite.
bool is_step(const json& step)
{
    return step.is_object() && step.contains("step") && step["step"].is_number_integer() &&
           step.contains("loss") && (step["loss"].is_number() || step["loss"].is_null());
}

bool is_run(const json& figures)
{
    if (!figures.is_object() || !figures.contains("steps")) return false;
    const json& steps = figures["steps"];
    return steps.is_array() && !steps.empty() && std::ranges::all_of(steps, is_step) &&
           (!figures.contains("config") || figures["config"].is_object());
}

}  // namespace

Baseline read_baseline(const std::string& path)
{
    Baseline baseline{path, json::parse(read_text(path, largest_file), nullptr, false)};
    check(!baseline.figures.is_discarded(),
          "--baseline: '{}' is damaged or no JSON: expected a file that shardlings train --json wrote", path);
    check(is_run(baseline.figures),
          "--baseline: '{}' has no losses of a run: expected a file that shardlings train --json wrote",
          path);
    return baseline;
}

void check_report_path(const TrainOptions& options)
{
    if (options.report.empty()) return;
    check(options.report.ends_with(".html"), "--report '{}': expected a name that ends in .html",
          options.report);
    for (const std::string& other : {options.json, options.trace})
        check(options.report != other, "--report '{}' is another file of this run too: choose two names",
              options.report);
}

}  // namespace shardlings
