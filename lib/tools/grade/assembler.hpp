// Machine code that a source file brings along.
#pragma once

#include <string>

namespace grade {

/// Where a source file says `asm`, in its own lines or by a macro that they use: "line 12: …". Empty when it
/// does not. `preprocessed`: what the compiler made of it, with line markers. What headers say is theirs; so
/// a source that has line markers of its own, by which its lines could pass for a header's, is refused as
/// well.
std::string assembler_in(const std::string& source, const std::string& preprocessed);

}  // namespace grade
