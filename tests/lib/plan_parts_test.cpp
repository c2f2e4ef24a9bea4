// Parts of memory, traffic and time, one by one.
#include <array>
#include <cmath>

#include "tests/lib/catch.hpp"
#include "tests/lib/plan_run.hpp"

using namespace shardlings;
using namespace shardlings::plan;

TEST_CASE("the parts of memory and time follow what they depend on")
{
    const Run run = run_of("megatron-175b", 64);
    Split split = split_of({"", 8, 1, 1, 64, 0, 0}, true);
    SECTION("stages hold fewer micro-batches towards the end, and GPipe all of them")
    {
        for (std::int64_t stage = 0; stage < 8; ++stage)
            CHECK(held_micro_batches(run, split, stage) == static_cast<double>(8 - stage));
        split.schedule = Schedule::gpipe;
        CHECK(held_micro_batches(run, split, 3) == 64.0);
        split.schedule = Schedule::interleaved;
        split.virtual_stages = 3;
        // 1 + (P − 1) / (P V) of a whole 1F1B's P.
        CHECK(std::abs(held_micro_batches(run, split, 0) - 8.0 * (1.0 + 7.0 / 24.0)) < rounding);
    }
    SECTION("stages and tensor-parallel ranks have all parameters between them, tied ones twice")
    {
        split.tp = 1;
        double sum = 0.0;
        for (int stage = 0; stage < 8; ++stage)
            sum += parameters_of_stage(run.model, split, stage == 0, stage == 7);
        CHECK(sum ==
              static_cast<double>(exact_parameters(run.model) + run.model.vocabulary * run.model.hidden));
    }
    SECTION("the bubble is (P - 1) / V micro-batches")
    {
        Cluster cluster = a100(64);
        cluster.inter = {0.0, 1e30};  // more chunks send more messages, here in no time
        const double whole = step_time(run, split, cluster).bubble;
        split.schedule = Schedule::interleaved;
        split.virtual_stages = 3;
        CHECK(std::abs(step_time(run, split, cluster).bubble / whole * 3.0 - 1.0) < rounding);
    }
    SECTION("twice the links' bandwidth halves the bytes' time, and not the messages'")
    {
        Cluster fast = a100(64);
        fast.intra = {0.0, 2.0 * fast.intra.bandwidth};
        Cluster slow = a100(64);
        slow.intra.latency = 0.0;
        const double ratio = step_time(run, split, slow).tensor / step_time(run, split, fast).tensor;
        CHECK(std::abs(ratio - 2.0) < rounding);
    }
    SECTION("the tensor-parallel group's bytes: 4 all-reduces a block, 5 sequence-parallel")
    {
        const double activation = 2.0 * 2048 * 12288;
        CHECK(traffic_of(run, split).tensor == 64.0 * 12 * 5 * 2 * 7 / 8 * activation);
        split.sequence_parallel = false;
        CHECK(traffic_of(run, split).tensor == 64.0 * 12 * 4 * 2 * 7 / 8 * activation);
        split.recompute = Recompute::full;
        CHECK(traffic_of(run, split).tensor == 64.0 * 12 * 6 * 2 * 7 / 8 * activation);
    }
}

TEST_CASE("a ring leaves its node by all its members' links")
{
    const Cluster cluster = a100(64);
    CHECK(ring_of(cluster, 8, 1).bandwidth == 300e9 * 0.70);
    CHECK(ring_of(cluster, 16, 1).bandwidth == 8 * 25e9 * 0.70);
    CHECK(ring_of(cluster, 8, 8).bandwidth == 25e9 * 0.70);
    CHECK(ring_of(cluster, 16, 4).bandwidth == 2 * 25e9 * 0.70);
    CHECK(ring_of(cluster, 1, 8).gather(1e9) == 0.0);
    const Ring ring{4.0, 1e9, 1e-3};
    CHECK(std::abs(ring.gather(4e9) - 3.0 * (1e-3 + 1.0)) < rounding);
}

TEST_CASE("the ends' activations, and a last stage that has more than the first")
{
    Run run = run_of("megatron-175b", 64);
    Split split = split_of({"", 8, 1, 1, 64, 0, 0}, true);
    const double activation = 2048.0 * 12288.0;
    // A mask of each of 8 micro-batches; two activations of 2 bytes, and logits of 4.
    CHECK(memory_of(run, split, 0).ends == 8.0 * activation / 8.0);
    CHECK(memory_of(run, split, 3).ends == 0.0);
    CHECK(memory_of(run, split, 7).ends == 4.0 * activation / 8.0 + 4.0 * 2048.0 * 51200.0 / 8.0);
    CHECK(largest_memory(run, split).total() == memory_of(run, split, 0).total());
    // One micro-batch everywhere, and logits on the last.
    run.batch = 1;
    run.model.positions = false;
    CHECK(largest_memory(run, split).total() == memory_of(run, split, 7).total());
}

TEST_CASE("the block at work: what is recomputed, and what ZeRO has fetched")
{
    const Run run = run_of("megatron-175b", 64);
    Split split = split_of({"", 8, 1, 1, 64, 0, 0}, true);
    const double probabilities = 5.0 * 96 * 2048 * 2048 / 8;  // two copies of 2 bytes, a mask
    CHECK(memory_of(run, split, 3).working == probabilities);
    split.recompute = Recompute::full;
    CHECK(memory_of(run, split, 3).working == probabilities + 34.0 / 8 * 2048 * 12288);
    split.recompute = Recompute::none;
    CHECK(memory_of(run, split, 3).working == 0.0);
    split.dp = 2;
    split.zero = 3;
    const BlockParameters block = block_parameters(run.model);
    // Two blocks' parameters and one's gradients, 2 bytes each.
    CHECK(memory_of(run, split, 3).working ==
          6.0 * (static_cast<double>(block.cut) / 8 + static_cast<double>(block.whole)));
}

TEST_CASE("data parallelism: what is sent, what is hidden, what the optimizer reads")
{
    const Run run = run_of("gpt2-xl", 64);
    Split split;
    split.dp = 8;
    split.micro_batch = 2;  // M = 4
    Cluster cluster = a100(8);
    const auto parameters = static_cast<double>(exact_parameters(run.model));
    const double once = 7.0 / 8.0 * 2.0 * parameters;  // of 2 bytes each
    const std::array<double, 4> sent{2.0 * once, 2.0 * once, 5.0 * once, 12.0 * once};
    // Unscaled, normed, clipped, read, zeroed: 7 times 2 bytes; states twice 12; the parameter 2.
    const double bytes = parameters * (14.0 + 24.0 + 2.0);
    for (split.zero = 0; split.zero < 4; ++split.zero) {
        INFO("ZeRO " << split.zero);
        CHECK(traffic_of(run, split).data == sent[static_cast<std::size_t>(split.zero)]);
        cluster.intra = {0.0, 1e18};
        CHECK(step_time(run, split, cluster).data == 0.0);
        const double shared = split.zero > 0 ? 8.0 : 1.0;
        CHECK(std::abs(step_time(run, split, cluster).optimizer / (bytes / shared / (2039e9 * 0.9)) - 1.0) <
              rounding);
        // On links so slow that the passes, half a second, hide next to nothing of months.
        cluster.intra.bandwidth = 1e3;
        const double seconds = sent[static_cast<std::size_t>(split.zero)] / (1e3 * 0.70);
        CHECK(std::abs(step_time(run, split, cluster).data / seconds - 1.0) < 1e-6);
    }
}

TEST_CASE("passes take the products' FLOPs, the output layer's on the last stage, and messages their bytes")
{
    const Run run = run_of("megatron-175b", 64);
    Split split = split_of({"", 8, 3, 1, 64, 0, 0}, true);
    Cluster cluster = a100(64);
    cluster.memory_bandwidth = 1e30;  // element-wise work takes no time
    cluster.intra.latency = cluster.inter.latency = 0.0;
    const StepTime time = step_time(run, split, cluster);
    const counting::SequenceFlops flops = sequence_flops(run.model);
    const double blocks = flops.forward(false) - flops.softmax;
    const double speed = 312e12 * 0.70 * 8.0;  // of a stage
    CHECK(std::abs(time.compute / (64.0 * 3.0 * (blocks / 8.0 + flops.output) / speed) - 1.0) < rounding);
    const double again = flops.attention_logits + flops.attention_sum;
    CHECK(std::abs(time.recompute / (64.0 * again / 8.0 / speed) - 1.0) < rounding);
    CHECK(std::abs(time.pipeline / (traffic_of(run, split).pipeline / (25e9 * 0.70)) - 1.0) < rounding);
    CHECK(traffic_of(run, split).pipeline == 64.0 * 2 * 3 * 2 * 2048 * 12288 / 8);
    const Utilisation used = utilisation(run, split, cluster, 10.0);
    CHECK(std::abs(used.model / (64.0 * 3.0 * (blocks + flops.output) / (10.0 * 64.0 * 312e12)) - 1.0) <
          rounding);
    CHECK(std::abs(used.hardware / used.model - 1.0 - again / (3.0 * (blocks + flops.output))) < rounding);
}
