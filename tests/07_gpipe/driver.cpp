// Runs one case of lesson 07 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "lessons/07_gpipe/check.hpp"
#include "lessons/07_gpipe/schedules.hpp"
#include "tests/06_pipeline/driver_engine.hpp"

using namespace pipeline_test;

namespace {

/// The schedule that the case asks for.
Schedule made_schedule(Case& c)
{
    const std::string kind = c.text("kind");
    const Schedule sizes = sizes_of(c);
    if (kind == "gpipe") return pipeline::gpipe_schedule(sizes.stages, sizes.micro_batches);
    if (kind == "1f1b") return pipeline::one_forward_one_backward_schedule(sizes.stages, sizes.micro_batches);
    check(kind == "interleaved", "there is no schedule '{}'", kind);
    return pipeline::interleaved_schedule(sizes.stages, sizes.micro_batches, sizes.chunks);
}

void make_schedule(Case& c)
{
    put_refusal(c, [&] { put_schedule(c, made_schedule(c)); });
}

/// Runs it on the engine, unless it would not come to its end: then the reason is the output "refusal", on
/// all ranks alike.
void run_checked(Case& c, void (*run)(Case&, const Schedule&))
{
    const Schedule schedule = made_schedule(c);
    bool right = false;
    put_refusal(c, [&] {
        pipeline::check_schedule(schedule);
        right = true;
    });
    if (right) run(c, schedule);
}

void probes_with_schedule(Case& c)
{
    run_checked(c, run_probes);
}

void gpt_with_schedule(Case& c)
{
    run_checked(c, run_gpt);
}

void check_schedule(Case& c)
{
    const Schedule schedule = schedule_of(c);
    put_refusal(c, [&] { pipeline::check_schedule(schedule); });
}

void simulate(Case& c)
{
    const Schedule schedule = schedule_of(c);
    const pipeline::PassCosts costs{c.number("forward"), c.number("backward"), c.number("message")};
    put_refusal(c, [&] {
        const std::vector<std::vector<pipeline::Span>> spans = pipeline::simulate(schedule, costs);
        for (std::size_t s = 0; s < spans.size(); ++s) {
            std::vector<double> begins, ends;
            for (const pipeline::Span& span : spans[s]) {
                begins.push_back(span.begin);
                ends.push_back(span.end);
            }
            c.put(fmt::format("begins {}", s), begins);
            c.put(fmt::format("ends {}", s), ends);
        }
    });
}

void bubble_fraction(Case& c)
{
    const Schedule schedule = schedule_of(c);
    std::vector<std::vector<pipeline::Span>> spans(schedule.programs.size());
    for (std::size_t s = 0; s < spans.size(); ++s) {
        const std::vector<double> begins = c.numbers(fmt::format("begins {}", s));
        const std::vector<double> ends = c.numbers(fmt::format("ends {}", s));
        for (std::size_t i = 0; i < begins.size(); ++i) spans[s].push_back({begins[i], ends[i]});
    }
    c.put("bubble", pipeline::bubble_fraction(schedule, spans));
}

void most_in_flight(Case& c)
{
    const std::vector<int> most = pipeline::most_in_flight(schedule_of(c));
    c.put("most", std::vector<double>(most.begin(), most.end()));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv,
                      {{"schedule", make_schedule},
                       {"probes", probes_with_schedule},
                       {"gpt", gpt_with_schedule},
                       {"check_schedule", check_schedule},
                       {"simulate", simulate},
                       {"bubble_fraction", bubble_fraction},
                       {"most_in_flight", most_in_flight}});
}
