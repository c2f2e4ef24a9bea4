// Schedules as lists of numbers, as they travel between the judge and the driver.
#pragma once

#include <vector>

#include "lessons/06_pipeline/schedule.hpp"

namespace pipeline_test {

using namespace shardlings;
using pipeline::Action;
using pipeline::Instruction;
using pipeline::Program;
using pipeline::Schedule;

/// Action, micro-batch and chunk of one instruction after the other.
inline std::vector<double> numbers_of(const Program& program)
{
    std::vector<double> numbers;
    for (const Instruction& i : program) {
        numbers.push_back(static_cast<double>(i.action));
        numbers.push_back(i.micro_batch);
        numbers.push_back(i.chunk);
    }
    return numbers;
}

inline Program program_of(const std::vector<double>& numbers)
{
    Program program;
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
        program.push_back({static_cast<Action>(numbers[i]), static_cast<int>(numbers[i + 1]),
                           static_cast<int>(numbers[i + 2])});
    return program;
}

/// How the case calls the program of a stage.
inline std::string program_name(std::size_t stage)
{
    return fmt::format("program {}", stage);
}

}  // namespace pipeline_test
