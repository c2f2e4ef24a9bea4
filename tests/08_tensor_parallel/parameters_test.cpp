// 08.4 Which part of every parameter a rank has, how it starts, and which degrees are refused.
#include "tests/08_tensor_parallel/model_runs.hpp"

using namespace tensor_parallel_test;

namespace {

/// Which dimension of the global tensor is cut; −1: none. c_attn's is seen as (h, 3, h).
int cut_dimension(const std::string& name)
{
    const auto ends = [&](const char* end) { return name.ends_with(end); };
    if (ends("wte.weight") || ends("c_proj.weight")) return 0;
    if (ends("c_attn.weight")) return 2;
    if (ends("c_attn.bias") || ends("c_fc.weight")) return 1;
    return ends("c_fc.bias") ? 0 : -1;
}

/// The slice that the lesson's header gives rank `rank`.
Slice expected_slice(const GptRun& run, const Parameter& whole, int rank)
{
    Slice slice = whole.slice;
    const std::int64_t h = run.shape.hidden;
    if (whole.name.ends_with("c_attn.weight")) slice = Slice::whole({h, 3, h});
    if (whole.name.ends_with("c_attn.bias")) slice = Slice::whole({3, h});
    const int dimension = cut_dimension(whole.name);
    if (dimension < 0) return slice;
    const auto d = static_cast<std::size_t>(dimension);
    const collectives::Chunk chunk = collectives::chunk_of(slice.global[d], run.at.group.p, rank);
    slice.offset[d] = chunk.offset;
    slice.shape[d] = chunk.count;
    return slice;
}

/// The elements of the whole that a slice has, in its order.
std::vector<std::int64_t> elements(const Slice& slice)
{
    std::vector<std::int64_t> all;
    slice.for_each_run([&](std::int64_t, std::int64_t global, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) all.push_back(global + i);
    });
    return all;
}

std::string compare_slice(const std::string& name, const Slice& got, const Slice& expected)
{
    const std::vector<std::int64_t> own = elements(got), right = elements(expected);
    if (elements_of(got.global) == elements_of(expected.global) && own == right) return "";
    return fmt::format("{} is the part {} at {} of {}, expected {} at {} of {}", name, to_string(got.shape),
                       json(got.offset).dump(), to_string(got.global), to_string(expected.shape),
                       json(expected.offset).dump(), to_string(expected.global));
}

std::string compare_start(const Parameter& whole, const json& out, bool replicated)
{
    const auto got = out.at("starts " + whole.name).get<std::vector<double>>();
    const double deviation = whole.initialisation.standard_deviation;
    if (got[0] != whole.initialisation.constant || got[1] != deviation)
        return fmt::format("{} starts at {} with deviation {}, expected {} with {}, as the whole", whole.name,
                           got[0], got[1], whole.initialisation.constant, deviation);
    if ((got[2] != 0.0) != whole.decays)
        return fmt::format("{} {}, expected the opposite: matrices decay, vectors do not", whole.name,
                           got[2] != 0.0 ? "decays" : "does not decay");
    if ((got[3] != 0.0) != replicated)
        return fmt::format("is_replicated says {} of {}", got[3] != 0.0, whole.name);
    return "";
}

/// All ranks' slices together: every element once, or of a replicated parameter on every rank.
std::string compare_cover(const Parameter& whole, const GptRun& run, const CaseResult& result)
{
    std::vector<int> times(static_cast<std::size_t>(whole.elements()), 0);
    for (const RankResult& rank : result.ranks)
        for (const std::int64_t i : elements(slice_of(rank.outputs, whole.name)))
            if (i >= 0 && i < whole.elements()) ++times[static_cast<std::size_t>(i)];
    const int expected = cut_dimension(whole.name) < 0 ? run.at.group.p : 1;
    for (std::size_t i = 0; i < times.size(); ++i)
        if (times[i] != expected)
            return fmt::format("element {} of {} is on {} ranks, expected {}", i, whole.name, times[i],
                               expected);
    return "";
}

std::vector<std::string> check_parameters(const GptRun& run, const CaseResult& result)
{
    const SingleProcess single(run, run.at.dtype);
    const ByName values = single.values();
    std::string names;
    for (const FlatEntry& entry : single.layout().entries) names += entry.parameter->name + "\n";
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const json& out = run.at.group.at(result, rank).outputs;
        if (out.at("names") != names)
            return {on_rank(rank, "its parameters have other names than lesson 01's, or another order")};
        for (const FlatEntry& entry : single.layout().entries) {
            const Parameter& whole = *entry.parameter;
            const Slice slice = expected_slice(run, whole, rank);
            messages.push_back(on_rank(rank, compare_slice(whole.name, slice_of(out, whole.name), slice)));
            messages.push_back(on_rank(
                rank, compare_start(whole, out, run.at.group.p == 1 || cut_dimension(whole.name) < 0)));
            const json right = tensor_input(slice.shape, run.at.dtype, cut(slice, values.at(whole.name)));
            messages.push_back(on_rank(rank, compare("the initial value of " + whole.name,
                                                     out.at("value " + whole.name), right, {})));
        }
    }
    for (const FlatEntry& entry : single.layout().entries)
        messages.push_back(compare_cover(*entry.parameter, run, result));
    return messages;
}

/// check_degree, or make_gpt on as many ranks, of a shape that fits or not; the error names `needed`.
NamedCase degree_case(const ModelShape& shape, int degree, bool makes, const std::string& needed)
{
    GptRun run{{"replicated", {makes ? degree : 1, false}, 1, 1, DType::fp32}, shape};
    CaseInput input = run.case_input("degree");
    for (json& rank : input.ranks) rank.update({{"degree", degree}, {"makes", makes}});
    return {fmt::format("{} of {} heads, a vocabulary of {}, T = {}", makes ? "make_gpt" : "check_degree",
                        shape.heads, shape.vocabulary, degree),
            input, [=](const CaseResult& result) {
                std::vector<std::string> messages;
                for (const RankResult& rank : result.ranks) {
                    const std::string refusal = rank.outputs.value("refusal", "");
                    if (refusal.empty() != needed.empty())
                        messages.push_back(refusal.empty() ? "accepted, expected an Error"
                                                           : "it is right, but was refused: " + refusal);
                    else if (refusal.find(needed) == std::string::npos)
                        messages.push_back(fmt::format(
                            "refused with the message '{}', which does not name '{}'", refusal, needed));
                }
                return messages;
            }};
}

}  // namespace

TEST_CASE("08.4 make_gpt: every rank's part of the parameters and of their initial values", "[08.4]")
{
    std::vector<NamedCase> cases;
    for (const int p : {1, 2, 3, 4, 8})
        for (const std::int64_t vocabulary : {13, 24}) {
            const DType dtype = all_dtypes[static_cast<std::size_t>((p + vocabulary) % 4)];
            const GptRun run{{boundaries[vocabulary % 2 == 0 ? 0 : 1], {p, vocabulary == 24}, 2, 5, dtype},
                             shape_for(p, vocabulary)};
            cases.push_back({run.name(), run.case_input("gpt_parameters"),
                             [=](const CaseResult& result) { return check_parameters(run, result); }});
        }
    run_and_check("model", cases);
}

TEST_CASE("08.4 check_degree: heads that T divides, a vocabulary with an entry for each rank", "[08.4]")
{
    const ModelShape four{1, 8, 4, 4, 11};
    const ModelShape eight_heads_five_entries{1, 16, 8, 4, 5};
    run_and_check(
        "model",
        {degree_case(four, 1, false, ""), degree_case(four, 2, false, ""), degree_case(four, 4, false, ""),
         degree_case(four, 3, false, "--heads 4"), degree_case(four, 8, false, "--tp 8"),
         degree_case(four, 0, false, "--tp 0"), degree_case(four, -2, false, "--tp -2"),
         degree_case(eight_heads_five_entries, 4, false, ""),
         degree_case(eight_heads_five_entries, 8, false, "--vocab 5"),
         degree_case({1, 15, 5, 4, 11}, 5, false, ""), degree_case({1, 16, 8, 4, 8}, 8, false, ""),
         degree_case(four, 3, true, "--heads 4"), degree_case(four, 2, true, "")});
}
