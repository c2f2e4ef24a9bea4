// JUnit's XML, which CI systems show.
#pragma once

#include <string>

#include "lib/tools/marks/marked.hpp"

namespace shardlings {

/// A suite for each lesson, a test case for each test of a part. A test that fails is a failure; a part that
/// does not compile or was not graded is one case with an error; a part that was not submitted is skipped.
std::string junit_xml(const Marked& marked);

}  // namespace shardlings
