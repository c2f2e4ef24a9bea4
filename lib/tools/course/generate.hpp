// Exercises are generated from solutions: the same file with what is to be written taken out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/tools/course/places.hpp"

namespace shardlings {

/// The exercise that a solution's source gives. The text between `// BEGIN SOLUTION 01.3 layer_norm_forward`
/// and `// END SOLUTION` becomes a comment that says where to look and a call of
/// not_implemented("01.3 layer_norm_forward"), indented alike; the include that declares the call is added.
/// `file` is for messages. Error naming file and line when the marks do not pair up, name no part or a part
/// of another file, or when there are none.
std::string make_skeleton(std::string_view source, const std::string& file, const Lesson& lesson);

/// A file of exercises/ and what the solutions give for it.
struct Skeleton {
    std::filesystem::path file;
    std::string text;
};

/// All exercises of a lesson, each file once. Error when solutions/NN_name and the manifest name different
/// files.
std::vector<Skeleton> skeletons_of(const Places& places, const Lesson& lesson);

/// What differs between exercises/ and what the solutions give, one line a file: "exercises/…: is missing".
/// Nothing when all is as generated.
std::vector<std::string> differences(const Places& places, const Manifest& manifest);

}  // namespace shardlings
