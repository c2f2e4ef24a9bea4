// Lines of a source that a person should read: no exercise needs what they do, and nothing can tell whether
// they do harm.
#pragma once

#include <string>
#include <vector>

namespace grade {

struct LineToRead {
    int number = 0;
    std::string why;
};

/// Lines of code that turn pointers into numbers or back, call addresses, look at the stack, reach into FILE,
/// include headers of the system or write machine code as numbers; the first of each kind. What is in
/// comments is code here.
std::vector<LineToRead> lines_to_read(const std::string& source);

}  // namespace grade
