// A driver's side of the talk with its judge.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/machine/comm/session.hpp"
#include "lib/machine/device/device.hpp"

namespace grade {

using nlohmann::json;

class Channel {
  public:
    virtual ~Channel() = default;
    /// The cases, an array; of each, the inputs of this rank as "inputs".
    virtual json read_cases() = 0;
    virtual void begin_case(std::size_t index, const shardlings::Device& device) = 0;
    virtual void begin_measuring() = 0;
    virtual void end_measuring() = 0;
    virtual void result(std::size_t index, const json& result) = 0;
};

/// By pipes where the judge has made some, else by files. Rank and size are those of the job.
std::unique_ptr<Channel> open_channel(const std::string& folder, const shardlings::MpiSession& session);

}  // namespace grade
