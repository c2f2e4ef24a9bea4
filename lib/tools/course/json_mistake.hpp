// What is wrong with a text that a person wrote and that is no JSON.
#pragma once

#include <cstddef>
#include <string>

namespace shardlings {

/// "3:7: " (line and column, from 1) and the mistake in words: a comment, a comma behind the last entry,
/// single quotes, a comma that is missing, … `at` is the byte at which reading the text as JSON failed, from
/// 0.
std::string json_mistake(const std::string& text, std::size_t at);

}  // namespace shardlings
