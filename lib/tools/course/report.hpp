// What Catch2's XML reporter (of version 2 or 3) wrote about a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shardlings {

/// One test case.
struct CaseReport {
    std::string name;
    bool passed = false;
    std::vector<std::string> messages;  // one a failure, as the test worded it
};

struct Report {
    std::vector<CaseReport> cases;
    bool complete = false;  // false when the run ended before the report did
};

/// Reads a report, whole or cut off. Of an assertion that failed, the message is what INFO said before it, or
/// else the assertion itself; of FAIL(text) and of an exception it is the text.
Report read_report(const std::filesystem::path& file);

}  // namespace shardlings
