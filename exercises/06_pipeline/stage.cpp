#include "lessons/06_pipeline/stage.hpp"

#include <numeric>
#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/arithmetic.hpp"

using namespace pipeline;

namespace {

/// Stands for a copy of the token embedding that two stages have; computes nothing.
class TiedEmbedding : public Module {
  public:
    explicit TiedEmbedding(Parameter& weight) : weight_(&weight) {}
    /// With a copy of its own, as an embedding would make it.
    explicit TiedEmbedding(std::unique_ptr<Module> owner)
        : owner_(std::move(owner)), weight_(owner_->parameters().front())
    {
    }

    Parameter& weight() { return *weight_; }
    std::vector<Parameter*> parameters() override { return {weight_}; }
    bool backward_reads_values() const override { return false; }
    Tensor forward(const MicroBatch&, Tensor x, Saved&) override { return x; }
    Tensor backward(const MicroBatch&, Tensor dy, Saved&) override { return dy; }

  private:
    std::unique_ptr<Module> owner_;
    Parameter* weight_;
};

}  // namespace

ModelParts pipeline::gpt_parts(const ModelShape& shape)
{
    return {[shape](bool tied) { return transformer::make_embedding(shape, tied); },
            [shape](std::int64_t layer) { return transformer::make_block(shape, layer); },
            [shape](Parameter& weight) { return transformer::make_head(shape, weight); }, shape.layers};
}

Stage pipeline::make_stage(const ModelParts& parts, std::span<const std::int64_t> blocks, int stages,
                           int stage)
{
    const std::int64_t sum = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
    check(stages >= 1 && !blocks.empty() && blocks.size() % static_cast<std::size_t>(stages) == 0 &&
              sum == parts.layers,
          "{} chunks of {} blocks in all for {} stages and {} layers: expected a multiple of the stages, and "
          "all layers",
          blocks.size(), sum, stages, parts.layers);
    Stage result;
    result.row_shards = parts.row_shards;
    // Your code: see lessons/06_pipeline/stage.hpp (hints: make hint-06 PART=06.3)
    not_implemented("06.3 make_stage");
    return result;
}

void pipeline::add_tied_gradients(Comm& pipeline, Stage& stage)
{
    if (stage.tied_embedding == nullptr) return;
    check(!stage.tied_embedding->gradient.empty(),
          "the tied embedding has no gradient: add its copies before gradients are reduced and sharded");
    // Your code: see lessons/06_pipeline/stage.hpp (hints: make hint-06 PART=06.3)
    not_implemented("06.3 add_tied_gradients");
}
