// The Chrome trace of traces, read back.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/tools/trace/trace.hpp"
#include "tests/lib/folder.hpp"

/// The events of the Chrome trace of `traces` with this "ph".
inline std::vector<nlohmann::json> chrome_events(const std::vector<shardlings::RankTrace>& traces,
                                                 const std::string& phase)
{
    const TemporaryFolder folder;
    shardlings::write_chrome_trace(folder / "t.json", traces);
    const nlohmann::json trace = nlohmann::json::parse(std::ifstream(folder / "t.json"));
    std::vector<nlohmann::json> found;
    for (const nlohmann::json& e : trace.at("traceEvents"))
        if (e.at("ph") == phase) found.push_back(e);
    return found;
}

/// The name of the lane that the slice of this name lies in.
inline std::string lane_of(const std::vector<shardlings::RankTrace>& traces, const std::string& name)
{
    for (const nlohmann::json& slice : chrome_events(traces, "X"))
        for (const nlohmann::json& meta : chrome_events(traces, "M"))
            if (slice.at("name") == name && meta.at("name") == "thread_name" &&
                meta.at("pid") == slice.at("pid") && meta.at("tid") == slice.at("tid"))
                return meta.at("args").at("name");
    return "none";
}
