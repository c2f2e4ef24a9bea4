// 10.2 The bytes that stay: table 1 of the ZeRO paper, numbers by hand, every bucket padded.
#include <cmath>

#include "tests/10_counting/jobs.hpp"

using namespace counting_test;

namespace {

const std::vector<std::string> names{"bytes of parameters", "bytes of gradients",
                                     "bytes of optimizer states"};

/// Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, table 1: GB
/// (1e9 bytes) of model states on each of Nd devices for 7.5e9 parameters in mixed precision, K = 12.
struct PaperRow {
    int degree;
    std::vector<double> stages;       // 1, 2, 3, as printed
    std::vector<double> last_digits;  // the unit of the last digit printed
};
const std::vector<PaperRow> paper{
    {1, {120, 120, 120}, {1, 1, 1}},
    {4, {52.5, 41.3, 30}, {0.1, 0.1, 1}},
    {16, {35.6, 21.6, 7.5}, {0.1, 0.1, 0.1}},
    {64, {31.4, 16.6, 1.88}, {0.1, 0.1, 0.01}},
    {256, {30.4, 15.4, 0.47}, {0.1, 0.1, 0.01}},
    {1024, {30.1, 15.1, 0.12}, {0.1, 0.1, 0.01}},
};
constexpr double paper_parameters = 7.5e9;

/// A model of about as many parameters, its bytes scaled to the paper's number.
NamedCase paper_case(const PaperRow& row, int stage)
{
    Job job;
    job.shape = {36, 4096, 32, 2048, 50257};
    job.layout.dp = row.degree;
    job.layout.zero = stage;
    job.dtype = DType::fp16;
    job.batch = row.degree;
    const auto column = static_cast<std::size_t>(stage - 1);
    const double printed = row.stages[column], last_digit = row.last_digits[column];
    const double scale = paper_parameters / static_cast<double>(job.shape.parameters());
    // L + 2 buckets, each padded by fewer elements than there are devices, of at most 16 bytes each.
    const double padding = static_cast<double>((job.shape.layers + 2) * (row.degree - 1)) * 16.0 / 1e9;
    return {fmt::format("7.5e9 parameters, stage {} on {} devices", stage, row.degree),
            one_rank("states", inputs_of(job)), [=](const RankResult& result) {
                double bytes = 0.0;
                for (const double part : result.outputs.at("0 0").get<std::vector<double>>()) bytes += part;
                const double gigabytes = bytes * scale / 1e9;
                // Half a unit of the last digit printed, the padding, and what the division here rounds.
                const bool good = std::abs(gigabytes - printed) <= 0.5 * last_digit + scale * padding + 1e-9;
                return std::vector<std::string>{
                    good ? "" : fmt::format("{:.4g} GB in all, table 1 says {}", gigabytes, printed)};
            }};
}

/// One device of one stage, by hand.
struct ByHand {
    int dp, zero;
    DType dtype;
    std::vector<double> bytes;
};

/// L = 1, h = 2, a = 1, T = 3, V = 4. Buckets: the embedding 4 · 2 + 3 · 2 = 14; the block 12 · 4 + 13 · 2 =
/// 74; the last layer norm 4.
NamedCase hand_case(const ByHand& hand)
{
    Job job;
    job.shape = {1, 2, 1, 3, 4};
    job.layout.dp = hand.dp;
    job.layout.zero = hand.zero;
    job.dtype = hand.dtype;
    job.batch = hand.dp;
    return place_case("states", job, names, [=](const Job&, Place) { return hand.bytes; });
}

/// Every bucket has the elements that the modules have, and is cut into dp shards of the same size.
std::vector<double> expected_states(const Job& job, Place place)
{
    std::int64_t whole = 0, shard = 0;
    for (const std::int64_t elements : counting::bucket_elements(job, place)) {
        const std::int64_t own = elements / job.layout.dp + (elements % job.layout.dp == 0 ? 0 : 1);
        shard += own;
        whole += own * job.layout.dp;
    }
    static const std::map<DType, std::pair<double, double>> element_and_states{
        {DType::fp64, {8, 16}}, {DType::fp32, {4, 8}}, {DType::bf16, {2, 12}}, {DType::fp16, {2, 12}}};
    const auto [element, states] = element_and_states.at(job.dtype);
    const auto held = [&](int from) { return static_cast<double>(job.layout.zero >= from ? shard : whole); };
    return {element * held(3), element * held(2), states * held(1)};
}

NamedCase states_case(const Job& job)
{
    return place_case("states", job, names, expected_states);
}

}  // namespace

TEST_CASE("10.2 state_bytes: table 1 of the ZeRO paper", "[10.2]")
{
    std::vector<NamedCase> cases;
    for (const PaperRow& row : paper)
        for (const int stage : {1, 2, 3}) cases.push_back(paper_case(row, stage));
    run_simplest_first("states", cases);
}

TEST_CASE("10.2 state_bytes: a small model by hand", "[10.2]")
{
    // 92 elements; on 3 devices 15 + 75 + 6 = 96 with the padding, 32 a device; on 5 devices 15 + 75 + 5 =
    // 95, 19 a device.
    run_simplest_first(
        "states",
        {hand_case({1, 0, DType::fp32, {368, 368, 736}}), hand_case({1, 3, DType::fp32, {368, 368, 736}}),
         hand_case({1, 1, DType::bf16, {184, 184, 1104}}), hand_case({1, 2, DType::fp64, {736, 736, 1472}}),
         hand_case({3, 0, DType::bf16, {192, 192, 1152}}), hand_case({3, 1, DType::bf16, {192, 192, 384}}),
         hand_case({3, 2, DType::fp16, {192, 64, 384}}), hand_case({3, 3, DType::fp16, {64, 64, 384}}),
         hand_case({5, 0, DType::fp32, {380, 380, 760}}), hand_case({5, 1, DType::fp64, {760, 760, 304}}),
         hand_case({5, 2, DType::fp32, {380, 76, 152}}), hand_case({5, 3, DType::fp64, {152, 152, 304}})});
}

TEST_CASE("10.2 state_bytes: every device of random layouts", "[10.2]")
{
    std::vector<NamedCase> cases;
    for (const Job& job : random_jobs("states", 60)) cases.push_back(states_case(job));
    run_simplest_first("states", cases);
}
