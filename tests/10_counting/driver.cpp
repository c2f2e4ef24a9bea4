// Runs one case of lesson 10 on the code it is linked with.
#include "lib/tools/grade/driver.hpp"

#include "lessons/10_counting/states.hpp"
#include "tests/10_counting/driver_costs.hpp"

using namespace grade;
using namespace counting_test;

namespace {

void rough(Case& c)
{
    const counting::RoughParameters rough = counting::rough_parameters(shape_of(c));
    c.put("attention", rough.attention);
    c.put("mlp", rough.mlp);
    c.put("vocabulary", rough.vocabulary);
    c.put("positions", rough.positions);
}

std::vector<double> states(const counting::Job& job, counting::Place place)
{
    const counting::StateBytes bytes = counting::state_bytes(job, place);
    return as_numbers(std::vector{bytes.parameters, bytes.gradients, bytes.optimizer_states});
}

counting::FlopsShape flops_shape_of(Case& c)
{
    return {c.number("layers"),    c.number("hidden"),   c.number("mlp"),       c.number("heads"),
            c.number("head_size"), c.number("sequence"), c.number("vocabulary")};
}

void sequence_flops(Case& c)
{
    const counting::SequenceFlops flops = counting::sequence_flops(flops_shape_of(c));
    c.put("embedding", flops.embedding);
    c.put("qkv", flops.qkv);
    c.put("attention_logits", flops.attention_logits);
    c.put("softmax", flops.softmax);
    c.put("attention_sum", flops.attention_sum);
    c.put("projection", flops.projection);
    c.put("mlp", flops.mlp);
    c.put("output", flops.output);
}

/// The sums of terms that the case gives.
void forward(Case& c)
{
    const counting::SequenceFlops flops{
        c.number("embedding"), c.number("qkv"),           c.number("attention_logits"),
        c.number("softmax"),   c.number("attention_sum"), c.number("projection"),
        c.number("mlp"),       c.number("output")};
    c.put("without the ends", flops.forward(false));
    c.put("with the ends", flops.forward(true));
}

void training_flops(Case& c)
{
    const counting::FlopsShape shape = flops_shape_of(c);
    const counting::SequenceFlops flops = counting::sequence_flops(shape);
    for (const bool ends : {false, true}) {
        const std::string which = ends ? "with the ends" : "without the ends";
        c.put("training " + which, flops.training(ends));
        c.put("ratio " + which, counting::ratio_to_6nd(shape, c.number("parameters"), ends));
    }
}

void ring(Case& c)
{
    std::vector<double> scatter, gather;
    const auto p = static_cast<int>(c.integer("p"));
    for (int rank = 0; rank < p; ++rank) {
        scatter.push_back(static_cast<double>(counting::reduce_scatter_elements(c.integer("n"), p, rank)));
        gather.push_back(static_cast<double>(counting::all_gather_elements(c.integer("n"), p, rank)));
    }
    c.put("reduce-scatter", scatter);
    c.put("all-gather", gather);
}

template <class Function>
Operation number_on_every_place(Function function)
{
    return on_every_place([function](const counting::Job& job, counting::Place place) {
        return std::vector<double>{static_cast<double>(function(job, place))};
    });
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv,
                      {{"rough", rough},
                       {"buckets", on_every_place([](const counting::Job& job, counting::Place place) {
                            return as_numbers(counting::bucket_elements(job, place));
                        })},
                       {"real_modules", real_modules},
                       {"states", on_every_place(states)},
                       {"sequence_flops", sequence_flops},
                       {"forward", forward},
                       {"training", training_flops},
                       {"gemm_flops", number_on_every_place(counting::device_gemm_flops)},
                       {"real_flops", real_passes(counting::device_gemm_flops)},
                       {"ring", ring},
                       {"real_ring", real_ring},
                       {"data", number_on_every_place(counting::data_parallel_bytes)},
                       {"tensor", number_on_every_place(counting::tensor_parallel_bytes)},
                       {"real_tensor", real_passes(counting::tensor_parallel_bytes)},
                       {"pipeline", number_on_every_place(counting::pipeline_bytes)},
                       {"activation", one_activation},
                       {"real_activations", real_activations},
                       {"modules", modules},
                       {"passes", passes},
                       {"real_seconds", real_seconds},
                       {"ring_time", ring_time},
                       {"message_time", message_time},
                       {"pipeline_time", pipeline_time},
                       {"bubble", bubble},
                       {"data_time", data_time},
                       {"step_time", step_time},
                       {"useful_flops", useful_flops}});
}
