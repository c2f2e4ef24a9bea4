// How much ordinary memory there is beside the device's, of each stage.
#pragma once

#include "lessons/05_zero/zero.hpp"
#include "lib/tools/grade/driver_frames.hpp"
#include "tests/05_zero/driver_gradients.hpp"
#include "tests/05_zero/driver_optimizer.hpp"

namespace zero_test {

/// By how much the heap is larger than it was, at the moments that are looked at.
class HeapWatch {
  public:
    void look() { grown_ = std::max(grown_, heap_in_use() - begin_); }
    /// Output "grown": bytes, at most.
    void put(Case& c) const { c.put("grown", static_cast<double>(grown_)); }

  private:
    std::int64_t begin_ = heap_in_use();
    std::int64_t grown_ = 0;
};

/// GivenValues without anything written down, which would be memory too.
class SilentValues : public GivenValues {
  public:
    using GivenValues::GivenValues;
    void gather_shards() override {}
};

/// Modules in whose passes, where they compute, the heap is looked at.
inline Modules watched_probes(Case& c, std::optional<HeapWatch>& heap)
{
    return make_probes(sizes_of(c), c.flag("first_reads"), &c.device(),
                       [&heap](char, std::size_t, std::int64_t) { heap->look(); });
}

/// Training passes over `count` micro-batches.
inline void train_probes(Modules& modules, data_parallel::ParameterValues& values,
                         data_parallel::Gradients& gradients, int count)
{
    for (std::size_t i = 0; i < modules.size(); ++i)
        modules[i] = data_parallel::make_hooked(std::move(modules[i]), i, values, gradients);
    const std::vector<MicroBatch> batches = micro_batches(count);
    gradients.begin_step(std::ssize(batches));
    training::accumulate_gradients(modules, batches, 1.0);
    gradients.finish();
}

/// Stage 1: two updates; the heap after each.
inline void states_elsewhere(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    Modules modules = make_probes(sizes_of(c), c.flag("first_reads"));
    const std::vector<Bucket> buckets = buckets_of(c, modules, *group);
    SilentValues values(c, *group, buckets, true);
    GivenGradients gradients(c, *group, buckets);
    for (std::size_t b = 0; b < buckets.size(); ++b) gradients.held(b).tensor.fill_zero();
    HeapWatch heap;
    auto optimizer = zero::make_sharded_optimizer(*group, buckets, values, gradients);
    for (int step = 0; step < 2; ++step) {
        optimizer->update({1e-3, 0.9, 0.99, 1e-8, 0.0}, 1.0, nullptr);
        heap.look();
    }
    heap.put(c);
}

/// Stage 2: two micro-batches; the heap in each backward pass, where a module adds to its gradients, and at
/// the end.
inline void gradients_elsewhere(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    std::optional<HeapWatch> heap;
    Modules modules = watched_probes(c, heap);
    const std::vector<Bucket> buckets = buckets_of(c, modules, *group);
    heap.emplace();
    auto gradients = zero::make_sharded_gradients(*group, modules, buckets, replica_options(c), {});
    IdleValues values;
    train_probes(modules, values, *gradients, 2);
    heap->look();
    heap->put(c);
}

/// Stage 3: the heap in each pass over one micro-batch.
inline void values_elsewhere(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    std::optional<HeapWatch> heap;
    Modules modules = watched_probes(c, heap);
    const std::vector<Bucket> buckets = buckets_of(c, modules, *group);
    heap.emplace();
    auto values =
        zero::make_sharded_values(*group, modules, buckets, replica_options(c), zero::Fetch::all_gather);
    IdleGradients gradients;
    train_probes(modules, *values, gradients, 1);
    heap->put(c);
}

}  // namespace zero_test
