// Lesson 02's step on one device beside data parallelism on 1, 2, 3, 4 and 8: how far losses, gradients,
// norms and parameters are apart in 20 steps, at most and relative to their size.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "lessons/04_data_parallel/run.hpp"
#include "lib/machine/comm/session.hpp"

using namespace lesson;

namespace {

/// Gradients of the first step; loss, gradients, norm, parameters of all.
using Figures = std::array<double, 5>;

TrainOptions run_in(DType dtype, int degree)
{
    TrainOptions options;
    options.layout.dp = degree;
    options.shape = {2, 32, 2, 8, 256};
    options.batch = 24;
    options.steps = 20;
    options.dtype = dtype;
    options.bucket_bytes = 40'000;
    options.topology.devices_per_node = 8;
    return options;
}

double learning_rate(const TrainOptions& options, std::int64_t step)
{
    const double peak = options.adamw.learning_rate;
    return training::learning_rate_at(
        {peak, peak * options.final_learning_rate, options.warmup, options.steps}, step);
}

/// ‖a − b‖ / ‖b‖ over all parameters, of their values or gradients.
double difference(const std::map<std::string, const Parameter*>& own, const OneDevice& single,
                  Tensor Parameter::*what)
{
    double error = 0.0;
    double size = 0.0;
    for (const Parameter* parameter : single.parameters()) {
        const std::vector<double> a = to_doubles(own.at(parameter->name)->*what);
        const std::vector<double> b = to_doubles(parameter->*what);
        for (std::size_t i = 0; i < b.size(); ++i) {
            error += (a[i] - b[i]) * (a[i] - b[i]);
            size += b[i] * b[i];
        }
    }
    return std::sqrt(error / size);
}

/// Every rank of `group` runs the single process as well.
Figures compare(const Comm& group, const TrainOptions& options)
{
    Trainer trainer(group, options);
    std::map<std::string, const Parameter*> own;
    for (const data_parallel::Bucket& bucket : *trainer.replica().buckets)
        for (const FlatEntry& entry : bucket.entries) own[entry.parameter->name] = entry.parameter;
    OneDevice single(options.shape, options.dtype);
    training::OptimizerStates states = training::make_optimizer_states(single.flat().values());
    training::AdamW adamw = options.adamw;

    Figures largest{};
    for (std::int64_t step = 1; step <= options.steps; ++step) {
        const RandomBatch batch(options.batch, options.shape.sequence, step);
        const StepReport report = trainer.step(batch.view(), step);
        const double loss = single.accumulate(training::split_batch(batch.view(), 1));
        adamw.learning_rate = learning_rate(options, step);
        const double norm =
            training::update_parameters(adamw, options.max_norm, nullptr, single.flat(), states)
                .gradient_norm;
        const double gradients = difference(own, single, &Parameter::gradient);
        const Figures now{step == 1 ? gradients : 0.0, std::abs(report.loss - loss) / loss, gradients,
                          std::abs(report.gradient_norm - norm) / norm,
                          difference(own, single, &Parameter::value)};
        for (std::size_t i = 0; i < now.size(); ++i) largest[i] = std::max(largest[i], now[i]);
    }
    return largest;
}

std::string cell(const Figures& figures, double limit)
{
    const double largest = *std::ranges::max_element(figures);
    if (largest == 0.0) return "0";
    return largest < limit ? fmt::format("< {:g}", limit) : fmt::format("{:.2g} !", largest);
}

/// The figures on the first ranks, the same on those; 0 on the others.
Figures compare_on(MpiSession& session, const TrainOptions& options)
{
    Device device(device_options(options, session.rank()));
    const Comm world = Comm::world(device);
    const bool takes_part = session.rank() < options.layout.dp;
    const Comm group = world.split(takes_part ? 0 : 1, session.rank());
    return takes_part ? compare(group, options) : Figures{};
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        const bool all = argc > 1;  // any argument: the figures themselves, which are this machine's
        const auto say = [&](const std::string& text) {
            if (session.rank() == 0) fmt::print("{}", text);
        };
        say(all ? "               step 1   steps 1 to 20\n"
                  "            gradients   loss  gradients     norm  parameters\n"
                : "ranks           1           2           3           4           8\n");
        for (const auto& [dtype, limit] :
             {std::pair{DType::fp64, 1e-12}, {DType::fp32, 1e-4}, {DType::bf16, 5e-2}}) {
            if (!all) say(fmt::format("{:<5}", name_of(dtype)));
            for (const int degree : {1, 2, 3, 4, 8}) {
                const Figures figures = compare_on(session, run_in(dtype, degree));
                if (!all) say(fmt::format("{:>12}", cell(figures, limit)));
                if (all)
                    say(fmt::format("{:<5}{:>3}{:>13.1e}{:>9.1e}{:>9.1e}{:>9.1e}{:>9.1e}\n", name_of(dtype),
                                    degree, figures[0], figures[1], figures[2], figures[3], figures[4]));
            }
            if (!all) say("\n");
        }
        return 0;
    });
}
