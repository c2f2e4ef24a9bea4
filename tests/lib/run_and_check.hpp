// What a lesson's test does with its cases: runs them and fails with one message about those that are wrong.
#pragma once

#include "lib/tools/grade/judge_cases.hpp"
#include "tests/lib/catch.hpp"

inline void run_and_check(const std::string& file, const std::vector<grade::NamedCase>& cases,
                          double limit = 5.0)
{
    const std::string problems = grade::problems_of(file, cases, limit);
    if (!problems.empty()) FAIL(problems);
    SUCCEED();
}
