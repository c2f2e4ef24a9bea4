#include <fmt/format.h>

#include <algorithm>

#include "lib/machine/base/units.hpp"
#include "lib/tools/plan/parts.hpp"
#include "lib/tools/plan/report.hpp"
#include "lib/tools/plan/text.hpp"

namespace shardlings::plan {

namespace {

constexpr std::size_t most_too_large = 3;  // that are named

std::string schedule_of(const Split& split)
{
    if (split.pp == 1) return "-";
    if (split.schedule != Schedule::interleaved) return std::string(name_of(split.schedule));
    return fmt::format("interleaved {}", split.virtual_stages);
}

std::string grid_of(const Split& split)
{
    return fmt::format("pp {}, dp {}, tp {}", split.pp, split.dp, split.tp);
}

void add_row(std::string& text, const Run& run, const Cluster& cluster, const Planned& layout)
{
    const Split& s = layout.split;
    const double seconds = layout.seconds();
    add(text, "{:>4} {:>5} {:>3} {:>4}  {:<14} {:>3} {:>4}  {:<9} {:<3} {:>9} {:>6} {:>9}", s.pp, s.dp, s.tp,
        s.zero, schedule_of(s), s.micro_batch, s.micro_batches(run), name_of(s.recompute),
        s.sequence_parallel ? "yes" : "no", format_seconds(seconds),
        percent(utilisation(run, s, cluster, seconds).model), with_prefix(layout.memory.total(), "B"));
    if (run.tokens > 0.0) {
        const double hours = run.steps() * seconds / 3600.0;
        add(text, " {:>8.1f} {:>9}", hours / 24.0,
            with_prefix(hours * static_cast<double>(cluster.devices), ""));
    }
    add(text, "\n");
}

void add_parts(std::string& text, const Planned& layout)
{
    add(text, "\nthe best one's step, and the memory of its fullest device\n");
    const auto time = parts_of(layout.time);
    const auto memory = parts_of(layout.memory);
    for (std::size_t i = 0; i < time.size(); ++i) {
        add(text, "  {:<24} {:>9} {:>7}", time[i].first, format_seconds(time[i].second),
            percent(time[i].second / layout.seconds()));
        if (i < memory.size())
            add(text, "    {:<24} {:>9} {:>7}", memory[i].first, with_prefix(memory[i].second, "B"),
                percent(memory[i].second / layout.memory.total()));
        add(text, "\n");
    }
}

/// The parts in which a layout loses most, and by how much.
std::string losses(const Planned& layout, const Planned& best)
{
    const auto parts = parts_of(layout.time);
    const auto best_parts = parts_of(best.time);
    std::vector<std::pair<double, std::string_view>> more;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (const double difference = parts[i].second - best_parts[i].second;
            difference > 0.001 * best.seconds())
            more.emplace_back(difference, parts[i].first);
    std::sort(more.rbegin(), more.rend());
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, more.size()); ++i)
        text += fmt::format("{}{} +{}", i == 0 ? "" : ", ", more[i].second, format_seconds(more[i].first));
    return text.empty() ? "nearly the same" : text;
}

void add_losers(std::string& text, const Cluster& cluster, const Plan& plan, std::size_t rows)
{
    if (plan.best.size() > 1 && rows > 1) add(text, "\nwhy the next ones lose\n");
    const Planned& best = plan.best.front();
    for (std::size_t i = 1; i < std::min(rows, plan.best.size()); ++i) {
        const Planned& layout = plan.best[i];
        add(text, "  {:<24} {:>9}: {}\n", grid_of(layout.split),
            fmt::format("+{}", percent(layout.seconds() / best.seconds() - 1.0)), losses(layout, best));
    }
    if (plan.large.empty()) return;
    add(text, "\n{} grids do not fit however they are run; those that lack least\n", plan.large.size());
    for (std::size_t i = 0; i < std::min(most_too_large, plan.large.size()); ++i) {
        const Planned& layout = plan.large[i];
        const auto parts = parts_of(layout.memory);
        const auto most = std::max_element(parts.begin(), parts.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        add(text, "  {:<24} needs {}, {} too much; {}: {}\n", grid_of(layout.split),
            with_prefix(layout.memory.total(), "B"), with_prefix(layout.memory.total() - cluster.memory, "B"),
            most->first, with_prefix(most->second, "B"));
    }
}

}  // namespace

std::string plan_text(const Run& run, const Cluster& cluster, const Plan& plan, std::size_t rows)
{
    std::string text = fmt::format("{}\n{}\nbatch {}, {} tokens a step", text_of(run.model), text_of(cluster),
                                   run.batch, with_prefix(run.tokens_of_step(), ""));
    if (run.tokens > 0.0) add(text, "; {} tokens are {:.0f} steps", with_prefix(run.tokens, ""), run.steps());
    add(text, "\n{} layouts, {} fit; of each pp x dp x tp the fastest:\n\n", plan.layouts, plan.fitting);
    add(text, "{:>4} {:>5} {:>3} {:>4}  {:<14} {:>3} {:>4}  {:<9} {:<3} {:>9} {:>6} {:>9}", "pp", "dp", "tp",
        "ZeRO", "schedule", "b", "M", "recompute", "SP", "step", "MFU", "memory");
    if (run.tokens > 0.0) add(text, " {:>8} {:>9}", "days", "device-h");
    add(text, "\n");
    for (std::size_t i = 0; i < std::min(rows, plan.best.size()); ++i)
        add_row(text, run, cluster, plan.best[i]);
    add_parts(text, plan.best.front());
    add_losers(text, cluster, plan, rows);
    return text;
}

}  // namespace shardlings::plan
