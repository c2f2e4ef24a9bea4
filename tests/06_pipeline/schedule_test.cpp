#include "lessons/06_pipeline/schedule.hpp"

#include <set>

#include "tests/06_pipeline/schedule_support.hpp"

using namespace pipeline_test;

namespace {

/// One pass on a stage of a schedule of two micro-batches, as text.
struct Pass {
    int stages, chunks, stage, chunk, micro_batch;
    bool forward;
    std::string expected;
};

NamedCase append_case(const Pass& pass, const std::string& before)
{
    const std::string name = fmt::format(
        "P = {}, V = {}: the {} pass of micro-batch {} through chunk {} of stage {}, behind {} "
        "instructions",
        pass.stages, pass.chunks, pass.forward ? "forward" : "backward", pass.micro_batch, pass.chunk,
        pass.stage, parse_program(before).size());
    const json inputs{{"stages", pass.stages},   {"micro_batches", 2},
                      {"chunks", pass.chunks},   {"stage", pass.stage},
                      {"chunk", pass.chunk},     {"micro_batch", pass.micro_batch},
                      {"forward", pass.forward}, {"before", numbers_of(parse_program(before))}};
    return {name, one_rank("append_pass", inputs), [=](const RankResult& result) {
                const std::vector<Program> got = output_programs(result);
                return std::vector{compare_program(static_cast<std::size_t>(pass.stage),
                                                   got.empty() ? Program{} : got.front(),
                                                   parse_program(before + " " + pass.expected))};
            }};
}

/// P stages, M micro-batches and every stage's program.
struct Naive {
    int stages, micro_batches;
    std::vector<std::string> programs;
};

NamedCase naive_case(const Naive& naive)
{
    const json inputs{{"stages", naive.stages}, {"micro_batches", naive.micro_batches}};
    return {
        fmt::format("P = {}, M = {}", naive.stages, naive.micro_batches), one_rank("naive_schedule", inputs),
        [=](const RankResult& result) {
            std::vector<Program> expected;
            for (const std::string& program : naive.programs) expected.push_back(parse_program(program));
            if (!result.outputs.contains("sizes")) return std::vector<std::string>{"it was refused"};
            const auto sizes = result.outputs.at("sizes").get<std::vector<int>>();
            const std::vector<int> expected_sizes{naive.stages, naive.micro_batches, 1};
            return std::vector<std::string>{
                compare_programs(output_programs(result), expected),
                sizes == expected_sizes ? "" : "its stages, micro_batches or chunks are not those asked for"};
        }};
}

/// One micro-batch after the other through a stage, from what it does with number 0.
std::string repeated(const std::string& of_first, int micro_batches)
{
    std::string text;
    for (int m = 0; m < micro_batches; ++m)
        for (const char letter : of_first) text += letter == '0' ? std::to_string(m) : std::string(1, letter);
    return text;
}

/// Who sends what to whom: "activation of micro-batch 1 from stage 0 to 1".
std::multiset<std::string> messages_of(const std::vector<Program>& programs, bool sends)
{
    std::multiset<std::string> messages;
    for (int s = 0; s < static_cast<int>(programs.size()); ++s)
        for (const Instruction& i : programs[static_cast<std::size_t>(s)]) {
            const bool activation =
                i.action == Action::send_activation || i.action == Action::receive_activation;
            const bool is_send = i.action == Action::send_activation || i.action == Action::send_gradient;
            if (i.action == Action::forward || i.action == Action::backward || is_send != sends) continue;
            const int step = activation ? 1 : -1;
            const int from = is_send ? s : s - step;
            messages.insert(fmt::format("{} of micro-batch {} from stage {} to {}",
                                        activation ? "activation" : "gradient", i.micro_batch, from,
                                        from + step));
        }
    return messages;
}

NamedCase matching_case(int stages, int micro_batches)
{
    const json inputs{{"stages", stages}, {"micro_batches", micro_batches}};
    return {
        fmt::format("P = {}, M = {}", stages, micro_batches), one_rank("naive_schedule", inputs),
        [=](const RankResult& result) {
            const std::vector<Program> programs = output_programs(result);
            const std::multiset<std::string> sent = messages_of(programs, true);
            const std::multiset<std::string> received = messages_of(programs, false);
            std::vector<std::string> messages;
            for (const std::string& message : sent)
                if (sent.count(message) != received.count(message))
                    messages.push_back(fmt::format("the {} is sent {} times and received {} times", message,
                                                   sent.count(message), received.count(message)));
            const auto expected = static_cast<std::size_t>(2 * (stages - 1) * micro_batches);
            if (sent.size() != expected || received.size() != expected)
                messages.push_back(
                    fmt::format("{} messages are sent and {} received, expected {} = 2 (P − 1) M of each",
                                sent.size(), received.size(), expected));
            return messages;
        }};
}

NamedCase refused_case(int stages, int micro_batches)
{
    return {fmt::format("P = {}, M = {}", stages, micro_batches),
            one_rank("naive_schedule", {{"stages", stages}, {"micro_batches", micro_batches}}),
            [=](const RankResult& result) {
                return std::vector{refusal_problem(result, {fmt::format("{} stages", stages),
                                                            fmt::format("{} micro-batches", micro_batches)})};
            }};
}

}  // namespace

TEST_CASE("06.2 append_pass: a pass with its messages", "[06.2]")
{
    const std::vector<Pass> passes{
        {1, 1, 0, 0, 0, true, "f0"},
        {1, 1, 0, 0, 1, false, "b1"},
        {3, 1, 0, 0, 1, true, "f1 sa1"},
        {3, 1, 1, 0, 0, true, "ra0 f0 sa0"},
        {3, 1, 2, 0, 1, true, "ra1 f1"},
        {3, 1, 2, 0, 0, false, "b0 sg0"},
        {3, 1, 1, 0, 1, false, "rg1 b1 sg1"},
        {3, 1, 0, 0, 1, false, "rg1 b1"},
        // Interleaved: only the first stage's first chunk and the last stage's last are at an end.
        {2, 2, 0, 0, 0, true, "f0 sa0"},
        {2, 2, 1, 0, 0, true, "ra0 f0 sa0"},
        {2, 2, 0, 1, 1, true, "ra1.1 f1.1 sa1.1"},
        {2, 2, 1, 1, 0, true, "ra0.1 f0.1"},
        {2, 2, 1, 1, 1, false, "b1.1 sg1.1"},
        {2, 2, 0, 1, 0, false, "rg0.1 b0.1 sg0.1"},
        {2, 2, 1, 0, 1, false, "rg1 b1 sg1"},
        {2, 2, 0, 0, 1, false, "rg1 b1"},
        {3, 3, 2, 1, 0, true, "ra0.1 f0.1 sa0.1"},
        {3, 3, 0, 2, 1, false, "rg1.2 b1.2 sg1.2"},
    };
    std::vector<NamedCase> cases;
    for (const Pass& pass : passes) {
        cases.push_back(append_case(pass, ""));
        cases.push_back(append_case(pass, "ra0 f0 sa0"));
    }
    run_and_check("schedule", cases);
}

TEST_CASE("06.2 naive_schedule: the programs by hand", "[06.2]")
{
    run_and_check("schedule",
                  {naive_case({1, 1, {"f0 b0"}}), naive_case({1, 3, {"f0 b0 f1 b1 f2 b2"}}),
                   naive_case({2, 1, {"f0 sa0 rg0 b0", "ra0 f0 b0 sg0"}}),
                   naive_case({2, 2, {"f0 sa0 rg0 b0 f1 sa1 rg1 b1", "ra0 f0 b0 sg0 ra1 f1 b1 sg1"}}),
                   naive_case({3, 1, {"f0 sa0 rg0 b0", "ra0 f0 sa0 rg0 b0 sg0", "ra0 f0 b0 sg0"}}),
                   naive_case({3,
                               7,
                               {repeated("f0 sa0 rg0 b0 ", 7), repeated("ra0 f0 sa0 rg0 b0 sg0 ", 7),
                                repeated("ra0 f0 b0 sg0 ", 7)}})});
}

TEST_CASE("06.2 naive_schedule: every send has its receive; what cannot be is refused", "[06.2]")
{
    std::vector<NamedCase> cases;
    for (int stages = 1; stages <= 8; ++stages)
        for (const int micro_batches : {1, 2, 5}) cases.push_back(matching_case(stages, micro_batches));
    for (const auto& [stages, micro_batches] : {std::pair{0, 4}, std::pair{3, 0}, std::pair{-2, 1}})
        cases.push_back(refused_case(stages, micro_batches));
    run_and_check("schedule", cases);
}
