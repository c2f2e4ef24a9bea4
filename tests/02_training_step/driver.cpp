// Runs one case of lesson 02 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "lib/tools/grade/driver.hpp"

#include <algorithm>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/adamw.hpp"
#include "lessons/02_training_step/clipping.hpp"
#include "lessons/02_training_step/recomputation.hpp"
#include "tests/02_training_step/driver_probes.hpp"
#include "tests/02_training_step/driver_update.hpp"

using namespace grade;

namespace {

/// Updates the runs [cuts[i], cuts[i + 1]) one by one; the elements outside are to stay as they are.
void adamw_update(Case& c)
{
    const training::AdamW options = update_cases::adamw_options(c);
    Tensor m = c.tensor("m"), v = c.tensor("v"), weights = c.tensor("weights");
    const std::vector<std::int32_t> cuts = c.ids("cuts");
    for (std::int64_t s = 0; s < c.integer("steps"); ++s) {
        const Tensor gradient = c.tensor(fmt::format("gradient{}", s));
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            const std::int64_t count = cuts[i + 1] - cuts[i];
            const auto run = [&](Tensor& t) { return t.buffer().part(cuts[i], count); };
            training::adamw_update(options, c.integer("step") + s, c.number("gradient_factor"),
                                   c.flag("decays"), gradient.buffer().part(cuts[i], count), run(m), run(v),
                                   run(weights));
        }
    }
    c.put("m", m);
    c.put("v", v);
    c.put("weights", weights);
}

void learning_rate_at(Case& c)
{
    const training::LearningRateSchedule schedule{c.number("peak"), c.number("floor"), c.integer("warmup"),
                                                  c.integer("total")};
    std::vector<double> rates;
    for (const std::int32_t step : c.ids("steps"))
        rates.push_back(training::learning_rate_at(schedule, step));
    c.put("rates", rates);
}

void sum_of_squares(Case& c)
{
    const Tensor gradient = c.tensor("gradient", Category::gradients);
    c.put("sum", training::sum_of_squares(gradient.buffer().part(c.integer("offset"), c.integer("count"))));
    c.put("gradient", gradient);
}

void global_norm(Case& c)
{
    c.put("norm", training::global_norm(c.numbers("sums")));
}

void clip_factor(Case& c)
{
    c.put("factor", training::clip_factor(c.number("norm"), c.number("max_norm")));
}

/// The arrays of a batch, and the batch.
struct Batch {
    std::vector<std::int32_t> inputs, targets;
    MicroBatch whole;

    explicit Batch(Case& c) : inputs(c.ids("inputs")), targets(c.ids("targets"))
    {
        whole = {c.integer("sequences"), c.integer("tokens"), inputs, targets, 0.0};
    }
};

void split_batch(Case& c)
{
    const Batch batch(c);
    std::vector<double> sequences, tokens, weights, indices, inputs, targets;
    for (const MicroBatch& part : training::split_batch(batch.whole, c.integer("micro_batches"))) {
        sequences.push_back(static_cast<double>(part.sequences));
        tokens.push_back(static_cast<double>(part.tokens));
        weights.push_back(part.token_weight);
        indices.push_back(static_cast<double>(part.index));
        inputs.insert(inputs.end(), part.inputs.begin(), part.inputs.end());
        targets.insert(targets.end(), part.targets.begin(), part.targets.end());
    }
    c.put("sequences", sequences);
    c.put("tokens", tokens);
    c.put("token_weights", weights);
    c.put("indices", indices);
    c.put("inputs", inputs);
    c.put("targets", targets);
}

/// The micro-batches of a batch, cut here: a mistake in cutting is not charged again.
std::vector<MicroBatch> cut(const Batch& batch, std::int64_t micro_batches)
{
    const std::int64_t sequences = batch.whole.sequences / micro_batches;
    const auto tokens = static_cast<std::size_t>(sequences * batch.whole.tokens);
    const auto counted = std::ranges::count_if(batch.targets, [](int target) { return target >= 0; });
    std::vector<MicroBatch> parts;
    for (std::int64_t i = 0; i < micro_batches; ++i) {
        const std::size_t first = static_cast<std::size_t>(i) * tokens;
        parts.push_back({sequences, batch.whole.tokens, batch.whole.inputs.subspan(first, tokens),
                         batch.whole.targets.subspan(first, tokens), 1.0 / static_cast<double>(counted), i});
    }
    return parts;
}

/// Accumulates (or only evaluates) over a chain of probes.
void probe_chain(Case& c)
{
    const Batch batch(c);
    const std::vector<MicroBatch> parts = cut(batch, c.integer("micro_batches"));
    const probes::Setup setup{static_cast<std::size_t>(c.integer("modules")), c.integer("elements"),
                              static_cast<int>(c.integer("kept")), c.numbers("head"), c.numbers("lookup")};
    probes::Log log;
    const Modules modules = probes::make_chain(setup, log, c.device());
    FlatParameters flat(c.device(), make_flat_layout(parameters_of(modules), 1), DType::fp32);
    flat.gradients().span<float>()[0] = static_cast<float>(c.number("gradient"));
    c.start_measuring();
    const double loss = c.flag("evaluate")
                            ? training::evaluate_loss(modules, parts)
                            : training::accumulate_gradients(modules, parts, c.number("loss_scale"));
    c.stop_measuring();
    c.put("loss", loss);
    c.put("calls", log.calls);
    c.put("loss_gradients", log.loss_gradients);
    c.put("second_gradients", log.second_gradients);
    c.put("gradient", flat.gradients().span<float>()[0]);
}

/// A GPT and its parameters in fp64, initialised from the seed, gradients from the input.
struct Gpt {
    Modules modules;
    FlatParameters flat;

    explicit Gpt(Case& c)
        : modules(transformer::make_gpt({c.integer("layers"), c.integer("hidden"), c.integer("heads"),
                                         c.integer("tokens"), c.integer("vocabulary")})),
          flat(c.device(), make_flat_layout(parameters_of(modules), 1), DType::fp64)
    {
        for (const FlatEntry& entry : flat.layout().entries) initialise(*entry.parameter, 7);
        from_doubles(c.numbers("gradients"), flat.gradients());
    }
};

/// Accumulates (or only evaluates) over a GPT.
void gpt(Case& c)
{
    const Batch batch(c);
    Gpt model(c);
    const std::vector<MicroBatch> parts = cut(batch, c.integer("micro_batches"));
    c.start_measuring();
    const double loss = c.flag("evaluate")
                            ? training::evaluate_loss(model.modules, parts)
                            : training::accumulate_gradients(model.modules, parts, c.number("loss_scale"));
    c.stop_measuring();
    c.put("loss", loss);
    c.put("gradients", model.flat.gradients());
}

/// Forward through `modules` probes after one another, each wrapped, then backward. All but the ends of a
/// chain, so that every one has an x and a dx.
void recomputed_chain(Case& c)
{
    const auto count = static_cast<std::size_t>(c.integer("modules"));
    const probes::Setup setup{count + 2, c.integer("elements"), static_cast<int>(c.integer("kept")), {}, {}};
    probes::Log log;
    Modules chain = probes::make_chain(setup, log, c.device());
    for (std::size_t i = 1; i <= count; ++i) chain[i] = training::make_recomputed(std::move(chain[i]));
    const MicroBatch batch{1, 1, {}, {}, 1.0, 0};
    const auto filled = [&](double value) {
        Tensor tensor(c.device(), {setup.elements}, DType::fp64, Category::activations);
        for (double& element : tensor.span<double>()) element = value;
        return tensor;
    };

    std::vector<Saved> saved(count + 2);
    for (Saved& one : saved) one.push(filled(-7.0));  // somebody else's, and to stay
    c.start_measuring();
    const std::uint64_t begin = c.device().memory().current;
    Tensor x = filled(1010.0);
    std::vector<double> saved_tensors;
    for (std::size_t i = 1; i <= count; ++i) {
        x = chain[i]->forward(batch, std::move(x), saved[i]);
        saved_tensors.push_back(static_cast<double>(saved[i].size()) - 1.0);
    }
    c.put("held", static_cast<double>(c.device().memory().current - begin));
    c.put("forward_peak", static_cast<double>(c.device().memory().peak - begin));
    x = filled(-1000.0 - 10.0 * static_cast<double>(count + 2));
    c.start_measuring();
    for (std::size_t i = count; i >= 1; --i) x = chain[i]->backward(batch, std::move(x), saved[i]);
    c.stop_measuring();
    std::vector<double> left;
    for (std::size_t i = 1; i <= count; ++i) left.push_back(static_cast<double>(saved[i].size()) - 1.0);
    c.put("left_tensors", left);
    c.put("calls", log.calls);
    c.put("saved_tensors", saved_tensors);
}

/// One block of a GPT, forward and backward, as it is and recomputed.
void recomputed_block(Case& c)
{
    const ModelShape shape{1, c.integer("hidden"), c.integer("heads"), c.integer("tokens"), 2};
    const std::int64_t sequences = c.integer("sequences");
    const std::vector<std::int32_t> none;
    const MicroBatch batch{sequences, shape.sequence, none, none, 1.0, 0};
    for (const bool recomputed : {false, true}) {
        std::unique_ptr<Module> block = transformer::make_block(shape, 0);
        if (recomputed) block = training::make_recomputed(std::move(block));
        const std::string name = recomputed ? "recomputed " : "plain ";
        FlatParameters flat(c.device(), make_flat_layout(block->parameters(), 1),
                            parse_dtype(c.text("dtype")));
        for (const FlatEntry& entry : flat.layout().entries) initialise(*entry.parameter, 7);
        from_doubles(c.numbers("gradients"), flat.gradients());
        Saved saved;
        const double begin = c.device().flops();
        const Tensor y = block->forward(batch, c.tensor("x"), saved);
        const double middle = c.device().flops();
        const Tensor dx = block->backward(batch, c.tensor("dy"), saved);
        c.put(name + "forward flops", middle - begin);
        c.put(name + "backward flops", c.device().flops() - middle);
        c.put(name + "y", y);
        c.put(name + "dx", dx);
        c.put(name + "gradients", flat.gradients());
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv,
                      {{"adamw_update", adamw_update},
                       {"learning_rate_at", learning_rate_at},
                       {"sum_of_squares", sum_of_squares},
                       {"global_norm", global_norm},
                       {"clip_factor", clip_factor},
                       {"split_batch", split_batch},
                       {"probe_chain", probe_chain},
                       {"gpt", gpt},
                       {"recomputed_chain", recomputed_chain},
                       {"recomputed_block", recomputed_block},
                       {"update_loss_scale", update_cases::update_loss_scale},
                       {"has_overflow", update_cases::has_overflow},
                       {"make_optimizer_states", update_cases::make_optimizer_states},
                       {"model_memory", update_cases::model_memory},
                       {"update_parameters", update_cases::update_parameters}});
}
