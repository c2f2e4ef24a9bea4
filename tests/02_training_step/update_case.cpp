#include "tests/02_training_step/update_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace training_test {

namespace {

/// A buffer of all parameters with `padding` behind them.
std::vector<double> buffer(const StepRun& run, const std::string& name, DType dtype, double size,
                           double padding)
{
    std::vector<double> values = random_values(run.name + name, run.elements(), dtype, size);
    values.resize(static_cast<std::size_t>(run.padded()), padding);
    return values;
}

struct Start {
    std::vector<double> master, values, m, v;
    std::vector<std::vector<double>> gradients;
};

Start start_of(const StepRun& run)
{
    Start start;
    start.master = buffer(run, "w", run.states(), 1.0, 0.0);
    start.values = rounded(start.master, run.dtype);
    const double size = run.done > 0 ? 0.1 * run.gradient_size : 0.0;
    start.m = buffer(run, "m", run.states(), size, 0.0);
    start.v = buffer(run, "v", run.states(), size, 0.0);
    for (double& v : start.v) v *= v;
    start.v = rounded(start.v, run.states());
    for (std::size_t s = 0; s < run.overflows.size(); ++s) {
        // Behind the last parameter there may be anything, such as what a reduction left there.
        std::vector<double> gradient =
            buffer(run, fmt::format("g{}", s), run.dtype, run.gradient_size * run.scale, 7.0);
        if (run.overflows[s]) gradient[s % 5] = std::numeric_limits<double>::infinity();
        start.gradients.push_back(rounded(gradient, run.dtype));
    }
    return start;
}

CaseInput input_of(const StepRun& run, const Start& start)
{
    const Shape shape{run.padded()};
    json inputs = {{"sizes", run.sizes},
                   {"decays", run.decays},
                   {"degree", run.degree},
                   {"dtype", name_of(run.dtype)},
                   {"values", start.values},
                   {"m", tensor_input(shape, run.states(), start.m)},
                   {"v", tensor_input(shape, run.states(), start.v)},
                   {"master", tensor_input(shape, run.states(), start.master)},
                   {"step", run.done},
                   {"steps", run.overflows.size()},
                   {"learning_rate", run.options.learning_rate},
                   {"beta1", run.options.beta1},
                   {"beta2", run.options.beta2},
                   {"epsilon", run.options.epsilon},
                   {"weight_decay", run.options.weight_decay},
                   {"max_norm", run.max_norm},
                   {"scaled", run.scaled},
                   {"scale", run.scale},
                   {"good_steps", run.good_steps},
                   {"growth_interval", run.growth_interval},
                   {"largest", 16777216.0},
                   {"smallest", 1.0}};
    for (std::size_t s = 0; s < start.gradients.size(); ++s)
        inputs[fmt::format("gradients{}", s)] = start.gradients[s];
    return one_rank("update_parameters", inputs);
}

/// What should happen, step by step.
struct Plan {
    std::vector<double> skipped, norms, scales;
    std::vector<Update> updates;  // of the steps that are not skipped
    std::vector<std::size_t> gradients;
    std::int64_t good_steps = 0;
};

Plan plan_of(const StepRun& run, const Start& start)
{
    Plan plan;
    double scale = run.scale;
    plan.good_steps = run.good_steps;
    for (std::size_t s = 0; s < run.overflows.size(); ++s) {
        const bool skipped = run.overflows[s];
        double sum = 0.0;
        for (std::int64_t i = 0; i < run.elements(); ++i) {
            const double g = start.gradients[s][static_cast<std::size_t>(i)] / scale;
            sum += g * g;
        }
        const double norm = std::sqrt(sum);
        plan.skipped.push_back(skipped ? 1.0 : 0.0);
        plan.norms.push_back(skipped ? 0.0 : norm);
        if (!skipped) {
            const double clip = run.max_norm > 0.0 ? std::min(1.0, run.max_norm / (norm + 1e-6)) : 1.0;
            // The norm is off by at most as many roundings as there are squares.
            const double error = static_cast<double>(run.elements() + 8) * unit_roundoff(DType::fp64);
            plan.updates.push_back({run.options,
                                    run.done + 1 + static_cast<std::int64_t>(plan.updates.size()),
                                    clip / scale, error, false, run.states()});
            plan.gradients.push_back(s);
        }
        if (skipped) {
            scale /= 2.0;
            plan.good_steps = 0;
        } else if (run.scaled && ++plan.good_steps == run.growth_interval) {
            scale *= 2.0;
            plan.good_steps = 0;
        }
        plan.scales.push_back(scale);
    }
    return plan;
}

std::vector<double> part_of(const std::vector<double>& values, std::int64_t offset, std::int64_t count)
{
    return {values.begin() + offset, values.begin() + offset + count};
}

json part_of(const json& tensor, std::int64_t offset, std::int64_t count)
{
    return tensor_input({count}, parse_dtype(tensor.at("dtype").get<std::string>()),
                        part_of(tensor.at("values").get<std::vector<double>>(), offset, count));
}

/// Parameters, their master weights and moments, one parameter after the other.
std::vector<std::string> check_parameters(const StepRun& run, const Start& start, const Plan& plan,
                                          const json& out)
{
    std::vector<std::string> messages;
    const bool mixed = is_sixteen_bit(run.dtype);
    const json& weights = out.at(mixed ? "master" : "values");
    std::int64_t offset = 0;
    for (std::size_t p = 0; p < run.sizes.size(); ++p) {
        const std::int64_t size = run.sizes[p];
        std::vector<Update> updates = plan.updates;
        for (Update& update : updates) update.decays = run.decays[p] != 0;
        std::vector<std::vector<double>> gradients;
        for (const std::size_t s : plan.gradients)
            gradients.push_back(part_of(start.gradients[s], offset, size));
        const auto before = elements_from(part_of(start.m, offset, size), part_of(start.v, offset, size),
                                          part_of(start.master, offset, size));
        const auto part = [&](const json& tensor) { return part_of(tensor, offset, size); };
        for (const std::string& message :
             check_elements(updates, gradients, before, part(out.at("m")), part(out.at("v")), part(weights),
                            mixed ? "master" : "values"))
            if (!message.empty())
                messages.push_back(fmt::format("parameter {} ({}): {}", p,
                                               run.decays[p] != 0 ? "decays" : "does not decay", message));
        offset += size;
    }
    const auto master = weights.at("values").get<std::vector<double>>();
    if (mixed && !messages.empty() && master == rounded(master, run.dtype))
        messages.insert(messages.begin(),
                        fmt::format("all master weights are {} numbers: small updates are lost when the "
                                    "master weights are rounded, so round only the parameters",
                                    name_of(run.dtype)));
    if (mixed && out.at("values").at("values") != rounded(master, run.dtype))
        messages.push_back(
            fmt::format("the parameters are not the master weights rounded to {}{}", name_of(run.dtype),
                        out.at("values").at("values") == start.values ? ": they are as before" : ""));
    return messages;
}

std::vector<std::string> check_books(const StepRun& run, const Plan& plan, const RankResult& result)
{
    const json& out = result.outputs;
    std::vector<std::string> messages;
    for (std::size_t s = 0; s < plan.skipped.size(); ++s) {
        const auto of_step = [&](const char* name) { return out.at(name).at(s).get<double>(); };
        if (of_step("skipped") != plan.skipped[s])
            messages.push_back(fmt::format("step {} {}", s + 1,
                                           plan.skipped[s] != 0.0 ? "overflows and was not skipped"
                                                                  : "was skipped without an overflow"));
        std::string norm;
        if (plan.skipped[s] == 0.0)
            norm = compare_number(
                fmt::format("the gradient norm of step {}", s + 1), of_step("norms"), plan.norms[s],
                {static_cast<double>(run.elements() + 8) * unit_roundoff(DType::fp64), 0.0});
        if (!norm.empty() && run.scaled &&
            std::abs(of_step("norms") / plan.norms[s] / run.scale - 1.0) < 1e-6)
            norm += ": the gradients must be unscaled before their norm is taken and clipped";
        messages.push_back(norm);
        messages.push_back(compare_number(fmt::format("the loss scale after step {}", s + 1),
                                          of_step("scales"), plan.scales[s], {}));
    }
    const auto steps = static_cast<std::int64_t>(out.at("step").get<double>());
    const std::int64_t expected = run.done + static_cast<std::int64_t>(plan.updates.size());
    if (steps != expected)
        messages.push_back(
            fmt::format("the number of updates is {}, expected {}{}", steps, expected,
                        steps == run.done + static_cast<std::int64_t>(plan.skipped.size())
                            ? ": a skipped step is none, and AdamW's bias corrections must not count it"
                            : ""));
    messages.push_back(compare_number("the number of good steps", out.at("good_steps").get<double>(),
                                      static_cast<double>(plan.good_steps), {}));
    return messages;
}

std::vector<std::string> check_run(const StepRun& run, const Start& start, const RankResult& result)
{
    const Plan plan = plan_of(run, start);
    const json& out = result.outputs;
    std::vector<std::string> messages = check_books(run, plan, result);
    if (plan.updates.empty()) {
        const auto same = [&](const char* name, const std::vector<double>& before, DType dtype) {
            const std::string message =
                compare(name, out.at(name), tensor_input({run.padded()}, dtype, before), {});
            if (!message.empty())
                messages.push_back("a skipped step must not change anything but the loss scale: " + message);
        };
        same("m", start.m, run.states());
        same("v", start.v, run.states());
        same("values", start.values, run.dtype);
        if (is_sixteen_bit(run.dtype)) same("master", start.master, run.states());
    } else {
        const std::vector<std::string> more = check_parameters(run, start, plan, out);
        messages.insert(messages.end(), more.begin(), more.end());
    }
    if (out.at("gradients").at("values") != start.gradients.back())
        messages.push_back("the gradients were changed: update_parameters only reads them");
    for (const char* name : {"values", "master", "m", "v"}) {
        if (!out.contains(name)) continue;
        const std::int64_t padding = run.padded() - run.elements();
        for (const double value :
             part_of(out.at(name).at("values").get<std::vector<double>>(), run.elements(), padding))
            if (value != 0.0) {
                messages.push_back(
                    fmt::format("the padding of {} holds {}, expected 0: it is no parameter", name, value));
                break;
            }
    }
    messages.push_back(check_memory(result, 0, 0));
    return messages;
}

}  // namespace

NamedCase update_case(const StepRun& run)
{
    const Start start = start_of(run);
    return {run.name, input_of(run, start),
            [=](const RankResult& result) { return check_run(run, start, result); }};
}

}  // namespace training_test
