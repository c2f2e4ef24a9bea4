// Two ranks whose column-parallel layers do not sum dx, beside those that do and the single process.
#include <array>
#include <string>

#include "lessons/02_training_step/adamw.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/08_tensor_parallel/run.hpp"

using namespace lesson;
using tensor_parallel::Boundary;

namespace {

// BEGIN forgets
/// As `right`, but each rank goes on with its own part of dx.
class ForgetsToSum : public Boundary {
  public:
    explicit ForgetsToSum(std::unique_ptr<Boundary> right) : right_(std::move(right)) {}
    Tensor enter_backward(Tensor dx) override { return dx; }
    // END forgets
    Tensor enter(const MicroBatch& batch, const Tensor& x) override { return right_->enter(batch, x); }
    Tensor leave(Tensor y) override { return right_->leave(std::move(y)); }
    Tensor leave_backward(const MicroBatch& batch, const Tensor& dy) override
    {
        return right_->leave_backward(batch, dy);
    }
    std::int64_t first_row(const MicroBatch& batch) override { return right_->first_row(batch); }
    void sum_over_rows(Tensor& gradient) override { right_->sum_over_rows(gradient); }
    Comm& group() override { return right_->group(); }

  private:
    std::unique_ptr<Boundary> right_;
};

constexpr int steps = 40;

struct Figures {
    std::vector<double> losses;
    std::vector<double> replicated;  // at the end: the parameters that every rank has
    double gradient = 0.0;           // of the first layer norm's first element in the first step
};

/// AdamW on one batch, over and over, without clipping.
Figures train(Comm& group, Boundary& boundary)
{
    const ModelShape shape{2, 32, 4, 16, 256};
    const Modules modules = tensor_parallel::make_gpt(boundary, shape, {});
    FlatParameters flat(group.device(), make_flat_layout(parameters_of(modules), 1), DType::fp64);
    for (Parameter* parameter : parameters_of(modules)) initialise(*parameter, 1);
    training::OptimizerStates states = training::make_optimizer_states(flat.values());
    training::AdamW adamw;
    adamw.learning_rate = 0.003;
    const RandomBatch batch(4, shape.sequence, 1);
    const Parameter& gain = *modules[1]->parameters().front();
    Figures figures;
    for (int step = 1; step <= steps; ++step) {
        flat.gradients().fill_zero();
        figures.losses.push_back(
            training::accumulate_gradients(modules, training::split_batch(batch.view(), 1), 1.0));
        if (step == 1) figures.gradient = to_doubles(gain.gradient).front();
        training::update_parameters(adamw, 0.0, nullptr, flat, states);
    }
    for (const Parameter* parameter : parameters_of(modules))
        if (tensor_parallel::is_replicated(*parameter)) {
            const std::vector<double> values = to_doubles(parameter->value);
            figures.replicated.insert(figures.replicated.end(), values.begin(), values.end());
        }
    return figures;
}

std::string different(const std::vector<Figures>& ranks)
{
    const std::vector<double>& a = ranks[0].replicated;
    const std::vector<double>& b = ranks[1].replicated;
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
    return fmt::format("{} of {}", count, a.size());
}

/// Of all ranks, by rank, on rank 0.
std::vector<Figures> train_on(MpiSession& session, int degree, bool forgets)
{
    std::vector<Figures> all;
    on_grid(session, tensor_run(degree), [&](Comm& group) {
        std::unique_ptr<Boundary> boundary = boundary_of(group, false);
        if (forgets) boundary = std::make_unique<ForgetsToSum>(std::move(boundary));
        const Figures own = train(group, *boundary);
        const auto replicated = gather_numbers(group, own.replicated);
        const auto gradients = gather_numbers(group, {own.gradient});
        for (std::size_t rank = 0; rank < replicated.size(); ++rank)
            all.push_back({own.losses, replicated[rank], gradients[rank][0]});
    });
    return all;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        const std::array<std::vector<Figures>, 3> runs{
            train_on(session, 1, false), train_on(session, 2, false), train_on(session, 2, true)};
        if (session.rank() != 0) return 0;
        fmt::print("loss      single process    T = 2   T = 2, dx not summed\n");
        for (const int step : {1, 2, 10, 20, 40}) {
            fmt::print("step {:<3}", step);
            for (const auto& ranks : runs)
                fmt::print("{:>14.6f}", ranks[0].losses[static_cast<std::size_t>(step - 1)]);
            fmt::print("\n");
        }
        constexpr std::array<const char*, 3> names{"single process", "T = 2", "T = 2, dx not summed"};
        fmt::print("gradient of h.0.ln_1.weight[0] in step 1, by rank\n");
        for (std::size_t run = 0; run < runs.size(); ++run) {
            fmt::print("  {:<22}", names[run]);
            for (const Figures& rank : runs[run]) fmt::print("{:>15.6e}", rank.gradient);
            fmt::print("\n");
        }
        fmt::print("replicated parameters at the end, different on ranks 0 and 1: {}; dx not summed: {}\n",
                   different(runs[1]), different(runs[2]));
        return 0;
    });
}
