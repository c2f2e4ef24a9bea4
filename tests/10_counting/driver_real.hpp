// Devices that do what is predicted of them: modules in parts, a micro-batch through them, a ring.
#pragma once

#include "lessons/02_training_step/recomputation.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lessons/06_pipeline/stages.hpp"
#include "lessons/09_3d/step.hpp"
#include "lessons/10_counting/flops.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lessons/10_counting/traffic.hpp"
#include "tests/10_counting/driver_job.hpp"

namespace counting_test {

/// The modules of one stage, cut over the ranks of the case.
struct RealStage {
    std::unique_ptr<tensor_parallel::Boundary> boundary;
    pipeline::Stage stage;

    RealStage(Case& c, const counting::Job& job, int number)
        : boundary(job.layout.sequence_parallel ? tensor_parallel::make_sequence_boundary(c.comm())
                                                : tensor_parallel::make_replicated_boundary(c.comm()))
    {
        const Layout& layout = job.layout;
        const std::vector<std::int64_t> blocks =
            layout.blocks.empty() ? pipeline::balance_blocks(job.shape, layout.pp * layout.virtual_stages)
                                  : layout.blocks;
        const pipeline::ModelParts parts =
            grid::cut_parts(*boundary, job.shape, {{}, job.recompute == counting::Recompute::selective},
                            layout.sequence_parallel);
        stage = pipeline::make_stage(parts, blocks, layout.pp, number);
    }
};

/// Outputs "predicted STAGE", the buckets, and "real STAGE", the elements that each module is the first to
/// have.
inline void real_modules(Case& c)
{
    const counting::Job job = job_of(c);
    for (int number = 0; number < job.layout.pp; ++number) {
        const RealStage real(c, job, number);
        std::vector<double> elements;
        std::vector<const Parameter*> seen;
        for (const auto& module : real.stage.modules) {
            std::int64_t own = 0;
            for (const Parameter* parameter : module->parameters()) {
                if (std::find(seen.begin(), seen.end(), parameter) != seen.end()) continue;
                seen.push_back(parameter);
                own += parameter->elements();
            }
            if (own > 0) elements.push_back(static_cast<double>(own));
        }
        c.put(fmt::format("real {}", number), elements);
        c.put(fmt::format("predicted {}", number),
              as_numbers(counting::bucket_elements(job, {number, c.comm().rank()})));
    }
}

/// Forward and backward pass of the job's only micro-batch on a single stage; `between` them the loss is
/// there.
inline void run_micro_batch(
    Case& c, const counting::Job& job, Modules& modules,
    const std::function<void(const Tensor& loss)>& between = [](const Tensor&) {})
{
    FlatParameters flat(c.device(), make_flat_layout(parameters_of(modules), 1), job.dtype);
    for (const FlatEntry& entry : flat.layout().entries) initialise(*entry.parameter, 1);
    const auto tokens = static_cast<std::size_t>(job.micro_batch() * job.shape.sequence);
    const std::vector<std::int32_t> ids(tokens, 0);
    const MicroBatch batch{job.micro_batch(), job.shape.sequence, ids, ids,
                           1.0 / static_cast<double>(tokens)};
    std::vector<Saved> saved(modules.size());
    c.start_measuring();
    Tensor x;
    for (std::size_t i = 0; i < modules.size(); ++i) x = modules[i]->forward(batch, std::move(x), saved[i]);
    between(x);
    x.span<double>()[0] = 1.0;
    for (std::size_t i = modules.size(); i-- > 0;) x = modules[i]->backward(batch, std::move(x), saved[i]);
    c.stop_measuring();
}

/// Outputs "predicted"; what is real is measured.
template <class Count>
Operation real_passes(Count count)
{
    return [count](Case& c) {
        const counting::Job job = job_of(c);
        c.put("predicted", static_cast<double>(count(job, counting::Place{0, c.comm().rank()})));
        RealStage real(c, job, 0);
        if (job.recompute == counting::Recompute::full)
            for (std::size_t i = 1; i + 1 < real.stage.modules.size(); ++i)
                real.stage.modules[i] = training::make_recomputed(std::move(real.stage.modules[i]));
        run_micro_batch(c, job, real.stage.modules);
    };
}

/// Outputs "predicted", elements; the ring's bytes are measured.
inline void real_ring(Case& c)
{
    const std::int64_t n = c.integer("n");
    const bool gather = c.text("collective") == "all-gather";
    const int p = c.comm().size(), rank = c.comm().rank();
    c.put("predicted", static_cast<double>(gather ? counting::all_gather_elements(n, p, rank)
                                                  : counting::reduce_scatter_elements(n, p, rank)));
    Tensor values(c.device(), {n}, DType::fp32, Category::workspace);
    c.start_measuring();
    if (gather)
        collectives::ring_all_gather(c.comm(), values.buffer());
    else
        collectives::ring_reduce_scatter(c.comm(), values.buffer());
    c.stop_measuring();
}

}  // namespace counting_test
