// Which part of each matrix two ranks have, in a block with h = 8 and 4 heads and a vocabulary of 11.
#include <set>
#include <string>

#include "lessons/08_tensor_parallel/run.hpp"

using namespace lesson;

namespace {

/// "0-3 8-11": runs of the last dimensions' indices, or of the first dimension's when that is what is cut.
std::string describe(const Slice& slice)
{
    const bool rows = slice.shape.front() < slice.global.front();
    const std::int64_t columns = elements_of(slice.global) / slice.global.front();
    std::set<std::int64_t> indices;
    slice.for_each_run([&](std::int64_t, std::int64_t global, std::int64_t count) {
        for (std::int64_t i = global; i < global + count; ++i)
            indices.insert(rows ? i / columns : i % columns);
    });
    std::string text = rows ? "rows" : "columns";
    for (auto i = indices.begin(); i != indices.end();) {
        const std::int64_t first = *i;
        std::int64_t last = first;
        while (++i != indices.end() && *i == last + 1) last = *i;
        text += fmt::format(" {}-{}", first, last);
    }
    return text;
}

std::string parts_of(Comm& group)
{
    const ModelShape shape{1, 8, 4, 4, 11};
    const auto boundary = boundary_of(group, false);
    const Modules modules = tensor_parallel::make_gpt(*boundary, shape, {});
    std::string text;
    for (const Parameter* parameter : parameters_of(modules))
        if (parameter->decays && parameter->slice.shape != parameter->slice.global)
            text += fmt::format("  {:<24}{:<10}{}\n", parameter->name, to_string(parameter->slice.global),
                                describe(parameter->slice));
    return text;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        Device device({.rank = session.rank(), .topology = {.devices_per_node = 2}});
        Comm world = Comm::world(device);
        const std::string text = parts_of(world);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
        const auto all = gather_bytes(world, std::span(bytes, text.size()));
        for (std::size_t rank = 0; rank < all.size(); ++rank)
            fmt::print("rank {}\n{}", rank, std::string(all[rank].begin(), all[rank].end()));
        return 0;
    });
}
