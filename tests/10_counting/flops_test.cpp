// 10.3 FLOPs: the published table, terms by hand, and what real devices are charged for.
#include "lessons/10_counting/flops.hpp"
#include "lessons/06_pipeline/stages.hpp"
#include "tests/10_counting/jobs.hpp"

using namespace counting_test;

namespace {

const std::vector<std::string> terms{
    "embedding", "qkv", "attention_logits", "softmax", "attention_sum", "projection", "mlp", "output"};

json inputs_of(const counting::FlopsShape& shape)
{
    return {{"layers", shape.layers},        {"hidden", shape.hidden},       {"mlp", shape.mlp},
            {"heads", shape.heads},          {"head_size", shape.head_size}, {"sequence", shape.sequence},
            {"vocabulary", shape.vocabulary}};
}

/// The terms of a shape, in the order of `terms`.
NamedCase terms_case(const counting::FlopsShape& shape, const std::vector<double>& expected)
{
    return {fmt::format("L = {}, h = {}, f = {}, a = {}, k = {}, s = {}, V = {}", shape.layers, shape.hidden,
                        shape.mlp, shape.heads, shape.head_size, shape.sequence, shape.vocabulary),
            one_rank("sequence_flops", inputs_of(shape)), [=](const RankResult& result) {
                std::vector<std::string> messages;
                for (std::size_t i = 0; i < terms.size(); ++i)
                    messages.push_back(
                        compare_number(terms[i], result.outputs.at(terms[i]).get<double>(), expected[i], {}));
                return messages;
            }};
}

/// Hoffmann et al. 2022, Training Compute-Optimal Large Language Models, appendix F and table A4: forward and
/// backward pass of a sequence of 2048 tokens, a vocabulary of 32000, without embedding and output. The paper
/// prints the ratio to 6 N D with two digits after the point; these are its formulas with more.
struct ChinchillaRow {
    double layers, hidden, mlp, heads;
    double parameters, flops, ratio;
};
const std::vector<ChinchillaRow> chinchilla{
    {10, 640, 2560, 10, 73825280, 929877196800, 1.025036},
    {20, 1024, 4096, 16, 305707008, 4135248199680, 1.100817},
    {24, 1280, 5120, 10, 552604160, 7353453772800, 1.082919},
    {26, 1792, 7168, 14, 1143453696, 14670316437504, 1.044094},
    {28, 2048, 8192, 16, 1593126912, 20220437594112, 1.032902},
    {40, 3584, 14336, 28, 6796274688, 83021046743040, 0.994114},
};

NamedCase chinchilla_case(const ChinchillaRow& row)
{
    const counting::FlopsShape shape{row.layers, row.hidden, row.mlp, row.heads, row.hidden / row.heads,
                                     2048,       32000};
    json inputs = inputs_of(shape);
    inputs["parameters"] = row.parameters;
    return {fmt::format("L = {}, h = {} of table A4", row.layers, row.hidden), one_rank("training", inputs),
            [=](const RankResult& result) {
                const json& out = result.outputs;
                // Two products of 2 s V h forward, and three times that in training.
                const double with_ends = row.flops + 12.0 * 2048.0 * 32000.0 * row.hidden;
                const double ratio_with_ends = with_ends / (6.0 * row.parameters * 2048.0);
                // Half a unit of the last of six digits, and the rounding of the quotient; then the rounding
                // of two products and a quotient, each half an epsilon, on both sides.
                const Tolerance digits{1e-15, 0.5e-6};
                const Tolerance rounding{4 * std::numeric_limits<double>::epsilon(), 0.0};
                return std::vector<std::string>{
                    compare_number("training FLOPs without the ends",
                                   out.at("training without the ends").get<double>(), row.flops, {}),
                    compare_number("training FLOPs with the ends",
                                   out.at("training with the ends").get<double>(), with_ends, {}),
                    compare_number("ratio to 6 N D", out.at("ratio without the ends").get<double>(),
                                   row.ratio, digits),
                    compare_number("ratio to 6 N D with the ends",
                                   out.at("ratio with the ends").get<double>(), ratio_with_ends, rounding)};
            }};
}

/// A term of each power of two, so that a sum says what it is made of.
NamedCase forward_case()
{
    json inputs;
    for (std::size_t i = 0; i < terms.size(); ++i) inputs[terms[i]] = static_cast<double>(1 << i);
    return {"terms of 1, 2, 4, … 128", one_rank("forward", inputs), [](const RankResult& result) {
                return std::vector<std::string>{
                    compare_number("the sum without embedding and output",
                                   result.outputs.at("without the ends").get<double>(), 126.0, {}),
                    compare_number("the sum of all", result.outputs.at("with the ends").get<double>(), 255.0,
                                   {})};
            }};
}

/// From lesson 06's costs of a block and the head, and the attention's two products of 2 T h a token each.
std::vector<double> expected_flops(const Job& job, Place place)
{
    const ModelShape& shape = job.shape;
    const bool last = place.stage == job.layout.pp - 1;
    const auto tokens = static_cast<double>(job.batch / job.layout.dp * shape.sequence);
    const auto layers = static_cast<double>(counting::blocks_of_stage(job, place.stage));
    const double block = layers * pipeline::block_flops(shape) / job.layout.tp;
    const double attention =
        layers * 4.0 * static_cast<double>(shape.sequence * shape.hidden) / job.layout.tp;
    const double head = !last ? 0.0
                              : pipeline::head_flops(shape) / static_cast<double>(shape.vocabulary) *
                                    static_cast<double>(counting::vocabulary_of_rank(job, place.tensor_rank));
    double again = 0.0;
    if (job.recompute == Recompute::selective) again = attention;
    if (job.recompute == Recompute::full) again = block + (job.layout.pp > 1 ? head : 0.0);
    return {tokens * (3.0 * (block + head) + again)};
}

/// Fewer than 16 roundings on both sides, each half an epsilon of a sum of positive terms.
NamedCase device_case(const Job& job)
{
    return {describe(job), one_rank("gemm_flops", counting_test::inputs_of(job)),
            [=](const RankResult& result) {
                std::vector<std::string> messages;
                for (int stage = 0; stage < job.layout.pp; ++stage)
                    for (int rank = 0; rank < job.layout.tp; ++rank)
                        messages.push_back(compare_number(
                            fmt::format("FLOPs of stage {}, tensor rank {}", stage, rank),
                            result.outputs.at(fmt::format("{} {}", stage, rank)).at(0).get<double>(),
                            expected_flops(job, {stage, rank})[0],
                            {16 * std::numeric_limits<double>::epsilon(), 0.0}));
                return messages;
            }};
}

Job single_stage(const ModelShape& shape, int tp, Recompute recompute)
{
    Job job;
    job.shape = shape;
    job.layout.tp = tp;
    job.batch = 2;
    job.recompute = recompute;
    return job;
}

NamedCase real_flops_case(const Job& job)
{
    return real_case("real_flops", job, "FLOPs",
                     [](const RankResult& rank) { return rank.measured.at("flops").get<double>(); });
}

}  // namespace

TEST_CASE("10.3 sequence_flops: every term by hand", "[10.3]")
{
    run_simplest_first(
        "flops",
        {// 2·13·17·3; 5·6·13·3·(7·2); 5·2·169·14; 5·3·7·169; the same; 5·2·13·14·3; 5·4·13·3·11.
         terms_case({5, 3, 11, 7, 2, 13, 17}, {1326, 16380, 23660, 17745, 23660, 5460, 8580, 1326}),
         terms_case({1, 1, 1, 1, 1, 1, 1}, {2, 6, 2, 3, 2, 2, 4, 2}),
         terms_case({0, 4, 16, 2, 2, 10, 7}, {560, 0, 0, 0, 0, 0, 0, 560})});
}

TEST_CASE("10.3 SequenceFlops::forward: which terms are the ends", "[10.3]")
{
    run_simplest_first("flops", {forward_case()});
}

TEST_CASE("10.3 ratio_to_6nd: table A4 of the Chinchilla paper", "[10.3]")
{
    std::vector<NamedCase> cases;
    for (const ChinchillaRow& row : chinchilla) cases.push_back(chinchilla_case(row));
    run_simplest_first("flops", cases);
}

TEST_CASE("10.3 device_gemm_flops: every device of random layouts", "[10.3]")
{
    std::vector<NamedCase> cases;
    for (const Job& job : random_jobs("flops", 60)) cases.push_back(device_case(job));
    run_simplest_first("flops", cases);
}

TEST_CASE("10.3 device_gemm_flops: what a device is charged for", "[10.3]")
{
    run_simplest_first("flops", {real_flops_case(single_stage({3, 6, 3, 5, 10}, 3, Recompute::none)),
                                 real_flops_case(single_stage({2, 9, 3, 7, 11}, 3, Recompute::selective)),
                                 real_flops_case(single_stage({2, 12, 6, 4, 13}, 3, Recompute::full))});
}
