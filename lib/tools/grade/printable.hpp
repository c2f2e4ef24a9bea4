// Text of others, made harmless for terminals and reports.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace grade {

/// The text with everything written out that a terminal would obey or an encoding forbids: control characters
/// but newlines and tabs, what turns the direction of writing, and bytes that are not UTF-8, as \x1b. Longer
/// than `bytes` it is cut there, and says so.
std::string printable(std::string_view text, std::size_t bytes = 8192);

}  // namespace grade
