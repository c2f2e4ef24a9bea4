// Errors that a user can cause, as one message that says what was wrong, what was expected, what to do.
#pragma once

#include <fmt/core.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace shardlings {

/// Bad input of any kind; what() is the whole message for the user.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A part of an exercise that is still open.
struct NotImplemented : Error {
    using Error::Error;
};

/// Throws Error with the formatted message unless `condition` holds.
template <class... Args>
void check(bool condition, fmt::format_string<Args...> message, Args&&... args)
{
    if (!condition) throw Error(fmt::format(message, std::forward<Args>(args)...));
}

/// What an open exercise calls: throws NotImplemented naming the part and the line to fill in.
[[noreturn]] void not_implemented(std::string_view part,
                                  std::source_location where = std::source_location::current());

}  // namespace shardlings
