#include <fmt/format.h>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/plan/parts.hpp"
#include "lib/tools/plan/report.hpp"
#include "lib/tools/plan/text.hpp"

namespace shardlings::plan {

namespace {

void add_parameters(std::string& text, const Model& model)
{
    const RoughParameters rough = rough_parameters(model);
    add(text, "parameters: matrices alone, and with biases and norms\n");
    for (const auto& [name, count] : {std::pair{"attention", rough.attention},
                                      {"MLP", rough.mlp},
                                      {"vocabulary", rough.vocabulary},
                                      {"positions", rough.positions},
                                      {"all matrices", rough.total()}})
        add(text, "  {:<24} {:>22}\n", name, grouped(static_cast<std::int64_t>(count)));
    add(text, "  {:<24} {:>22}\n\n", "exactly", grouped(exact_parameters(model)));
}

void add_flops(std::string& text, const Model& model)
{
    const counting::SequenceFlops flops = sequence_flops(model);
    add(text, "FLOPs of the forward pass of one sequence\n");
    for (const auto& [name, value] : parts_of(flops))
        add(text, "  {:<24} {:>15} {:>8}\n", name, with_prefix(value, "FLOP"),
            percent(value / flops.forward(true)));
    const double rule =
        6.0 * static_cast<double>(exact_parameters(model)) * static_cast<double>(model.sequence);
    add(text, "forward and backward: three times as much; 6 N D is {}\n", with_prefix(rule, "FLOP"));
    for (const bool ends : {true, false})
        add(text, "  {:<24} {:>15}, {:.3f} times 6 N D\n", ends ? "all of it" : "less embedding, output",
            with_prefix(flops.training(ends), "FLOP"), flops.training(ends) / rule);
    add(text, "\n");
}

void add_zero_stages(std::string& text, const Run& run, Split split)
{
    add(text, "memory of a device of the first stage, by ZeRO stage{}\n", split.dp == 1 ? " (dp is 1)" : "");
    add(text, "  {:<24} {:>12} {:>12} {:>12} {:>12}\n", "", "ZeRO 0", "ZeRO 1", "ZeRO 2", "ZeRO 3");
    std::array<Memory, 4> memory;
    for (split.zero = 0; split.zero < 4; ++split.zero)
        memory[static_cast<std::size_t>(split.zero)] = memory_of(run, split, 0);
    for (std::size_t part = 0; part < parts_of(memory[0]).size(); ++part) {
        add(text, "  {:<24}", parts_of(memory[0])[part].first);
        for (const Memory& m : memory) add(text, " {:>12}", with_prefix(parts_of(m)[part].second, "B"));
        add(text, "\n");
    }
    add(text, "  {:<24}", "all");
    for (const Memory& m : memory) add(text, " {:>12}", with_prefix(m.total(), "B"));
    add(text, "\n\n");
}

void add_pipeline_stages(std::string& text, const Run& run, const Split& split)
{
    if (split.pp == 1) return;
    add(text, "memory by pipeline stage, ZeRO {}\n  {:>5} {:>12} {:>12} {:>12} {:>12}\n", split.zero, "stage",
        "held", "states", "activations", "all");
    for (std::int64_t stage = 0; stage < split.pp; ++stage) {
        const Memory m = memory_of(run, split, stage);
        add(text, "  {:>5} {:>12.2f} {:>12} {:>12} {:>12}\n", stage, held_micro_batches(run, split, stage),
            with_prefix(m.states(), "B"), with_prefix(m.total() - m.states(), "B"),
            with_prefix(m.total(), "B"));
    }
    add(text, "held: micro-batches whose activations are kept\n\n");
}

void add_step(std::string& text, const Run& run, const Split& split, const Cluster& cluster)
{
    const StepTime time = step_time(run, split, cluster);
    const double seconds = time.total();
    add(text, "a step and device: bytes sent\n");
    for (const auto& [name, bytes] : parts_of(traffic_of(run, split)))
        add(text, "  {:<24} {:>15}\n", name, with_prefix(bytes, "B"));
    add(text, "a step's time\n");
    for (const auto& [name, part] : parts_of(time))
        add(text, "  {:<24} {:>15} {:>8}\n", name, format_seconds(part), percent(part / seconds));
    add(text, "  {:<24} {:>15}\n", "all", format_seconds(seconds));
    const double bubble = static_cast<double>(split.pp - 1) /
                          static_cast<double>(split.virtual_stages * split.micro_batches(run) + split.pp - 1);
    const Utilisation used = utilisation(run, split, cluster, seconds);
    add(text, "bubble (P - 1) / (V M + P - 1) = {} of the passes; MFU {}, HFU {}; {} tokens/s\n",
        percent(bubble), percent(used.model), percent(used.hardware),
        with_prefix(run.tokens_of_step() / seconds, ""));
}

}  // namespace

std::string text_of(const Model& m)
{
    std::string text = fmt::format("{}: {}, {} hidden, {}", m.name, counted(m.layers, "layer"), m.hidden,
                                   counted(m.heads, "head"));
    if (m.kv_heads != m.heads) add(text, ", {} of keys and values", m.kv_heads);
    if (m.mlp != 4 * m.hidden) add(text, ", MLP {}{}", m.mlp, m.gated ? " gated" : "");
    add(text, ", {} a sequence, vocabulary {}", counted(m.sequence, "token"), m.vocabulary);
    return text;
}

std::string text_of(const Cluster& c)
{
    return fmt::format(
        "{} {} in nodes of {}: {}, {} of which {} are achieved; links {} inside, {} between nodes, {} "
        "achieved",
        c.devices, c.name, std::min(c.devices_per_node, c.devices), with_prefix(c.memory, "B"),
        with_prefix(c.flops, "FLOP/s"), percent(c.flops_achieved), with_prefix(c.intra.bandwidth, "B/s"),
        with_prefix(c.inter.bandwidth, "B/s"), percent(c.link_achieved));
}

std::string count_text(const Run& run, const Split& split, const Cluster& cluster)
{
    std::string text = fmt::format("{}\n{}\n{}: batch {}, M = {}\n\n", text_of(run.model), text_of(cluster),
                                   text_of(split), run.batch, split.micro_batches(run));
    add_parameters(text, run.model);
    add_flops(text, run.model);
    add_zero_stages(text, run, split);
    add_pipeline_stages(text, run, split);
    add_step(text, run, split, cluster);
    return text;
}

}  // namespace shardlings::plan
