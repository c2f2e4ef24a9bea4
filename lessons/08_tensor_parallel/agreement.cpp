// Tensor-parallel runs beside the single process, in fp64: how far losses, norms, every gradient and every
// parameter are apart, at most and relative to the largest of its tensor, in 5 steps with clipping. With any
// argument: the figures themselves, which are this machine's.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "lessons/08_tensor_parallel/run.hpp"
#include "lib/tools/train/whole_model.hpp"

using namespace lesson;

namespace {

/// Odd everywhere: 7 tokens, 257 entries in the vocabulary, 20 sequences.
TrainOptions options_of(int tensor)
{
    TrainOptions options = tensor_run(tensor);
    options.shape = {2, 48, 24, 7, 257};
    options.batch = 20;
    options.steps = 5;
    options.dtype = DType::fp64;
    options.adamw.learning_rate = 0.003;
    return options;
}

/// Whole tensors of a run.
struct Run {
    std::vector<double> reports;  // loss and norm of each step
    // Of the model in one flat buffer, each: gradients (clipped, times 0.1: Adam's first moment) of the first
    // step, parameters after the last.
    std::vector<double> gradients;
    std::vector<double> parameters;
    FlatLayout layout;
};

std::unique_ptr<WholeModel> whole_of(Comm& comm, Trainer& trainer, const TrainOptions& o)
{
    const bool sends = o.layout.zero > 0 || trainer.groups().data.data.rank() == 0;
    return collect_whole(comm, trainer.replica(), sends, o.shape, o.dtype);
}

/// On rank 0; nothing elsewhere.
Run run(Comm& comm, const TrainOptions& options)
{
    Run result;
    Trainer trainer(comm, options);
    for (std::int64_t step = 1; step <= options.steps; ++step) {
        const RandomBatch batch(options.batch, options.shape.sequence, step);
        const StepReport report = trainer.step(batch.view(), step);
        result.reports.push_back(report.loss);
        result.reports.push_back(report.gradient_norm);
        if (step > 1 && step < options.steps) continue;
        const auto whole = whole_of(comm, trainer, options);
        if (whole == nullptr) continue;
        if (step == 1) result.gradients = to_doubles(whole->states().m);
        result.parameters = to_doubles(whole->parameters().values());
        result.layout = whole->parameters().layout();
    }
    return result;
}

/// max |a − b| / max |b| of each tensor; the largest of them.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b,
                          const FlatLayout& layout)
{
    double largest = 0.0;
    for (std::size_t e = 0; e < layout.entries.size(); ++e) {
        const auto begin = static_cast<std::size_t>(layout.entries[e].offset);
        const std::size_t end = e + 1 < layout.entries.size()
                                    ? static_cast<std::size_t>(layout.entries[e + 1].offset)
                                    : static_cast<std::size_t>(layout.elements);
        double error = 0.0;
        double size = 0.0;
        for (std::size_t i = begin; i < end; ++i) {
            error = std::max(error, std::abs(a[i] - b[i]));
            size = std::max(size, std::abs(b[i]));
        }
        largest = std::max(largest, error / size);
    }
    return largest;
}

std::array<double, 3> compare(const Run& a, const Run& b)
{
    double reports = 0.0;
    for (std::size_t i = 0; i < b.reports.size(); ++i)
        reports = std::max(reports, std::abs(a.reports[i] - b.reports[i]) / b.reports[i]);
    return {reports, largest_difference(a.gradients, b.gradients, b.layout),
            largest_difference(a.parameters, b.parameters, b.layout)};
}

struct Case {
    const char* name;
    int tensor;
    int data;
    int zero;
    bool sequence_parallel;
    double dropout;
};

void print_case(MpiSession& session, const Case& c, bool all)
{
    TrainOptions single = options_of(1);
    single.dropout = c.dropout;
    TrainOptions options = options_of(c.tensor);
    options.dropout = c.dropout;
    options.layout.dp = c.data;
    options.layout.zero = c.zero;
    options.layout.sequence_parallel = c.sequence_parallel;
    Run whole;
    on_grid(session, single, [&](Comm& comm) { whole = run(comm, single); });
    on_grid(session, options, [&](Comm& comm) {
        const Run own = run(comm, options);
        if (comm.rank() != 0) return;
        std::string line = fmt::format("{:<40}", c.name);
        const std::array<double, 3> differences = compare(own, whole);
        constexpr std::array<double, 3> limits{1e-12, 1e-12, 1e-11};
        for (std::size_t i = 0; i < limits.size(); ++i) {
            const bool within = !all && differences[i] < limits[i];
            line += fmt::format("{:>13}", within ? fmt::format("< {:g}", limits[i])
                                                 : fmt::format("{:.1e}{}", differences[i], all ? "" : " !"));
        }
        fmt::print("{}\n", line);
    });
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print("                                         losses, norms    gradients   parameters\n");
        for (const Case& c : {Case{"T = 2", 2, 1, 0, false, 0.0}, Case{"T = 4", 4, 1, 0, false, 0.0},
                              Case{"T = 8", 8, 1, 0, false, 0.0}, Case{"T = 8, dropout", 8, 1, 0, false, 0.1},
                              Case{"T = 8, sequence-parallel, dropout", 8, 1, 0, true, 0.1},
                              Case{"T = 3, dp 2, sequence-parallel", 3, 2, 0, true, 0.0},
                              Case{"T = 2, dp 4, ZeRO 1, dropout", 2, 4, 1, false, 0.1},
                              Case{"T = 4, dp 2, ZeRO 2, sequence-parallel", 4, 2, 2, true, 0.0},
                              Case{"T = 2, dp 2, ZeRO 3, dropout", 2, 2, 3, false, 0.1}})
            print_case(session, c, argc > 1);
        return 0;
    });
}
