// Two mistakes that nobody hears of: a degree taken for another one, and a norm that counts what several
// ranks hold once for each of them. 12 ranks; the second part uses 8.
#include <array>
#include <set>

#include "lessons/06_pipeline/optimizer.hpp"
#include "lessons/09_3d/run.hpp"

using namespace lesson;

namespace {

// BEGIN wrong_coordinates
grid::Coordinates wrong_coordinates_of(int rank, const grid::Grid& grid)
{
    return {rank / (grid.dp * grid.tp), rank / grid.tp % grid.pp, rank % grid.tp};
}
// END wrong_coordinates

/// The pipelines that follow from `coordinates`, as sums of 2^rank; on rank 0.
std::set<std::int64_t> pipelines(Comm& world, const grid::Grid& degrees,
                                 grid::Coordinates (*coordinates)(int, const grid::Grid&))
{
    const grid::Coordinates at = coordinates(world.rank(), degrees);
    Comm pipeline = world.split(grid::rank_of({0, at.dp, at.tp}, degrees), at.pp);
    const auto sum = static_cast<double>(sum_of_powers(pipeline, world.rank()));
    std::set<std::int64_t> sums;
    for (const auto& row : gather_numbers(world, {sum})) sums.insert(static_cast<std::int64_t>(row[0]));
    return sums;
}

void show_coordinates(MpiSession& session, int data_parallel)
{
    TrainOptions options = example_run();
    options.layout = {.pp = 2, .dp = data_parallel, .tp = 2};
    options.topology = {.devices_per_node = 12};
    on_grid(session, options, [&](Comm& world) {
        const grid::Grid degrees = grid_of(options.layout);
        const auto right = pipelines(world, degrees, grid::coordinates_of);
        const auto wrong = pipelines(world, degrees, wrong_coordinates_of);
        if (world.rank() > 0) return;
        fmt::print("PP 2 x DP {} x TP 2, pipelines\n", data_parallel);
        for (const auto& [name, sums] : {std::pair{"right", right}, {"wrong", wrong}}) {
            fmt::print("  {}", name);
            for (const std::int64_t sum : sums) fmt::print("  {:0{}b}", sum, world.size());
            fmt::print("\n");
        }
    });
}

constexpr int steps = 6;

/// Loss and norm of each step, on rank 0. `counts_all`: every rank counts all that it holds.
std::vector<std::array<double, 2>> train(MpiSession& session, const TrainOptions& options, bool counts_all)
{
    std::vector<std::array<double, 2>> figures;
    on_grid(session, options, [&](Comm& world) {
        Trainer trainer(world, options);
        grid::Groups groups = grid::make_groups(world, grid_of(options.layout));
        data_parallel::Replica& replica = trainer.replica();
        if (counts_all) {
            std::vector<std::string> names;
            const Modules whole = transformer::make_gpt(options.shape);
            for (const Parameter* parameter : parameters_of(whole)) names.push_back(parameter->name);
            replica.optimizer = pipeline::make_pipeline_optimizer(
                groups.everyone, groups.data, std::move(names), nullptr, *replica.buckets, *replica.values,
                *replica.gradients, std::move(replica.optimizer));
        }
        for (int step = 1; step <= steps; ++step) {
            const RandomBatch batch(options.batch, options.shape.sequence, 1);
            const StepReport report = trainer.step(batch.view(), step);
            figures.push_back({report.loss, report.gradient_norm});
        }
    });
    return figures;
}

void show_norm(MpiSession& session)
{
    TrainOptions single = example_run();
    single.shape.layers = 2;
    TrainOptions cut = single;
    cut.layout = {.pp = 2, .dp = 2, .tp = 2, .zero = 1};
    const auto one = train(session, single, false);
    const auto right = train(session, cut, false);
    const auto wrong = train(session, cut, true);
    if (session.rank() > 0) return;
    fmt::print(
        "\n        single process          PP 2 x DP 2 x TP 2      the same, each counts what it has\n"
        "step    loss       norm         loss       norm         loss       norm\n");
    for (std::size_t step = 0; step < one.size(); ++step) {
        fmt::print("{:>4}", step + 1);
        for (const auto& run : {one, right, wrong})
            fmt::print("    {:.6f}   {:.6f}", run[step][0], run[step][1]);
        fmt::print("\n");
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        show_coordinates(session, 2);
        show_coordinates(session, 3);
        show_norm(session);
        return 0;
    });
}
