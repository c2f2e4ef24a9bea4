#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lib/tools/agreement/sweep.hpp"

namespace shardlings::agreement {

namespace {

using nlohmann::json;

const Deviation& gradient_of(const StepVerdict& step)
{
    return step.with_single.deviations.front();
}

void append_broken(const Comparison& comparison, const char* with, json& broken)
{
    const auto number = [&](const char* what, double error, double allowed) {
        if (error <= allowed) return;
        broken.push_back(fmt::format("{} differs by {:.1e} relative from {}, {:.1e} is allowed", what, error,
                                     with, allowed));
    };
    number("loss", comparison.loss_error, comparison.loss_allowed);
    number("norm", comparison.norm_error, comparison.norm_allowed);
    for (const Deviation& d : comparison.deviations) {
        if (d.kept()) continue;
        broken.push_back(
            fmt::format("{} of {} differs by {:.1e} from {}, {:.1e} is allowed; element {}: expected "
                        "{:.17g}, got {:.17g}",
                        name_of(d.quantity), d.tensor, d.error, with, d.allowed, d.index, d.expected, d.got));
    }
}

json broken_of(const StepVerdict& step)
{
    json broken = json::array();
    append_broken(step.with_single, "the single process", broken);
    if (step.with_reference)
        append_broken(*step.with_reference, "the layout that promises the same bits", broken);
    if (step.disagreements > 0)
        broken.push_back(
            fmt::format("{} elements are not the same on all ranks that hold them", step.disagreements));
    return broken;
}

json to_json(const Comparison& comparison)
{
    json tensors = json::object();
    for (const Deviation& d : comparison.deviations)
        tensors[std::string(name_of(d.quantity))] = {
            {"tensor", d.tensor}, {"error", d.error}, {"allowed", d.allowed}};
    return {{"loss_error", comparison.loss_error}, {"norm_error", comparison.norm_error}, {"worst", tensors}};
}

std::string name_of_reference(const TrainOptions& options)
{
    const Layout layout = reference_of(options).layout;
    return fmt::format("pp {}, dp {}, tp {}{}, ZeRO 0, nothing recomputed", layout.pp, layout.dp, layout.tp,
                       layout.sequence_parallel ? " with sequence parallelism" : "");
}

std::string promise_of(const TrainOptions& options)
{
    return options.dtype == DType::fp64 ? "rounding (fp64: 1e-12 of the largest element)"
                                        : fmt::format(
                                              "precision ({}: as near to fp64 as the single process, "
                                              "within a factor of 4)",
                                              name_of(options.dtype));
}

}  // namespace

json to_json(const LayoutCase& one, const Verdict& verdict)
{
    json steps = json::array();
    for (const StepVerdict& step : verdict.steps) {
        json bitwise;  // null: not promised
        if (step.with_reference) bitwise = step.with_reference->kept();
        steps.push_back({{"step", step.step},
                         {"single_loss", step.single_loss},
                         {"loss", step.loss},
                         {"loss_error", step.with_single.loss_error},
                         {"gradient_error", gradient_of(step).error},
                         {"with_single", to_json(step.with_single)},
                         {"bitwise", bitwise},
                         {"disagreements", step.disagreements},
                         {"broken", broken_of(step)}});
    }
    return {{"ranks", one.ranks},
            {"flags", one.flags},
            {"kept", verdict.kept()},
            {"seconds", verdict.seconds},
            {"step_seconds", verdict.step_seconds},
            {"predicted_seconds", verdict.predicted_seconds},
            {"ledger", verdict.ledger},
            {"steps", std::move(steps)}};
}

void print_verdict(const TrainOptions& options, const Verdict& verdict)
{
    fmt::print("step  loss                single process      error     norm      ");
    for (const Deviation& d : verdict.steps.front().with_single.deviations)
        fmt::print("{:<14}", name_of(d.quantity));
    fmt::print("bits\n");
    for (const StepVerdict& step : verdict.steps) {
        fmt::print("{:>4}  {:<18.15f}  {:<18.15f}  {:<8.1e}  {:<8.1e}  ", step.step, step.loss,
                   step.single_loss, step.with_single.loss_error, step.with_single.norm_error);
        for (const Deviation& d : step.with_single.deviations) fmt::print("{:<14.1e}", d.error);
        fmt::print("{}\n", !step.with_reference ? "-" : step.with_reference->kept() ? "same" : "differ");
    }
    fmt::print("\nworst tensor of the last step, error and what is allowed:\n");
    for (const Deviation& d : verdict.steps.back().with_single.deviations)
        fmt::print("  {:<13}  {:<26} {:<8.1e}  {:.1e}\n", name_of(d.quantity), d.tensor, d.error, d.allowed);
    fmt::print("virtual time of a step: {:.4g} s, predicted {:.4g} s ({:+.1f} %)\n", verdict.step_seconds,
               verdict.predicted_seconds, off_by_percent(verdict.predicted_seconds, verdict.step_seconds));
    fmt::print("promise against the single process: {}\n", promise_of(options));
    if (promises_bits(options)) fmt::print("promise against {}: the same bits\n", name_of_reference(options));
    for (const StepVerdict& step : verdict.steps)
        for (const json& what : broken_of(step))
            fmt::print("step {}: {}\n", step.step, what.get<std::string>());
    for (const std::string& what : verdict.ledger) fmt::print("{}", what);
    fmt::print("{}\n", verdict.kept() ? "kept" : "BROKEN");
}

}  // namespace shardlings::agreement
