// Text from outside, made fit for a file.
#pragma once

#include <string>
#include <string_view>

namespace shardlings {

/// Valid UTF-8 without control characters: what is neither becomes U+FFFD or a space.
std::string printable(std::string_view text);

}  // namespace shardlings
