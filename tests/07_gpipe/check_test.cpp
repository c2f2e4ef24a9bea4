#include "lessons/07_gpipe/check.hpp"

#include "tests/06_pipeline/random_schedule.hpp"
#include "tests/07_gpipe/kinds.hpp"

using namespace pipeline_test;

namespace {

NamedCase accepted_case(const std::string& name, const Schedule& schedule)
{
    return {name, one_rank("check_schedule", schedule_inputs(schedule)), [=](const RankResult& result) {
                return std::vector{result.outputs.contains("accepted")
                                       ? std::string()
                                       : fmt::format("it is right, but was rejected: {}",
                                                     result.outputs.at("refusal").get<std::string>())};
            }};
}

NamedCase random_case(const RandomOrder& order)
{
    const std::string name = fmt::format("P = {}, M = {}, V = {}, a right schedule in random order",
                                         order.stages, order.micro_batches, order.chunks);
    return accepted_case(name, random_schedule("check " + name, order));
}

/// Programs of which one is wrong in one place, and what the error must name.
struct Broken {
    std::string name;
    int micro_batches, chunks;
    std::vector<std::string> programs;
    std::vector<std::string> needed;
};

NamedCase broken_case(const Broken& broken)
{
    Schedule schedule{static_cast<int>(broken.programs.size()), broken.micro_batches, broken.chunks, {}};
    for (const std::string& program : broken.programs) schedule.programs.push_back(parse_program(program));
    return {broken.name, one_rank("check_schedule", schedule_inputs(schedule)),
            [=](const RankResult& result) { return std::vector{refusal_problem(result, broken.needed)}; }};
}

// Right programs of two stages and one micro-batch.
const std::string first = "f0 sa0 rg0 b0";
const std::string last = "ra0 f0 b0 sg0";

std::vector<Broken> passes_wrong()
{
    return {{"a backward pass is missing", 2, 1, {"f0 f1 b0"}, {"stage 0", "backward 1"}},
            {"a backward pass is missing behind its gradient",
             1,
             1,
             {"f0 sa0 rg0", last},
             {"stage 0", "backward 0"}},
            {"a micro-batch is missing", 2, 1, {"f0 b0"}, {"stage 0", "1"}},
            {"a chunk is missing",
             1,
             2,
             {"f0 sa0 rg0 b0", "ra0 f0 sa0 ra0.1 f0.1 b0.1 sg0.1 rg0 b0 sg0"},
             {"stage 0", "0 of chunk 1"}},
            {"an empty program", 1, 1, {""}, {"stage 0", "forward 0"}},
            {"backward before forward", 1, 1, {"b0 f0"}, {"stage 0", "backward 0"}},
            {"backward of another micro-batch's forward", 2, 1, {"f0 b1 f1 b0"}, {"stage 0", "backward 1"}},
            {"forward twice", 1, 1, {"f0 f0 b0"}, {"stage 0", "forward 0"}},
            {"backward twice", 1, 1, {"f0 sa0 rg0 b0 b0", last}, {"stage 0", "backward 0"}},
            {"backward in descending order", 2, 1, {"f0 f1 b1 b0"}, {"stage 0", "backward 0"}},
            {"backward in descending order in one chunk of two",
             2,
             2,
             {"f0 sa0 f1 sa1 ra0.1 f0.1 sa0.1 ra1.1 f1.1 sa1.1 "
              "rg0.1 b0.1 sg0.1 rg1.1 b1.1 sg1.1 rg0 b0 rg1 b1",
              "ra0 f0 sa0 ra1 f1 sa1 ra0.1 f0.1 ra1.1 f1.1 b1.1 sg1.1 b0.1 sg0.1 "
              "rg0 b0 sg0 rg1 b1 sg1"},
             {"stage 1", "backward 0 of chunk 1"}},
            {"a micro-batch that is not there", 2, 1, {"f0 f1 f2 b0 b1 b2"}, {"stage 0", "forward 2"}},
            {"a chunk that is not there", 1, 1, {"f0 f0.1 b0.1 b0"}, {"stage 0", "forward 0 of chunk 1"}}};
}

std::vector<Broken> messages_wrong()
{
    return {
        {"forward without its activation", 1, 1, {first, "f0 b0 sg0"}, {"stage 1", "forward 0"}},
        {"the activation received after the pass", 1, 1, {first, "f0 ra0 b0 sg0"}, {"stage 1", "forward 0"}},
        {"backward without its gradient", 1, 1, {"f0 sa0 b0", last}, {"stage 0", "backward 0"}},
        {"another micro-batch's activation",
         2,
         1,
         {"f0 sa0 f1 sa1 rg0 b0 rg1 b1", "ra1 f0 ra0 f1 b0 sg0 b1 sg1"},
         {"stage 1", "forward 0"}},
        {"received twice", 1, 1, {first, "ra0 ra0 f0 b0 sg0"}, {"stage 1", "receive activation 0"}},
        {"sent twice", 1, 1, {"f0 sa0 sa0 rg0 b0", last}, {"stage 0", "send activation 0"}},
        {"received where the model begins",
         1,
         1,
         {"ra0 f0 sa0 rg0 b0", last},
         {"stage 0", "receive activation 0"}},
        {"a gradient received where the model ends",
         1,
         1,
         {first, "ra0 f0 rg0 b0 sg0"},
         {"stage 1", "receive gradient 0"}},
        {"sent where the model ends", 1, 1, {first, "ra0 f0 sa0 b0 sg0"}, {"stage 1", "send activation 0"}},
        {"sent before it is computed", 1, 1, {"sa0 f0 rg0 b0", last}, {"stage 0", "send activation 0"}},
        {"an activation never sent", 1, 1, {"f0 rg0 b0", last}, {"stage 0", "micro-batch 0"}},
        {"a gradient never sent", 1, 1, {first, "ra0 f0 b0"}, {"stage 1", "micro-batch 0"}},
        {"the gradient of a pass that was not run",
         1,
         1,
         {first, "ra0 f0 sg0 b0"},
         {"stage 1", "send gradient 0"}}};
}

/// Stages that wait for each other in a circle.
std::vector<Broken> deadlocks()
{
    return {
        {"two stages: one runs a micro-batch to its end, the other wants all first",
         2,
         1,
         {"f0 sa0 rg0 b0 f1 sa1 rg1 b1", "ra0 f0 ra1 f1 b0 sg0 b1 sg1"},
         {"stage 0", "receive gradient 0", "stage 1", "receive activation 1"}},
        {"three stages, the last wants what the first has not begun",
         2,
         1,
         {"f0 sa0 rg0 b0 f1 sa1 rg1 b1", "ra0 f0 sa0 ra1 f1 sa1 rg0 b0 sg0 rg1 b1 sg1",
          "ra0 f0 b0 sg0 ra1 f1 b1 sg1"},
         {"stage 0", "receive gradient 0", "stage 1", "receive activation 1"}},
        {"chunks: backward of the first before the second has gone forward",
         1,
         2,
         {"f0 sa0 rg0 b0 ra0.1 f0.1 sa0.1 rg0.1 b0.1 sg0.1", "ra0 f0 sa0 ra0.1 f0.1 b0.1 sg0.1 rg0 b0 sg0"},
         {"stage 0", "receive gradient 0", "stage 1", "receive activation 0 of chunk 1"}}};
}

}  // namespace

TEST_CASE("07.4 check_schedule: right schedules are accepted", "[07.4]")
{
    std::vector<NamedCase> cases;
    for (const char* kind : {"gpipe", "1f1b", "interleaved"})
        for (const Kind& one : all_sizes(kind))
            cases.push_back(accepted_case(one.kind + ", " + one.name(), one.reference()));
    for (const int stages : {1, 2, 5})
        cases.push_back(
            accepted_case(fmt::format("naive, P = {}", stages), pipeline::naive_schedule(stages, 3)));
    for (const RandomOrder& order : {RandomOrder{1, 4, 1}, RandomOrder{2, 4, 1}, RandomOrder{2, 3, 3},
                                     RandomOrder{3, 5, 1, true}, RandomOrder{4, 4, 2}, RandomOrder{7, 3, 1}})
        cases.push_back(random_case(order));
    run_and_check("check", cases);
}

TEST_CASE("07.4 check_schedule: passes that are missing, doubled or in the wrong order", "[07.4]")
{
    std::vector<NamedCase> cases;
    for (const Broken& broken : passes_wrong()) cases.push_back(broken_case(broken));
    run_and_check("check", cases);
}

TEST_CASE("07.4 check_schedule: messages without their other end or their pass", "[07.4]")
{
    std::vector<NamedCase> cases;
    for (const Broken& broken : messages_wrong()) cases.push_back(broken_case(broken));
    run_and_check("check", cases);
}

TEST_CASE("07.4 check_schedule: stages that wait for each other", "[07.4]")
{
    std::vector<NamedCase> cases;
    for (const Broken& broken : deadlocks()) cases.push_back(broken_case(broken));
    run_and_check("check", cases);
}
