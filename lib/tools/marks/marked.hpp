// What the reports are made of.
#pragma once

#include <string>

#include "lib/tools/course/grade.hpp"

namespace shardlings {

/// A submission and what became of it.
struct Marked {
    std::string name;  // of the folder or archive; text from outside
    Grade grade;
    std::string error;     // why it could not be graded at all, or empty
    double seconds = 0.0;  // that grading took
};

}  // namespace shardlings
