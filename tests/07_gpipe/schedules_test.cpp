#include "lessons/07_gpipe/schedules.hpp"

#include "tests/07_gpipe/kinds.hpp"

using namespace pipeline_test;

namespace {

/// The schedule that came out of a case.
Schedule output_schedule(const Kind& kind, const RankResult& result)
{
    return {kind.stages, kind.micro_batches, kind.chunks, output_programs(result)};
}

/// What check_schedule of the reference says.
std::string rejection(const Schedule& schedule)
{
    try {
        pipeline::check_schedule(schedule);
        return "";
    } catch (const Error& error) {
        return fmt::format("it is no right schedule: {}", error.what());
    }
}

/// Passes of whole seconds: all sums are exact, what is left are two divisions and a subtraction.
std::string compare_bubble(const Kind& kind, const Schedule& schedule)
{
    for (const pipeline::PassCosts costs :
         {pipeline::PassCosts{1.0, 2.0, 0.0}, pipeline::PassCosts{2.0, 3.0, 0.0}}) {
        const double bubble = pipeline::bubble_fraction(schedule, pipeline::simulate(schedule, costs));
        if (std::abs(bubble - kind.bubble()) > 1e-12)
            return fmt::format(
                "the bubble with free messages is {:.6f}, expected (P − 1)/({}M + P − 1) = {:.6f}", bubble,
                kind.chunks > 1 ? "V " : "", kind.bubble());
    }
    return "";
}

std::string compare_in_flight(const Kind& kind, const Schedule& schedule)
{
    const std::vector<int> most = pipeline::most_in_flight(schedule);
    for (int s = 0; s < kind.stages; ++s)
        if (most[static_cast<std::size_t>(s)] != kind.in_flight(s))
            return fmt::format("stage {} has {} micro-batches{} in flight, expected {}", s,
                               most[static_cast<std::size_t>(s)], kind.chunks > 1 ? " times chunks" : "",
                               kind.in_flight(s));
    return "";
}

std::vector<std::string> check_made(const Kind& kind, const RankResult& result)
{
    if (result.outputs.contains("refusal"))
        return {fmt::format("refused: {}", result.outputs.at("refusal").get<std::string>())};
    const Schedule schedule = output_schedule(kind, result);
    const auto sizes = result.outputs.at("sizes").get<std::vector<int>>();
    if (sizes != std::vector<int>{kind.stages, kind.micro_batches, kind.chunks})
        return {"its stages, micro_batches or chunks are not those asked for"};
    const std::string wrong = rejection(schedule);
    if (!wrong.empty()) return {wrong};
    std::vector<std::string> messages{compare_bubble(kind, schedule), compare_in_flight(kind, schedule)};
    if (join(messages).empty())
        messages.push_back(compare_programs(schedule.programs, kind.reference().programs));
    return messages;
}

NamedCase made_case(const Kind& kind)
{
    return {kind.name(), one_rank("schedule", kind.inputs()),
            [=](const RankResult& result) { return check_made(kind, result); }};
}

/// Every stage's program written out.
NamedCase by_hand(const Kind& kind, const std::vector<std::string>& programs)
{
    return {kind.name() + ", by hand", one_rank("schedule", kind.inputs()), [=](const RankResult& result) {
                std::vector<Program> expected;
                for (const std::string& program : programs) expected.push_back(parse_program(program));
                return std::vector{compare_programs(output_programs(result), expected)};
            }};
}

NamedCase refused_case(const Kind& kind, const std::string& needed)
{
    return {kind.name(), one_rank("schedule", kind.inputs()),
            [=](const RankResult& result) { return std::vector{refusal_problem(result, {needed})}; }};
}

void run_all_sizes(const std::string& kind)
{
    std::vector<NamedCase> cases;
    for (const Kind& one : all_sizes(kind)) cases.push_back(made_case(one));
    run_and_check(Kind{kind, 1, 1}.file(), cases);
}

}  // namespace

TEST_CASE("07.1 gpipe_schedule: the programs by hand", "[07.1]")
{
    run_and_check("gpipe", {by_hand({"gpipe", 1, 2}, {"f0 f1 b0 b1"}),
                            by_hand({"gpipe", 2, 3}, {"f0 sa0 f1 sa1 f2 sa2 rg0 b0 rg1 b1 rg2 b2",
                                                      "ra0 f0 ra1 f1 ra2 f2 b0 sg0 b1 sg1 b2 sg2"}),
                            by_hand({"gpipe", 3, 2}, {"f0 sa0 f1 sa1 rg0 b0 rg1 b1",
                                                      "ra0 f0 sa0 ra1 f1 sa1 rg0 b0 sg0 rg1 b1 sg1",
                                                      "ra0 f0 ra1 f1 b0 sg0 b1 sg1"}),
                            refused_case({"gpipe", 0, 2}, "0 stages"),
                            refused_case({"gpipe", 2, 0}, "0 micro-batches")});
}

TEST_CASE("07.1 gpipe_schedule: right, with its bubble, for all sizes", "[07.1]")
{
    run_all_sizes("gpipe");
}

TEST_CASE("07.2 one_forward_one_backward_schedule: the programs by hand", "[07.2]")
{
    run_and_check(
        "one_forward_one_backward",
        {by_hand({"1f1b", 1, 2}, {"f0 b0 f1 b1"}),
         by_hand({"1f1b", 2, 3},
                 {"f0 sa0 f1 sa1 rg0 b0 f2 sa2 rg1 b1 rg2 b2", "ra0 f0 b0 sg0 ra1 f1 b1 sg1 ra2 f2 b2 sg2"}),
         by_hand({"1f1b", 3, 2},
                 {"f0 sa0 f1 sa1 rg0 b0 rg1 b1", "ra0 f0 sa0 ra1 f1 sa1 rg0 b0 sg0 rg1 b1 sg1",
                  "ra0 f0 b0 sg0 ra1 f1 b1 sg1"}),
         by_hand({"1f1b", 3, 1}, {"f0 sa0 rg0 b0", "ra0 f0 sa0 rg0 b0 sg0", "ra0 f0 b0 sg0"}),
         refused_case({"1f1b", -1, 2}, "-1 stages"), refused_case({"1f1b", 2, 0}, "0 micro-batches")});
}

TEST_CASE("07.2 one_forward_one_backward_schedule: right, with its bubble and memory, for all sizes",
          "[07.2]")
{
    run_all_sizes("1f1b");
}

TEST_CASE("07.3 interleaved_schedule: the programs by hand", "[07.3]")
{
    run_and_check(
        "interleaved",
        {by_hand({"interleaved", 2, 2, 2},
                 {"f0 sa0 f1 sa1 ra0.1 f0.1 sa0.1 ra1.1 f1.1 sa1.1 "
                  "rg0.1 b0.1 sg0.1 rg1.1 b1.1 sg1.1 rg0 b0 rg1 b1",
                  "ra0 f0 sa0 ra1 f1 sa1 ra0.1 f0.1 b0.1 sg0.1 ra1.1 f1.1 b1.1 sg1.1 "
                  "rg0 b0 sg0 rg1 b1 sg1"}),
         by_hand({"interleaved", 2, 4, 2},
                 {"f0 sa0 f1 sa1 ra0.1 f0.1 sa0.1 ra1.1 f1.1 sa1.1 "
                  "f2 sa2 rg0.1 b0.1 sg0.1 f3 sa3 rg1.1 b1.1 sg1.1 "
                  "ra2.1 f2.1 sa2.1 rg0 b0 ra3.1 f3.1 sa3.1 rg1 b1 "
                  "rg2.1 b2.1 sg2.1 rg3.1 b3.1 sg3.1 rg2 b2 rg3 b3",
                  "ra0 f0 sa0 ra1 f1 sa1 ra0.1 f0.1 b0.1 sg0.1 ra1.1 f1.1 b1.1 sg1.1 "
                  "ra2 f2 sa2 rg0 b0 sg0 ra3 f3 sa3 rg1 b1 sg1 "
                  "ra2.1 f2.1 b2.1 sg2.1 ra3.1 f3.1 b3.1 sg3.1 rg2 b2 sg2 rg3 b3 sg3"}),
         refused_case({"interleaved", 2, 3, 2}, "3"), refused_case({"interleaved", 1, 2, 2}, "one stage"),
         refused_case({"interleaved", 2, 2, 0}, "0 chunks")});
}

TEST_CASE("07.3 interleaved_schedule: right, with its bubble and memory, for all sizes", "[07.3]")
{
    run_all_sizes("interleaved");
}
