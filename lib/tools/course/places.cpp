#include "lib/tools/course/places.hpp"

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace fs = std::filesystem;

Places find_places(const fs::path& build)
{
    fs::path root = fs::current_path();
    while (!fs::exists(Places{root, {}}.manifest())) {
        check(root.has_relative_path(),
              "there is no lessons/manifest.toml in this folder or above it: run this within the repository");
        root = root.parent_path();
    }
    return {root, root / build};
}

}  // namespace shardlings
