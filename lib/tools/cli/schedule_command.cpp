#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "lessons/07_gpipe/check.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/schedule/drawing.hpp"
#include "lib/tools/schedule/formulas.hpp"
#include "lib/tools/schedule/named.hpp"
#include "lib/tools/schedule/picture.hpp"
#include "lib/tools/schedule/program_text.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

using Spans = std::vector<std::vector<pipeline::Span>>;

constexpr std::uint64_t most_file_bytes = 64'000'000;
constexpr double most_seconds = 1e6;

struct ScheduleFlags {
    int stages = 4;
    int micro_batches = 8;
    int chunks = 1;
    std::string name = "1f1b";
    pipeline::PassCosts costs;  // of a stage: all its chunks
    std::string svg;
    std::string json;
    std::string file;
    bool program = false;
};

void check_costs(const pipeline::PassCosts& costs)
{
    for (const auto& [flag, seconds] : {std::pair{"forward", costs.forward}, {"backward", costs.backward}})
        check(seconds >= 1e-12 && seconds <= most_seconds, "--{} is {}: expected 1e-12 to {} seconds", flag,
              seconds, most_seconds);
    check(costs.message >= 0.0 && costs.message <= most_seconds, "--message is {}: expected 0 to {} seconds",
          costs.message, most_seconds);
}

pipeline::Schedule named_schedule(const ScheduleFlags& flags)
{
    for (const auto& [flag, value] : {std::pair{"pp", flags.stages},
                                      {"microbatches", flags.micro_batches},
                                      {"virtual-stages", flags.chunks}})
        check(value >= 1, "--{} is {}: expected 1 or more", flag, value);
    check_schedule_size(flags.stages, flags.micro_batches, flags.chunks);
    return make_schedule(flags.name, flags.stages, flags.micro_batches, flags.chunks);
}

void print_bubble(double measured, const std::optional<ScheduleFormulas>& formulas, double message)
{
    std::string beside;
    if (formulas)
        beside = fmt::format("; formula{}: {} = {:.4f} %", message > 0.0 ? " for free messages" : "",
                             formulas->bubble_text, 100.0 * formulas->bubble);
    fmt::print("bubble: {:.4f} % of the stages' time{}\n", 100.0 * std::abs(measured), beside);
}

void print_in_flight(const pipeline::Schedule& schedule, const std::optional<ScheduleFormulas>& formulas)
{
    const std::vector<int> most = most_in_flight(schedule);
    fmt::print("in flight, at most: {} {} on {}{}\n", fmt::join(most, " "),
               schedule.chunks > 1 ? "chunks of micro-batches" : "micro-batches",
               schedule.stages > 1 ? fmt::format("stages 0 to {}", schedule.stages - 1) : "stage 0",
               formulas && formulas->in_flight == most ? "; formula: " + formulas->in_flight_text : "");
}

/// What is simulated may be an exercise's.
void check_spans(const pipeline::Schedule& schedule, const Spans& spans)
{
    check(spans.size() == schedule.programs.size(), "simulate gives the times of {} stages, expected {}",
          spans.size(), schedule.programs.size());
    for (std::size_t stage = 0; stage < spans.size(); ++stage) {
        check(spans[stage].size() == schedule.programs[stage].size(),
              "simulate gives the times of {} instructions of stage {}, expected {}", spans[stage].size(),
              stage, schedule.programs[stage].size());
        for (const pipeline::Span& span : spans[stage])
            check(span.begin >= 0.0 && span.end >= span.begin && std::isfinite(span.end),
                  "simulate lets an instruction of stage {} last from {} to {}", stage, span.begin, span.end);
    }
}

/// The passes with their times in seconds, and what is printed of them; "formulas" is null where there are
/// none.
nlohmann::json schedule_json(const pipeline::Schedule& schedule, const Spans& spans,
                             const std::optional<ScheduleFormulas>& formulas)
{
    nlohmann::json passes = nlohmann::json::array();
    for (std::size_t stage = 0; stage < spans.size(); ++stage)
        for (std::size_t i = 0; i < spans[stage].size(); ++i) {
            const pipeline::Instruction& one = schedule.programs[stage][i];
            const bool forward = one.action == pipeline::Action::forward;
            if (!forward && one.action != pipeline::Action::backward) continue;
            passes.push_back({{"stage", stage},
                              {"pass", forward ? "forward" : "backward"},
                              {"microbatch", one.micro_batch},
                              {"chunk", one.chunk},
                              {"begin", spans[stage][i].begin},
                              {"end", spans[stage][i].end}});
        }
    nlohmann::json beside;
    if (formulas) beside = {{"bubble", formulas->bubble}, {"in_flight", formulas->in_flight}};
    return {{"stages", schedule.stages},
            {"microbatches", schedule.micro_batches},
            {"chunks", schedule.chunks},
            {"bubble", std::abs(bubble_fraction(schedule, spans))},
            {"in_flight", most_in_flight(schedule)},
            {"seconds", end_of(spans)},
            {"formulas", beside},
            {"passes", std::move(passes)}};
}

void run_schedule(const ScheduleFlags& flags)
{
    check_costs(flags.costs);
    check(flags.svg.empty() || flags.svg.ends_with(".svg"),
          "--svg {}: expected a file name that ends in .svg", flags.svg);
    const bool own = !flags.file.empty();
    const pipeline::Schedule schedule =
        own ? parse_program_text(read_text(flags.file, most_file_bytes), flags.file) : named_schedule(flags);
    try {
        check_schedule(schedule);
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", own ? flags.file : flags.name, error.what()));
    }
    const double v = schedule.chunks;
    const pipeline::PassCosts costs{flags.costs.forward / v, flags.costs.backward / v, flags.costs.message};
    const Spans spans = simulate(schedule, costs);
    check_spans(schedule, spans);
    const double bubble = bubble_fraction(schedule, spans);
    const std::string title = title_of_schedule(own ? flags.file : flags.name, schedule.stages,
                                                schedule.micro_batches, schedule.chunks);
    if (!flags.svg.empty())
        write_schedule_picture(flags.svg, fmt::format("{}; bubble {:.1f} %", title, 100.0 * std::abs(bubble)),
                               schedule, spans, costs);
    const std::optional<ScheduleFormulas> formulas = own ? std::nullopt : formulas_of(flags.name, schedule);
    if (!flags.json.empty()) write_text(flags.json, schedule_json(schedule, spans, formulas).dump(1) + "\n");
    if (flags.program) {
        fmt::print("{}", program_text(schedule));
        return;
    }
    fmt::print("{}\n{}\n", title, draw_schedule(schedule, spans, costs));
    print_bubble(bubble, formulas, costs.message);
    print_in_flight(schedule, formulas);
    fmt::print("time: {} of virtual time\n", format_seconds(end_of(spans)));
}

}  // namespace

void add_schedule_command(CLI::App& app)
{
    auto flags = std::make_shared<ScheduleFlags>();
    CLI::App* command =
        app.add_subcommand("schedule", "check and draw the schedule of a pipeline, without running it");
    const auto add = [&](const char* name, auto& value, const char* what) {
        return command->add_option(name, value, what)->capture_default_str();
    };
    const std::vector<CLI::Option*> named{
        add("--pp", flags->stages, "pipeline stages P"),
        add("--microbatches", flags->micro_batches, "micro-batches M"),
        add("--schedule", flags->name, "naive, gpipe, 1f1b or interleaved"),
        add("--virtual-stages", flags->chunks, "chunks V on each stage, interleaved")};
    add("--forward", flags->costs.forward, "seconds of a micro-batch's forward pass through a stage");
    add("--backward", flags->costs.backward, "seconds of its backward pass");
    add("--message", flags->costs.message, "seconds of a message between neighbours");
    command->add_option("--svg", flags->svg, "file for a picture");
    command->add_option("--json", flags->json, "file for the passes, their times and the bubble");
    command->add_flag("--program", flags->program, "print the instructions instead of the drawing");
    CLI::Option* file =
        command->add_option("--file", flags->file, "schedule to read, in the form that --program prints");
    for (CLI::Option* option : named) file->excludes(option);
    command->callback([flags] { run_schedule(*flags); });
}

}  // namespace shardlings
