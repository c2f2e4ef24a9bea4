// Parameters, gradients and optimizer states of a rank, in bf16, counted and predicted: what is cut is 1/T.
#include <array>

#include "lessons/03_collectives/ring.hpp"
#include "lessons/08_tensor_parallel/run.hpp"

using namespace lesson;

namespace {

struct Elements {
    double cut;
    double replicated;
};

/// Of rank 0. Cut: the matrices of a block and the biases of its column-parallel layers; the rows of wte.
Elements predict(const ModelShape& s, int degree)
{
    const auto l = static_cast<double>(s.layers);
    const auto h = static_cast<double>(s.hidden);
    const auto own_entries = static_cast<double>(collectives::chunk_of(s.vocabulary, degree, 0).count);
    return {l * (12 * h * h + 7 * h) / degree + own_entries * h,
            l * 6 * h + static_cast<double>(s.sequence) * h + 2 * h};
}

Elements count(Trainer& trainer)
{
    Elements own{};
    for (const data_parallel::Bucket& bucket : *trainer.replica().buckets)
        for (const FlatEntry& entry : bucket.entries) {
            const auto elements = static_cast<double>(entry.parameter->elements());
            const bool whole =
                trainer.groups().tensor.size() > 1 && tensor_parallel::is_replicated(*entry.parameter);
            (whole ? own.replicated : own.cut) += elements;
        }
    return own;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print(
                "              elements                parameters          gradients     optimizer states\n"
                "T         cut    1/T of     whole  counted predicted  counted predicted  counted "
                "predicted\n");
        const double all = predict(tensor_run(1).shape, 1).cut;
        for (const int degree : {2, 4, 8}) {
            TrainOptions options = tensor_run(degree);
            options.dtype = DType::bf16;
            on_grid(session, options, [&](Comm& comm) {
                Trainer trainer(comm, options);
                const RandomBatch batch(options.batch, options.shape.sequence, 1);
                trainer.step(batch.view(), 1);
                if (comm.rank() != 0) return;
                const Elements own = count(trainer);
                const Elements predicted = predict(options.shape, degree);
                const double elements = predicted.cut + predicted.replicated;
                const MemoryUse& memory = comm.device().memory();
                fmt::print("{}{:>12}{:>10}{:>10}", degree, own.cut, all / degree, own.replicated);
                for (const auto& [category, bytes] : {std::pair{Category::parameters, 2.0},
                                                      {Category::gradients, 2.0},
                                                      {Category::optimizer_states, 12.0}})
                    fmt::print("{:>9}{:>10}", memory.current_of(category), bytes * elements);
                fmt::print("\n");
            });
        }
        return 0;
    });
}
