#include "lib/tools/report/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lib/machine/base/dtype.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/schedule/formulas.hpp"
#include "lib/tools/trace/text.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

class DefinitionList {
  public:
    void add(std::string_view id, std::string_view term, const std::string& value, const std::string& note)
    {
        text_ += fmt::format("<div><dt>{}</dt><dd id=\"{}\">{}</dd><dd class=\"note\">{}</dd></div>\n", term,
                             id, html(value), html(note));
    }
    std::string take() { return "<dl class=\"figures\">\n" + text_ + "</dl>\n"; }

  private:
    std::string text_;
};

std::string plural(std::int64_t count, std::string_view what)
{
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string describe_layout(const TrainOptions& o)
{
    const Layout& layout = o.layout;
    std::string text =
        fmt::format("pp {} × dp {} × tp {}, ZeRO {}", layout.pp, layout.dp, layout.tp, layout.zero);
    if (layout.pp > 1) text += ", schedule " + layout.schedule;
    if (layout.virtual_stages > 1) text += fmt::format(", {} chunks a stage", layout.virtual_stages);
    if (layout.sequence_parallel) text += ", sequence parallelism";
    return text;
}

/// The last step's virtual time.
double last_step_seconds(const json& steps)
{
    const double end = steps.back().at("virtual_seconds");
    return steps.size() > 1 ? end - steps[steps.size() - 2].at("virtual_seconds").get<double>() : end;
}

/// How far the losses are from the baseline's at most, over the steps that both have.
std::string loss_against(const Baseline& baseline, const json& steps)
{
    std::map<std::int64_t, double> expected;
    for (const json& step : baseline.figures.at("steps"))
        if (step.at("loss").is_number()) expected[step.at("step")] = step.at("loss");
    double largest = 0.0;
    std::int64_t both = 0;
    for (const json& step : steps) {
        const auto other = expected.find(step.at("step"));
        if (other == expected.end()) continue;
        largest = std::max(largest, std::abs(other->second - step.at("loss").get<double>()));
        ++both;
    }
    if (both == 0) return "no step in common with the baseline";
    return fmt::format("within {:.2g} of the baseline in {}", largest, plural(both, "step"));
}

void add_loss(DefinitionList& list, const RunRecord& run, const std::optional<Baseline>& baseline)
{
    const json& steps = run.figures.at("steps");
    const std::int64_t last = steps.back().at("step");
    std::string note = fmt::format("after step {}, in nats a token", last);
    if (baseline) note += "; " + loss_against(*baseline, steps);
    list.add("final-loss", "Final loss", fmt::format("{:.6g}", steps.back().at("loss").get<double>()), note);
    list.add(
        "validation", "Validation",
        fmt::format("{:.4f} bits per byte", run.figures.at("validation").at("bits_per_byte").get<double>()),
        fmt::format("counting pairs of bytes gives {:.4f}",
                    run.figures.at("validation").at("bigram_cross_entropy").get<double>()));
}

/// Share of the devices' time in the last step in which nothing was computed.
double idle_share(const RunRecord& run)
{
    const json& ranks = run.figures.at("ranks");
    const double step = last_step_seconds(run.figures.at("steps"));
    double busy = 0.0;
    for (const json& rank : ranks) busy += rank.at("last_step").at("busy_seconds").get<double>();
    return step > 0.0 ? std::abs(1.0 - busy / step / static_cast<double>(ranks.size())) : 0.0;
}

/// "; were messages free, (P - 1)/(M + P - 1) = 3/11 = 27.3 %": what the schedule's formula gives.
std::string bubble_formula(const TrainOptions& options)
{
    const Layout& layout = options.layout;
    pipeline::Schedule schedule;
    schedule.stages = layout.pp;
    schedule.micro_batches = static_cast<int>(options.micro_batches);
    schedule.chunks = layout.virtual_stages;
    const auto formulas = formulas_of(layout.schedule, schedule);
    if (layout.pp == 1 || !formulas) return "";
    return fmt::format("; were messages free, {} = {:.1f} %", formulas->bubble_text,
                       100.0 * formulas->bubble);
}

void add_time(DefinitionList& list, const RunRecord& run)
{
    const json& steps = run.figures.at("steps");
    list.add("virtual-time", "Virtual time", format_seconds(steps.back().at("virtual_seconds").get<double>()),
             fmt::format("the last step took {}", format_seconds(last_step_seconds(steps))));
    list.add("bubble", "Bubble", fmt::format("{:.1f} %", 100.0 * idle_share(run)),
             "of the devices' time in the last step nothing was computed" + bubble_formula(run.options));
}

void add_memory(DefinitionList& list, const RunRecord& run)
{
    const json& ranks = run.figures.at("ranks");
    const json& most = *std::ranges::max_element(
        ranks, {}, [](const json& rank) { return rank.at("memory").at("peak").get<std::uint64_t>(); });
    const json& budget = most.at("memory").at("budget");
    list.add("peak-memory", "Peak memory", format_bytes(most.at("memory").at("peak").get<std::uint64_t>()),
             fmt::format("on rank {}, {}", most.at("rank").get<int>(),
                         budget.is_null() ? "without a budget"
                                          : "of a budget of " + format_bytes(budget.get<std::uint64_t>())));
}

void add_traffic(DefinitionList& list, const RunRecord& run)
{
    std::uint64_t bytes = 0;
    std::uint64_t between = 0;
    std::uint64_t messages = 0;
    for (const json& rank : run.figures.at("ranks")) {
        bytes += rank.at("sent").at("bytes").get<std::uint64_t>();
        between += rank.at("sent").at("inter_node_bytes").get<std::uint64_t>();
        messages += rank.at("sent").at("messages").get<std::uint64_t>();
    }
    list.add("sent", "Sent", format_bytes(bytes),
             fmt::format("in {} messages, {} of it between nodes", messages, format_bytes(between)));
}

}  // namespace

std::string html(std::string_view text)
{
    std::string out;
    for (const char c : printable(text)) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string title_of(const TrainOptions& options)
{
    const Layout& layout = options.layout;
    return fmt::format("pp {} × dp {} × tp {}, {}", layout.pp, layout.dp, layout.tp,
                       plural(options.steps, "step"));
}

std::string differences_from(const Baseline& baseline, const json& figures)
{
    std::string text;
    const auto add = [&text](const std::string& difference) {
        text += (text.empty() ? "" : ", ") + difference;
    };
    const auto shown = [](const json& value) {
        return value.dump(-1, ' ', false, json::error_handler_t::replace);
    };
    const json other = baseline.figures.value("config", json::object());
    const json& config = figures.at("config");
    for (const char* key : {"layers", "hidden", "heads", "seq", "vocab", "batch", "lr", "lr_final", "warmup",
                            "weight_decay", "clip", "seed", "dtype", "dropout"})
        if (other.contains(key) && other[key] != config.at(key))
            add(fmt::format("{} {} (here {})", key, shown(other[key]), shown(config.at(key))));
    // Files of different names may hold the same, and the lessons' texts change: how often bytes occur tells.
    const json::json_pointer entropy("/validation/order_0_entropy");
    if (baseline.figures.contains(entropy) && baseline.figures.at(entropy) != figures.at(entropy))
        add("another text");
    return text;
}

std::string summary_html(const RunRecord& run, const std::optional<Baseline>& baseline)
{
    const TrainOptions& o = run.options;
    DefinitionList list;
    add_loss(list, run, baseline);
    add_time(list, run);
    add_memory(list, run);
    add_traffic(list, run);
    const Topology& cluster = o.topology;
    list.add("layout-text", "Layout", describe_layout(o),
             fmt::format("{} on {} of {}", plural(o.layout.world_size(), "device"),
                         plural(cluster.nodes, "node"), plural(cluster.devices_per_node, "device")));
    list.add("model", "Model",
             fmt::format("{}, hidden {}, {}, {} a sequence", plural(o.shape.layers, "layer"), o.shape.hidden,
                         plural(o.shape.heads, "head"), plural(o.shape.sequence, "token")),
             fmt::format("{} parameters in {}", o.shape.parameters(), name_of(o.dtype)));
    list.add("batch", "Batch",
             fmt::format(
                 "{} in {}", plural(o.batch, "sequence"),
                 o.micro_batches == 1 ? "one micro-batch" : fmt::format("{} micro-batches", o.micro_batches)),
             fmt::format("learning rate {}, seed {}", o.adamw.learning_rate, o.seed));
    list.add("data-file", "Data", o.data.empty() ? "the lessons' texts" : o.data, "");
    std::string text = list.take();
    // Without a word of it a reader would look for what is wrong with the layout.
    if (idle_share(run) > 0.9)
        text += fmt::format(
            "<p>Devices of {:.3g} FLOP/s have soon computed so small a model, and wait for messages "
            "most of the time. <code>--device-flops</code> sets another speed: a small model on slow "
            "devices shows what a large one on fast devices does.</p>\n",
            o.topology.flops);
    if (!baseline) return text;
    text += fmt::format("<p>Baseline: <code>{}</code>.", html(baseline->name));
    const std::string differences = differences_from(*baseline, run.figures);
    if (!differences.empty())
        text += fmt::format(" <strong>Its settings are others: {}.</strong>", html(differences));
    return text + "</p>\n";
}

std::string ranks_table_html(const RunRecord& run)
{
    std::string rows;
    for (const json& rank : run.figures.at("ranks")) {
        const json& at = rank.at("coordinates");
        const json& memory = rank.at("memory");
        rows +=
            fmt::format("<tr><td>{}</td><td>{}</td><td>{}, {}, {}</td><td>{}</td><td>{}</td></tr>\n",
                        rank.at("rank").get<int>(), run.options.topology.node_of(rank.at("rank").get<int>()),
                        at.at("pp").get<int>(), at.at("dp").get<int>(), at.at("tp").get<int>(),
                        format_bytes(memory.at("peak").get<std::uint64_t>()),
                        format_bytes(rank.at("sent").at("bytes").get<std::uint64_t>()));
    }
    return "<table><thead><tr><th>rank</th><th>node</th><th>pp, dp, tp</th><th>peak memory</th>"
           "<th>sent</th></tr></thead><tbody>\n" +
           rows + "</tbody></table>\n";
}

}  // namespace shardlings
