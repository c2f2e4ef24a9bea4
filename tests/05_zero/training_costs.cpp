#include "tests/05_zero/training_costs.hpp"

#include <algorithm>

#include "tests/05_zero/doubling.hpp"
#include "tests/05_zero/gradients_expected.hpp"
#include "tests/05_zero/values_expected.hpp"

namespace zero_test {

namespace {

/// A step's passes of stages 2 and 3: the peaks and the traffic of what they hold.
struct StepModels {
    StepModels(const TrainingCase& one, const Geometry& geometry)
        : setup(setup_of(one)),
          gradients_case{setup, one.gradient_buckets, one.accumulate_in_shards},
          gradients(gradients_case, geometry),
          values(setup, geometry, one.broadcast)
    {
        for (std::int64_t m = 0; m < one.micro_batches; ++m) {
            const std::vector<PassOf> all = passes_of(geometry.used.size(), m, true);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const BucketList next =
                    i + 1 < all.size() ? values.needs(all[i + 1].pass, all[i + 1].module) : BucketList{};
                values.enter(values.needs(all[i].pass, all[i].module), next);
                if (all[i].pass == 'b') gradients.enter(all[i].module);
                values.leave(next);
                if (all[i].pass == 'b')
                    gradients.leave(all[i].module, one.accumulate_in_shards || m + 1 == one.micro_batches);
            }
        }
        gradients.finish();
    }

    static Setup setup_of(const TrainingCase& one)
    {
        Setup setup;
        setup.degree = one.degree;
        setup.dtype = one.dtype;
        setup.micro_batches = one.micro_batches;
        return setup;
    }

    Setup setup;
    GradientsCase gradients_case;
    GradientsModel gradients;
    ValuesModel values;
};

}  // namespace

TrainingCosts training_costs(const TrainingCase& one, const PlainRun& run, int rank)
{
    const Geometry geometry(transformer::make_gpt(small_gpt), one.degree, one.dtype, one.bucket_bytes);
    StepModels step(one, geometry);
    const auto index = static_cast<std::size_t>(rank);
    const ExpectedMoment gradients = step.gradients.moment(index), values = step.values.moment(index);
    const auto steps = static_cast<std::uint64_t>(one.steps);
    const auto updates =
        static_cast<std::uint64_t>(std::count(run.updates.skipped.begin(), run.updates.skipped.end(), 0.0));
    const std::uint64_t shards = geometry.shards(one.degree);
    const auto p = static_cast<std::uint64_t>(one.degree);
    const std::uint64_t whole = shards * p;
    const std::uint64_t ring_messages = geometry.buckets.size() * (p - 1), ring_bytes = shards * (p - 1);

    TrainingCosts costs{};
    costs.parameters = one.stage == 3 ? Bytes{shards, values.peak} : Bytes{whole, whole};
    costs.gradients = one.stage >= 2 ? Bytes{shards, gradients.peak} : Bytes{whole, whole};
    const std::uint64_t states = shards / geometry.element * state_bytes_of_element(one.dtype);
    costs.optimizer_states = {states, states};
    costs.messages = one.stage >= 2 ? steps * gradients.messages : steps * ring_messages;
    costs.sent = one.stage >= 2 ? steps * gradients.sent : steps * ring_bytes;
    costs.messages += one.stage == 3 ? steps * values.messages : updates * ring_messages;
    costs.sent += one.stage == 3 ? steps * values.sent : updates * ring_bytes;
    std::uint64_t terms = 1;
    for (const Bucket& bucket : geometry.buckets)
        terms += data_parallel::segments_of(bucket, one.degree).size();
    costs.control_messages = steps * doubling_messages(one.degree, rank);
    costs.control_sent = costs.control_messages * terms * sizeof(double);
    return costs;
}

}  // namespace zero_test
