#include "lib/tools/trace/trace.hpp"

#include <filesystem>

#include "lib/machine/base/error.hpp"

namespace shardlings {

RankTrace trace_of(const Device& device)
{
    return {device.rank(), device.budget(), device.events(), device.memory_samples()};
}

TraceFormat trace_format_of(const std::string& path)
{
    const std::string ending = std::filesystem::path(path).extension().string();
    check(ending == ".json" || ending == ".svg",
          "'{}' is no name for a trace: expected one that ends in .json (for Perfetto) or .svg (a picture)",
          path);
    return ending == ".svg" ? TraceFormat::svg : TraceFormat::chrome_json;
}

void write_trace(const std::string& path, std::span<const RankTrace> traces, const PictureOptions& options)
{
    if (trace_format_of(path) == TraceFormat::svg)
        write_svg_timeline(path, traces, options);
    else
        write_chrome_trace(path, traces);
}

}  // namespace shardlings
