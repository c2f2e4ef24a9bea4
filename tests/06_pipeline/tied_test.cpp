#include "lib/machine/tensor/arithmetic.hpp"
#include "tests/06_pipeline/schedule_support.hpp"

using namespace pipeline_test;

namespace {

/// One or more pipelines at the same time, each a list of world ranks in the order of the stages.
struct TiedRun {
    std::string name;
    std::vector<std::vector<int>> pipelines;
    Shape shape{11, 8};
    DType dtype = DType::fp32;
    bool random = false;  // gradients; else 2^rank (i + 1), of which a sum says whose it holds
};

/// Where a rank of the world is.
struct Place {
    int pipeline, stage;
};

Place place_of(const TiedRun& run, int rank)
{
    for (std::size_t p = 0; p < run.pipelines.size(); ++p)
        for (std::size_t s = 0; s < run.pipelines[p].size(); ++s)
            if (run.pipelines[p][s] == rank) return {static_cast<int>(p), static_cast<int>(s)};
    throw Error(fmt::format("rank {} is in no pipeline", rank));
}

int world_size(const TiedRun& run)
{
    int size = 0;
    for (const auto& ranks : run.pipelines) size += static_cast<int>(ranks.size());
    return size;
}

std::vector<double> gradient_of(const TiedRun& run, int rank)
{
    const std::int64_t count = elements_of(run.shape);
    if (run.random) return random_values(fmt::format("tied {}", rank), count, run.dtype);
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(std::ldexp(static_cast<double>(i % 8 + 1), rank));
    return values;
}

Tensor tensor_of(Device& device, const TiedRun& run, int rank)
{
    Tensor tensor(device, run.shape, run.dtype, Category::gradients);
    from_doubles(gradient_of(run, rank), tensor);
    return tensor;
}

std::string check_memory(const RankResult& rank, std::uint64_t allowed)
{
    const auto number = [&](const char* name) { return rank.measured.at(name).get<std::uint64_t>(); };
    const auto buffers = rank.measured.at("peak_by")
                             .at(static_cast<std::size_t>(Category::communication))
                             .get<std::uint64_t>();
    if (number("current") != number("begin"))
        return fmt::format("{} bytes are left in use that were not before",
                           number("current") - number("begin"));
    if (buffers != allowed || number("peak") != number("begin") + allowed)
        return fmt::format(
            "{} bytes more were in use, {} of them communication buffers, expected {}: one gradient",
            number("peak") - number("begin"), buffers, allowed);
    return "";
}

std::vector<std::string> check_rank(const TiedRun& run, const Link& link, int world_rank,
                                    const RankResult& rank)
{
    const Place place = place_of(run, world_rank);
    const std::vector<int>& ranks = run.pipelines[static_cast<std::size_t>(place.pipeline)];
    const int last = static_cast<int>(ranks.size()) - 1;
    if (last == 0 || (place.stage != 0 && place.stage != last))
        return {compare_traffic(rank, -1, 0, 0), check_memory(rank, 0)};
    Device device{DeviceOptions{}};
    const int peer = ranks[static_cast<std::size_t>(last - place.stage)];
    Tensor sum = tensor_of(device, run, world_rank);
    add(tensor_of(device, run, peer), sum);
    const std::uint64_t bytes = sum.bytes();
    return {compare(fmt::format("the sum of both copies' gradients on stage {}: element ", place.stage),
                    rank.outputs.at("gradient"), sum, {}),
            compare_traffic(rank, peer, 1, bytes), check_memory(rank, bytes),
            compare_number("the virtual time, with both directions at once,",
                           rank.measured.at("virtual_seconds").get<double>(),
                           link.seconds(static_cast<double>(bytes)), {})};
}

NamedCase tied_case(const TiedRun& run)
{
    CaseInput input;
    input.operation = "add_tied_gradients";
    const int size = world_size(run);
    for (int rank = 0; rank < size; ++rank) {
        const Place place = place_of(run, rank);
        const auto stages = static_cast<int>(run.pipelines[static_cast<std::size_t>(place.pipeline)].size());
        const bool tied = stages > 1 && (place.stage == 0 || place.stage == stages - 1);
        input.ranks.push_back({{"color", place.pipeline},
                               {"key", place.stage},
                               {"tied", tied},
                               {"peer", stages - 1 - place.stage},
                               {"gradient", tensor_input(run.shape, run.dtype, gradient_of(run, rank))}});
    }
    const Link link = random_link(run.name);
    input.topology.intra = link;
    return {run.name, input,
            [=](const CaseResult& result) {
                std::vector<std::string> messages;
                for (int rank = 0; rank < size; ++rank)
                    for (const std::string& message :
                         check_rank(run, link, rank, result.ranks[static_cast<std::size_t>(rank)]))
                        messages.push_back(on_rank(rank, message));
                return messages;
            },
            "do both ends send before they receive?"};
}

}  // namespace

TEST_CASE("06.3 add_tied_gradients: the two ends have the sum, the middle does nothing", "[06.3]")
{
    std::vector<NamedCase> cases{
        tied_case({"one stage", {{0}}}),
        tied_case({"P = 2", {{0, 1}}}),
        tied_case({"P = 2, a long gradient", {{0, 1}}, {300, 40}, DType::fp64}),
        tied_case({"P = 3", {{0, 1, 2}}}),
        tied_case({"P = 4", {{0, 1, 2, 3}}}),
        tied_case({"P = 4, the stages in another order than the ranks", {{2, 0, 3, 1}}}),
        tied_case({"two pipelines of 2 stages", {{0, 2}, {3, 1}}})};
    for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16})
        cases.push_back(tied_case(
            {fmt::format("P = 3, random {} gradients", name_of(dtype)), {{0, 1, 2}}, {7, 5}, dtype, true}));
    run_and_check("stage", cases);
}
