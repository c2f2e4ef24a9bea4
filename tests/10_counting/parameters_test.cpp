// 10.1 Parameters: of the whole model as published, of every device as the modules have them.
#include "lessons/03_collectives/ring.hpp"
#include "lessons/06_pipeline/stage.hpp"
#include "lessons/06_pipeline/stages.hpp"
#include "tests/10_counting/jobs.hpp"

using namespace counting_test;

namespace {

struct Rough {
    ModelShape shape;
    double attention, mlp, vocabulary, positions;
};

NamedCase rough_case(const Rough& rough)
{
    const ModelShape& shape = rough.shape;
    return {
        fmt::format("L = {}, h = {}, V = {}, T = {}", shape.layers, shape.hidden, shape.vocabulary,
                    shape.sequence),
        one_rank("rough", inputs_of(shape)), [=](const RankResult& result) {
            std::vector<std::string> messages;
            const auto compare_term = [&](const std::string& name, double expected) {
                messages.push_back(compare_number(name, result.outputs.at(name).get<double>(), expected, {}));
            };
            compare_term("attention", rough.attention);
            compare_term("mlp", rough.mlp);
            compare_term("vocabulary", rough.vocabulary);
            compare_term("positions", rough.positions);
            return messages;
        }};
}

/// A single device's buckets add up to the number of parameters that a model is published with.
NamedCase published_case(const ModelShape& shape, std::int64_t parameters)
{
    Job job;
    job.shape = shape;
    return {describe(job), one_rank("buckets", inputs_of(job)), [=](const RankResult& result) {
                std::int64_t sum = 0;
                for (const double elements : result.outputs.at("0 0").get<std::vector<double>>())
                    sum += static_cast<std::int64_t>(elements);
                return std::vector<std::string>{
                    sum == parameters ? ""
                                      : fmt::format("{} elements in all, the model has {}", sum, parameters)};
            }};
}

/// What tensor rank `rank` has of a parameter of lesson 01 (the header of lesson 08.4).
std::int64_t own_elements(const Parameter& parameter, const Job& job, int rank)
{
    const auto ends = [&](const char* end) { return parameter.name.ends_with(end); };
    if (ends("wte.weight"))
        return collectives::chunk_of(job.shape.vocabulary, job.layout.tp, rank).count * job.shape.hidden;
    const bool cut = ends("c_attn.weight") || ends("c_attn.bias") || ends("c_fc.weight") ||
                     ends("c_fc.bias") || ends("c_proj.weight");
    return cut ? parameter.elements() / job.layout.tp : parameter.elements();
}

/// The elements of the parameters that each module of the stage is the first to have.
std::vector<double> elements_of_modules(const Job& job, Place place)
{
    const Layout& layout = job.layout;
    const std::vector<std::int64_t> blocks =
        layout.blocks.empty() ? pipeline::balance_blocks(job.shape, layout.pp * layout.virtual_stages)
                              : layout.blocks;
    const pipeline::Stage stage =
        pipeline::make_stage(pipeline::gpt_parts(job.shape), blocks, layout.pp, place.stage);
    std::vector<double> elements;
    std::vector<const Parameter*> seen;
    for (const auto& module : stage.modules) {
        std::int64_t own = 0;
        for (const Parameter* parameter : module->parameters()) {
            if (std::find(seen.begin(), seen.end(), parameter) != seen.end()) continue;
            seen.push_back(parameter);
            own += own_elements(*parameter, job, place.tensor_rank);
        }
        if (own > 0) elements.push_back(static_cast<double>(own));
    }
    return elements;
}

NamedCase bucket_case(const Job& job)
{
    return place_case("buckets", job, {"elements of bucket"}, elements_of_modules);
}

/// Modules of lesson 08 on as many ranks.
NamedCase real_modules_case(const Job& job)
{
    CaseInput input{"real_modules",
                    std::vector<json>(static_cast<std::size_t>(job.layout.tp), inputs_of(job))};
    return {
        describe(job), input, [=](const CaseResult& result) {
            std::vector<std::string> messages;
            for (int rank = 0; rank < job.layout.tp; ++rank)
                for (int stage = 0; stage < job.layout.pp; ++stage) {
                    const json& outputs = result.ranks[static_cast<std::size_t>(rank)].outputs;
                    const auto of = [&](const char* whose) {
                        return outputs.at(fmt::format("{} {}", whose, stage)).get<std::vector<double>>();
                    };
                    const std::string message =
                        compare_numbers({"elements of bucket"}, of("predicted"), of("real"), job);
                    if (!message.empty())
                        messages.push_back(fmt::format("stage {}, tensor rank {}: {}", stage, rank, message));
                }
            return messages;
        }};
}

Job job_with(const ModelShape& shape, int pp, int tp)
{
    Job job;
    job.shape = shape;
    job.layout.pp = pp;
    job.layout.tp = tp;
    return job;
}

}  // namespace

TEST_CASE("10.1 rough_parameters: the matrices of published models", "[10.1]")
{
    run_simplest_first(
        "parameters",
        {// GPT-3 (Brown et al. 2020, table 2.1), by hand: 12288² = 150994944.
         rough_case({{96, 12288, 96, 2048, 50257}, 57982058496.0, 115964116992.0, 617558016.0, 25165824.0}),
         rough_case({{2, 3, 1, 5, 7}, 72.0, 144.0, 21.0, 15.0}),
         rough_case({{1, 1, 1, 1, 1}, 4.0, 8.0, 1.0, 1.0})});
}

TEST_CASE("10.1 bucket_elements: every parameter of GPT-2 on one device", "[10.1]")
{
    // The numbers of parameters of the four published sets of weights (Radford et al. 2019).
    run_simplest_first("parameters", {published_case({12, 768, 12, 1024, 50257}, 124439808),
                                      published_case({24, 1024, 16, 1024, 50257}, 354823168),
                                      published_case({36, 1280, 20, 1024, 50257}, 774030080),
                                      published_case({48, 1600, 25, 1024, 50257}, 1557611200)});
}

TEST_CASE("10.1 bucket_elements: what the modules of every stage have", "[10.1]")
{
    std::vector<NamedCase> cases{
        bucket_case(job_with({3, 8, 2, 5, 11}, 1, 1)), bucket_case(job_with({3, 8, 2, 5, 11}, 2, 1)),
        bucket_case(job_with({3, 9, 3, 5, 11}, 3, 3)), bucket_case(job_with({2, 12, 4, 7, 13}, 1, 4))};
    for (const Job& job : random_jobs("buckets", 40)) cases.push_back(bucket_case(job));
    run_simplest_first("parameters", cases);
}

TEST_CASE("10.1 bucket_elements: what the modules in parts have", "[10.1]")
{
    Job uneven = job_with({5, 9, 3, 4, 11}, 2, 3);
    uneven.layout.blocks = {1, 4};
    run_simplest_first("parameters",
                       {real_modules_case(uneven), real_modules_case(job_with({4, 6, 3, 5, 10}, 1, 3)),
                        real_modules_case(job_with({3, 8, 2, 3, 13}, 3, 2))});
}
