// What a JSON library says is wrong with a file.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace shardlings {

/// What an exception says, without the library's name of it, "[json.exception.…] ", in front.
inline std::string problem_of(const std::exception& error)
{
    const std::string_view all = error.what();
    const auto end = all.starts_with("[json.exception.") ? all.find("] ") : std::string_view::npos;
    return std::string(end == std::string_view::npos ? all : all.substr(end + 2));
}

}  // namespace shardlings
