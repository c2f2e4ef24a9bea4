// Stage 1's optimizer over values and gradients that the case gives: no passes, no lesson's code around it.
#pragma once

#include <algorithm>
#include <limits>

#include "lessons/05_zero/zero.hpp"
#include "tests/05_zero/driver_watch.hpp"
#include "tests/05_zero/held.hpp"

namespace zero_test {

inline training::AdamW adamw_of(Case& c)
{
    return {c.number("learning_rate"), c.number("beta1"), c.number("beta2"), c.number("epsilon"),
            c.number("weight_decay")};
}

/// Initial values. gather_shards() writes down what it finds, and counts; it brings nothing together, so that
/// ranks that do not agree about a step do not wait for each other.
class GivenValues : public IdleValues {
  public:
    GivenValues(Case& c, const Group& group, const std::vector<Bucket>& buckets, bool whole) : case_(c)
    {
        for (const Bucket& bucket : buckets) {
            const Tensor all = initial_values(c.device(), bucket, replica_options(c).dtype,
                                              static_cast<std::uint64_t>(c.integer("seed")));
            parts_.push_back(whole ? data_parallel::Chunk{0, bucket.padded}
                                   : bucket.shard(group.data.size(), group.data.rank()));
            tensors_.push_back(
                all.view(parts_.back().offset, {parts_.back().count}).clone(Category::parameters));
        }
    }

    data_parallel::Held held(std::size_t bucket) override
    {
        return {parts_[bucket], tensors_[bucket].view(0, tensors_[bucket].shape())};
    }

    void gather_shards() override
    {
        ++gathers;
        for (std::size_t b = 0; b < tensors_.size(); ++b) {
            case_.put_bytes(fmt::format("gathered {}", b), tensors_[b].buffer());
        }
    }

    int gathers = 0;

  private:
    Case& case_;
    std::vector<data_parallel::Chunk> parts_;
    std::vector<Tensor> tensors_;
};

/// The own shards of the step's summed gradients.
class GivenGradients : public IdleGradients {
  public:
    GivenGradients(Case& c, Group& group, const std::vector<Bucket>& buckets)
        : case_(c), group_(group), buckets_(buckets)
    {
        for (const Bucket& bucket : buckets)
            shards_.emplace_back(c.device(), Shape{own(bucket).count}, replica_options(c).dtype,
                                 Category::gradients);
    }

    void set_step(std::int64_t step)
    {
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            const std::vector<double> all =
                step_gradients(buckets_[b], static_cast<std::uint64_t>(case_.integer("seed")), step,
                               case_.numbers(fmt::format("overflow {} {}", step, b)));
            from_doubles(std::span(all).subspan(static_cast<std::size_t>(own(buckets_[b]).offset),
                                                static_cast<std::size_t>(own(buckets_[b]).count)),
                         shards_[b]);
        }
    }

    data_parallel::Held held(std::size_t bucket) override
    {
        return {own(buckets_[bucket]), shards_[bucket].view(0, shards_[bucket].shape())};
    }

  private:
    data_parallel::Chunk own(const Bucket& bucket) const
    {
        return bucket.shard(group_.data.size(), group_.data.rank());
    }

    Case& case_;
    Group& group_;
    const std::vector<Bucket>& buckets_;
    std::vector<Tensor> shards_;
};

/// The part and the states of every bucket.
inline void put_states(Case& c, data_parallel::Optimizer& optimizer, std::size_t buckets)
{
    for (std::size_t b = 0; b < buckets; ++b) {
        const data_parallel::Chunk part = optimizer.part(b);
        const training::OptimizerStates& states = optimizer.states(b);
        c.put(fmt::format("part {}", b),
              std::vector<double>{static_cast<double>(part.offset), static_cast<double>(part.count)});
        c.put(fmt::format("step {}", b), static_cast<double>(states.step));
        if (!states.m.empty()) c.put_bytes(fmt::format("m {}", b), states.m.buffer());
        if (!states.v.empty()) c.put_bytes(fmt::format("v {}", b), states.v.buffer());
        if (!states.master.empty()) c.put_bytes(fmt::format("master {}", b), states.master.buffer());
    }
}

/// `steps` updates; before the first, step counts are set to `first_step`, as a checkpoint does.
inline void optimizer(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    Modules modules = make_probes(sizes_of(c), c.flag("first_reads"));
    const std::vector<Bucket> buckets = buckets_of(c, modules, *group);
    GivenValues values(c, *group, buckets, c.flag("whole"));
    GivenGradients gradients(c, *group, buckets);
    Watch watch(c, *group, Category::optimizer_states);
    auto optimizer = zero::make_sharded_optimizer(*group, buckets, values, gradients);
    watch.moment("made");
    for (std::size_t b = 0; b < buckets.size(); ++b) optimizer->states(b).step = c.integer("first_step");

    training::LossScale scale;
    scale.scale = c.number("scale");
    scale.growth_interval = 2;
    const bool scaled = c.flag("scaled");
    std::vector<double> norms, skipped, scales, gathers;
    for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
        gradients.set_step(step);
        watch.moment(fmt::format("before {}", step));
        const training::UpdateResult result =
            optimizer->update(adamw_of(c), c.number("max_norm"), scaled ? &scale : nullptr);
        watch.moment(fmt::format("update {}", step));
        norms.push_back(result.gradient_norm);
        skipped.push_back(result.skipped ? 1.0 : 0.0);
        scales.push_back(scale.scale);
        gathers.push_back(values.gathers);
    }
    c.put("norms", norms);
    c.put("skipped", skipped);
    c.put("scales", scales);
    c.put("gathers", gathers);
    for (std::size_t b = 0; b < buckets.size(); ++b)
        c.put_bytes(fmt::format("values {}", b), values.held(b).tensor.buffer());
    put_states(c, *optimizer, buckets.size());
    optimizer.reset();
    watch.moment("gone");
}

}  // namespace zero_test
