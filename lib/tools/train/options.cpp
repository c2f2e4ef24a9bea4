#include "lib/tools/train/options.hpp"

#include <string_view>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/08_tensor_parallel/model.hpp"
#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/tools/schedule/named.hpp"

namespace shardlings {

void TrainOptions::validate() const
{
    const auto between = [](std::string_view name, auto value, auto low, auto high) {
        check(value >= low && value <= high, "--{} is {}: expected {} to {}", name, value, low, high);
    };
    constexpr std::int64_t many = 1'000'000'000;
    shape.validate();
    layout.validate();
    between("batch", batch, std::int64_t{1}, std::int64_t{1'000'000});
    between("microbatches", micro_batches, std::int64_t{1}, batch);
    check(batch % micro_batches == 0,
          "--batch {} cannot be cut into --microbatches {}: choose numbers that divide", batch,
          micro_batches);
    check(batch % (layout.dp * micro_batches) == 0,
          "--batch {} cannot be cut for --dp {} ranks of --microbatches {}: choose a batch divisible by {}",
          batch, layout.dp, micro_batches, layout.dp * micro_batches);
    const std::vector<std::int64_t> blocks = pipeline::blocks_of(shape, layout);
    std::int64_t sum = 0;
    for (const std::int64_t count : blocks) {
        between("stages", count, std::int64_t{1}, shape.layers);
        sum += count;
    }
    check(sum == shape.layers, "--stages has {} in all, the model has {}", counted(sum, "layer"),
          shape.layers);
    make_schedule(layout.schedule, layout.pp, static_cast<int>(micro_batches), layout.virtual_stages);
    constexpr std::int64_t most_tags = 32767;
    check(2 * micro_batches * layout.pp * layout.virtual_stages <= most_tags,
          "--microbatches {} through {} are too many for one step: at most {} in all", micro_batches,
          counted(layout.pp * layout.virtual_stages, "chunk"), most_tags / 2);
    between("bucket-bytes", bucket_bytes, std::int64_t{1}, std::int64_t{1} << 60);
    between("gradient-buckets", zero.gradient_buckets, 1, 1024);
    between("steps", steps, std::int64_t{1}, many);
    between("warmup", warmup, std::int64_t{0}, many);
    between("log-every", log_every, std::int64_t{1}, many);
    between("save-every", save_every, std::int64_t{0}, many);
    between("lr", adamw.learning_rate, 0.0, 1e3);
    between("lr-final", final_learning_rate, 0.0, 1.0);
    between("weight-decay", adamw.weight_decay, 0.0, 1e3);
    check(dropout >= 0.0 && dropout < 1.0, "--dropout is {}: expected 0 or more, and less than 1", dropout);
    tensor_parallel::check_degree(shape, layout.tp);
    between("clip", max_norm, 0.0, 1e30);
    check(!save_shards || !save.empty(), "--save-shards needs --save FOLDER");
    check(save_every == 0 || !save.empty(), "--save-every needs --save FOLDER");
    check(topology.devices() >= layout.world_size(),
          "the {} ranks of --dp, --tp and --pp do not fit a topology of {} of {}: "
          "choose a larger --topology",
          layout.world_size(), counted(topology.nodes, "node"), counted(topology.devices_per_node, "device"));
}

}  // namespace shardlings
