#include "tests/06_pipeline/random_schedule.hpp"
#include "tests/07_gpipe/kinds.hpp"
#include "tests/07_gpipe/timeline_support.hpp"

using namespace pipeline_test;

namespace {

Schedule parsed(int micro_batches, int chunks, const std::vector<std::string>& programs)
{
    Schedule schedule{static_cast<int>(programs.size()), micro_batches, chunks, {}};
    for (const std::string& program : programs) schedule.programs.push_back(parse_program(program));
    return schedule;
}

// --- times ------------------------------------------------------------------------------------------------

json simulate_inputs(const Schedule& schedule, const PassCosts& costs)
{
    json inputs = schedule_inputs(schedule);
    inputs.update({{"forward", costs.forward}, {"backward", costs.backward}, {"message", costs.message}});
    return inputs;
}

NamedCase simulate_case(const std::string& name, const Schedule& schedule, const PassCosts& costs,
                        const Spans& expected)
{
    return {name, one_rank("simulate", simulate_inputs(schedule, costs)), [=](const RankResult& result) {
                if (result.outputs.contains("refusal"))
                    return std::vector{
                        fmt::format("refused: {}", result.outputs.at("refusal").get<std::string>())};
                return std::vector{compare_spans(schedule, result.outputs, expected)};
            }};
}

/// GPipe with P = 2 and M = 2, forward 1 and backward 2, and messages of three lengths, timed by hand.
std::vector<NamedCase> by_hand()
{
    const Schedule schedule = parsed(2, 1, {"f0 sa0 f1 sa1 rg0 b0 rg1 b1", "ra0 f0 ra1 f1 b0 sg0 b1 sg1"});
    const auto one = [&](const std::string& name, double message, const std::string& first,
                         const std::string& second) {
        return simulate_case("GPipe, P = 2, M = 2, " + name, schedule, {1.0, 2.0, message},
                             {parse_spans(first), parse_spans(second)});
    };
    return {one("messages free", 0.0, "0-1 1-1 1-2 2-2 2-5 5-7 7-7 7-9", "0-1 1-2 2-2 2-3 3-5 5-5 5-7 7-7"),
            one("messages of 0.5", 0.5, "0-1 1-1 1-2 2-2 2-6 6-8 8-8 8-10",
                "0-1.5 1.5-2.5 2.5-2.5 2.5-3.5 3.5-5.5 5.5-5.5 5.5-7.5 7.5-7.5"),
            // The second message waits for the first to have left: the link carries one at a time.
            one("messages of 3, a busy link", 3.0, "0-1 1-1 1-2 2-2 2-13 13-15 15-16 16-18",
                "0-4 4-5 5-7 7-8 8-10 10-10 10-12 12-12")};
}

NamedCase random_case(const RandomOrder& order)
{
    const std::string name = fmt::format("P = {}, M = {}, V = {}, a right schedule in random order",
                                         order.stages, order.micro_batches, order.chunks);
    const Schedule schedule = random_schedule("timeline " + name, order);
    const std::vector<double> numbers = random_values("costs " + name, 3, DType::fp64);
    const PassCosts costs{std::abs(numbers[0]), std::abs(numbers[1]), std::abs(numbers[2])};
    return simulate_case(name, schedule, costs, pipeline::simulate(schedule, costs));
}

/// One that cannot go on, and what its error must name.
NamedCase stuck_case(const std::string& name, const Schedule& schedule,
                     const std::vector<std::string>& needed)
{
    return {name, one_rank("simulate", simulate_inputs(schedule, {})),
            [=](const RankResult& result) { return std::vector{refusal_problem(result, needed)}; }};
}

// --- bubble -----------------------------------------------------------------------------------------------

NamedCase bubble_case(const std::string& name, const Schedule& schedule, const Spans& spans, double expected)
{
    json inputs = schedule_inputs(schedule);
    inputs.update(span_inputs(spans));
    return {name, one_rank("bubble_fraction", inputs), [=](const RankResult& result) {
                // Two sums of at most n spans, a product and a quotient.
                std::size_t n = 3;
                for (const Program& program : schedule.programs) n += program.size();
                return std::vector{compare_number("the bubble", result.outputs.at("bubble").get<double>(),
                                                  expected,
                                                  {0.0, static_cast<double>(n) * epsilon_of(DType::fp64)})};
            }};
}

NamedCase bubble_of(const Kind& kind)
{
    const Schedule schedule = kind.reference();
    return bubble_case(kind.kind + ", " + kind.name(), schedule,
                       pipeline::simulate(schedule, {1.0, 2.0, 0.0}), kind.bubble());
}

// --- in flight --------------------------------------------------------------------------------------------

NamedCase flight_case(const std::string& name, const Schedule& schedule, const std::vector<int>& expected)
{
    return {name, one_rank("most_in_flight", schedule_inputs(schedule)), [=](const RankResult& result) {
                const auto most = result.outputs.at("most").get<std::vector<int>>();
                if (most.size() != expected.size())
                    return std::vector{
                        fmt::format("{} numbers, expected {}: one a stage", most.size(), expected.size())};
                std::vector<std::string> messages;
                for (std::size_t s = 0; s < most.size(); ++s)
                    if (most[s] != expected[s])
                        messages.push_back(fmt::format("stage {} has at most {} in flight, expected {}", s,
                                                       most[s], expected[s]));
                return messages;
            }};
}

NamedCase flight_of(const Kind& kind)
{
    std::vector<int> expected;
    for (int s = 0; s < kind.stages; ++s) expected.push_back(kind.in_flight(s));
    return flight_case(kind.kind + ", " + kind.name(), kind.reference(), expected);
}

std::vector<Kind> some_kinds()
{
    std::vector<Kind> kinds;
    for (const int stages : {1, 2, 3, 5})
        for (const int m : {1, 2, 4, 9})
            for (const char* kind : {"gpipe", "1f1b"}) kinds.push_back({kind, stages, m});
    for (const int stages : {2, 3, 4})
        for (const int chunks : {2, 3}) kinds.push_back({"interleaved", stages, 2 * stages, chunks});
    return kinds;
}

}  // namespace

TEST_CASE("07.5 simulate: times by hand, and of schedules in random order", "[07.5]")
{
    std::vector<NamedCase> cases = by_hand();
    for (const RandomOrder& order :
         {RandomOrder{1, 3, 1}, RandomOrder{2, 4, 1}, RandomOrder{2, 3, 3}, RandomOrder{3, 5, 1, true},
          RandomOrder{4, 4, 2}, RandomOrder{5, 8, 1}, RandomOrder{8, 8, 1}, RandomOrder{6, 6, 2, true}})
        cases.push_back(random_case(order));
    cases.push_back(stuck_case("two stages that wait for each other",
                               parsed(2, 1, {"f0 sa0 rg0 b0 f1 sa1 rg1 b1", "ra0 f0 ra1 f1 b0 sg0 b1 sg1"}),
                               {"stage 0", "receive gradient 0", "stage 1", "receive activation 1"}));
    cases.push_back(stuck_case("a message that is never sent", parsed(1, 1, {"f0", "ra0 f0 b0 sg0"}),
                               {"stage 1", "receive activation 0"}));
    run_and_check("timeline", cases);
}

TEST_CASE("07.5 bubble_fraction: by hand, and by the formulas", "[07.5]")
{
    const Schedule pair = parsed(1, 1, {"f0 sa0 rg0 b0", "ra0 f0 b0 sg0"});
    std::vector<NamedCase> cases{
        bubble_case("one stage", parsed(2, 1, {"f0 b0 f1 b1"}), {parse_spans("0-1 1-3 3-4 4-6")}, 0.0),
        bubble_case("naive, P = 2", pair, {parse_spans("0-1 1-1 1-4 4-6"), parse_spans("0-1 1-2 2-4 4-4")},
                    0.5),
        // Stage 0: 3 of 10 seconds in passes, stage 1: 4. Waiting and sending is no work.
        bubble_case("messages that take their time", pair,
                    {parse_spans("0-1 1-2 2-8 8-10"), parse_spans("0-3 3-4 4-7 7-9")}, 1.0 - 7.0 / 20.0),
        // The last thing that ends is on the first stage, or on the last.
        bubble_case("the last stage ends last", pair,
                    {parse_spans("0-1 1-1 1-2 2-3"), parse_spans("0-4 4-6 6-8 8-8")}, 1.0 - 6.0 / 16.0)};
    for (const Kind& kind : some_kinds()) cases.push_back(bubble_of(kind));
    run_and_check("timeline", cases);
}

TEST_CASE("07.5 most_in_flight: by hand, and of the schedules", "[07.5]")
{
    std::vector<NamedCase> cases{
        flight_case("one at a time", parsed(3, 1, {"f0 b0 f1 b1 f2 b2"}), {1}),
        flight_case("two for a while", parsed(3, 1, {"f0 f1 b0 f2 b1 b2"}), {2}),
        flight_case("most at the begin", parsed(4, 1, {"f0 f1 f2 b0 b1 b2 f3 b3"}), {3}),
        flight_case("of two chunks", parsed(2, 2, {"f0 f1 f0.1 b0.1 f1.1 b1.1 b0 b1"}), {3}),
        flight_case("of two stages", parsed(1, 1, {"f0 sa0 rg0 b0", "ra0 f0 b0 sg0"}), {1, 1})};
    for (const Kind& kind : some_kinds()) cases.push_back(flight_of(kind));
    run_and_check("timeline", cases);
}
