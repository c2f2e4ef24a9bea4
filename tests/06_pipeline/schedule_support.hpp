// Schedules on the judging side: as inputs, as short text, and compared.
#pragma once

#include <sstream>

#include "tests/06_pipeline/schedule_data.hpp"
#include "tests/lib/run_and_check.hpp"

namespace pipeline_test {

using namespace grade;

/// What is said of an engine that has to be stopped.
inline const std::string if_engine_stuck =
    "does a stage wait for a message that was sent to another rank or with another tag, or a send for its "
    "receiver?";

inline json schedule_inputs(const Schedule& schedule)
{
    json inputs{{"stages", schedule.stages},
                {"micro_batches", schedule.micro_batches},
                {"chunks", schedule.chunks},
                {"programs", schedule.programs.size()}};
    for (std::size_t s = 0; s < schedule.programs.size(); ++s)
        inputs[program_name(s)] = numbers_of(schedule.programs[s]);
    return inputs;
}

/// The programs of a case's outputs.
inline std::vector<Program> output_programs(const RankResult& result)
{
    std::vector<Program> programs;
    for (std::size_t s = 0; result.outputs.contains(program_name(s)); ++s)
        programs.push_back(program_of(result.outputs.at(program_name(s)).get<std::vector<double>>()));
    return programs;
}

/// A program from "ra0 f0 sa0 rg0 b0 sg0": receive and send activation or gradient, forward, backward, each
/// with its micro-batch, and ".1" behind it for chunk 1.
inline Program parse_program(const std::string& text)
{
    static constexpr std::array<const char*, 6> names{"ra", "f", "sa", "rg", "b", "sg"};
    Program program;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const std::size_t number = word.find_first_of("0123456789");
        const std::size_t dot = word.find('.');
        const auto name = std::find(names.begin(), names.end(), word.substr(0, number));
        check(name != names.end(), "'{}' is no instruction", word);
        program.push_back({static_cast<Action>(name - names.begin()), std::stoi(word.substr(number)),
                           dot == std::string::npos ? 0 : std::stoi(word.substr(dot + 1))});
    }
    return program;
}

/// Empty when the programs are the same; else where they part.
inline std::string compare_program(std::size_t stage, const Program& got, const Program& expected)
{
    for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i)
        if (!(got[i] == expected[i]))
            return fmt::format("stage {}: instruction {} is '{}', expected '{}'", stage, i, to_string(got[i]),
                               to_string(expected[i]));
    if (got.size() < expected.size())
        return fmt::format("stage {}: the program ends after {} instructions, expected '{}' next", stage,
                           got.size(), to_string(expected[got.size()]));
    if (got.size() > expected.size())
        return fmt::format("stage {}: the program goes on with '{}' where it should end", stage,
                           to_string(got[expected.size()]));
    return "";
}

/// The same for all stages: the first difference.
inline std::string compare_programs(const std::vector<Program>& got, const std::vector<Program>& expected)
{
    if (got.size() != expected.size())
        return fmt::format("the schedule has {} programs, expected {}: one a stage", got.size(),
                           expected.size());
    for (std::size_t s = 0; s < got.size(); ++s) {
        const std::string problem = compare_program(s, got[s], expected[s]);
        if (!problem.empty()) return problem;
    }
    return "";
}

/// A message unless the case was refused with an error that names all of `needed`.
inline std::string refusal_problem(const RankResult& result, const std::vector<std::string>& needed)
{
    if (!result.outputs.contains("refusal")) return "accepted, expected an Error";
    const auto message = result.outputs.at("refusal").get<std::string>();
    for (const std::string& text : needed)
        if (message.find(text) == std::string::npos)
            return fmt::format("refused with the message '{}', which does not name {}", message, text);
    return "";
}

}  // namespace pipeline_test
