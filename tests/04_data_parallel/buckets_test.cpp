#include "tests/04_data_parallel/models.hpp"
#include "tests/04_data_parallel/support.hpp"

using namespace data_parallel_test;

namespace {

struct Bucketing {
    std::string name;
    ModelSizes model;
    int degree = 1;
    DType dtype = DType::fp32;
    std::int64_t bucket_bytes = 1;

    std::int64_t size() const { return static_cast<std::int64_t>(size_of(dtype)); }
};

struct GotBucket {
    std::int64_t first, last, elements, padded;
    std::vector<std::int64_t> parameters, offsets;
};

std::vector<GotBucket> got_buckets(const RankResult& result)
{
    const auto list = [&](const char* name) { return indices(result, name); };
    const std::vector<std::int64_t> counts = list("entry_counts"), parameters = list("parameters"),
                                    offsets = list("offsets");
    std::vector<GotBucket> buckets;
    std::int64_t next = 0;
    for (std::size_t b = 0; b < counts.size(); ++b) {
        buckets.push_back({list("first_module")[b],
                           list("last_module")[b],
                           list("elements")[b],
                           list("padded")[b],
                           {},
                           {}});
        buckets[b].parameters.assign(parameters.begin() + next, parameters.begin() + next + counts[b]);
        buckets[b].offsets.assign(offsets.begin() + next, offsets.begin() + next + counts[b]);
        next += counts[b];
    }
    return buckets;
}

std::string text_of(const std::vector<std::int64_t>& parameters)
{
    std::string text;
    for (const std::int64_t parameter : parameters)
        text += fmt::format("{}p{}", text.empty() ? "" : " ", parameter);
    return text.empty() ? "none" : text;
}

/// Every parameter once.
std::string partition_problem(const Bucketing& one, const std::vector<GotBucket>& got)
{
    for (std::size_t p = 0; p < one.model.sizes.size(); ++p) {
        std::vector<std::size_t> places;
        for (std::size_t b = 0; b < got.size(); ++b)
            places.insert(
                places.end(),
                static_cast<std::size_t>(std::ranges::count(got[b].parameters, static_cast<std::int64_t>(p))),
                b);
        if (places.empty())
            return fmt::format("parameter p{} is in none of the {} buckets: nobody would communicate it", p,
                               got.size());
        if (places.size() > 1)
            return fmt::format("parameter p{} is in bucket {} and in bucket {}: it would be updated twice", p,
                               places[0], places[1]);
    }
    return "";
}

/// One after the other without a gap, then the padding.
std::string buffer_problem(const Bucketing& one, const std::vector<GotBucket>& got)
{
    for (std::size_t b = 0; b < got.size(); ++b) {
        std::int64_t end = 0;
        for (std::size_t i = 0; i < got[b].parameters.size(); ++i) {
            if (got[b].offsets[i] != end)
                return fmt::format(
                    "bucket {}: p{} begins at element {}, expected {}, where the one before it "
                    "ends",
                    b, got[b].parameters[i], got[b].offsets[i], end);
            end += one.model.sizes.at(static_cast<std::size_t>(got[b].parameters[i]));
        }
        if (got[b].elements != end)
            return fmt::format("bucket {} says that it has {} elements; its parameters have {}", b,
                               got[b].elements, end);
        const std::int64_t padded = (end + one.degree - 1) / one.degree * one.degree;
        if (got[b].padded != padded)
            return fmt::format(
                "bucket {} of {} elements is padded to {}, expected {}, the next multiple of "
                "the degree {}",
                b, end, got[b].padded, padded, one.degree);
    }
    return "";
}

/// Which modules and parameters are in which bucket.
std::string contents_problem(const Bucketing& one, const std::vector<GotBucket>& got)
{
    ParameterModel model(one.model);
    const std::vector<data_parallel::Bucket> expected =
        data_parallel::make_buckets(model.modules(), one.degree, one.dtype, one.bucket_bytes);
    for (std::size_t b = 0; b < std::min(got.size(), expected.size()); ++b) {
        const auto first = static_cast<std::int64_t>(expected[b].first_module);
        const auto last = static_cast<std::int64_t>(expected[b].last_module);
        if (got[b].first != first || got[b].last != last)
            return fmt::format(
                "bucket {} has modules [{}, {}), expected [{}, {}): coming from the last module, "
                "the one that makes it {} bytes or more ends it",
                b, got[b].first, got[b].last, first, last, one.bucket_bytes);
        std::vector<std::int64_t> parameters;
        for (const FlatEntry& entry : expected[b].entries)
            parameters.push_back(model.index_of(entry.parameter));
        if (got[b].parameters != parameters)
            return fmt::format(
                "bucket {}, modules [{}, {}), has {}, expected {}: each with the first module that "
                "uses it, in the modules' order",
                b, first, last, text_of(got[b].parameters), text_of(parameters));
    }
    return got.size() == expected.size()
               ? ""
               : fmt::format("there are {} buckets, expected {}", got.size(), expected.size());
}

std::string used_problem(const Bucketing& one, const std::vector<GotBucket>& got, const RankResult& result)
{
    const std::vector<std::int64_t> used = indices(result, "used"), counts = indices(result, "used_counts");
    if (counts.size() != one.model.modules.size())
        return fmt::format("buckets_of_modules speaks of {} modules, expected {}", counts.size(),
                           one.model.modules.size());
    auto next = used.begin();
    for (std::size_t module = 0; module < counts.size(); ++module) {
        const std::vector<std::int64_t> of_module(next, next + counts[module]);
        next += counts[module];
        std::vector<std::int64_t> expected;
        for (std::size_t b = 0; b < got.size(); ++b)
            if (std::ranges::any_of(one.model.modules[module], [&](std::int32_t parameter) {
                    return std::ranges::count(got[b].parameters, parameter) > 0;
                }))
                expected.push_back(static_cast<std::int64_t>(b));
        if (of_module != expected)
            return fmt::format(
                "buckets_of_modules: module {} uses {} buckets, expected {}, in ascending order", module,
                of_module.size(), expected.size());
    }
    return "";
}

std::vector<std::string> check_buckets(const Bucketing& one, const RankResult& result)
{
    const std::vector<GotBucket> got = got_buckets(result);
    for (const std::string& message :
         {partition_problem(one, got), buffer_problem(one, got), contents_problem(one, got),
          used_problem(one, got, result), result.outputs.at("binding").get<std::string>()})
        if (!message.empty()) return {message};
    return {};
}

json inputs_of(const Bucketing& one, bool refused)
{
    json inputs = model_inputs(one.model);
    inputs.update({{"degree", one.degree},
                   {"dtype", name_of(one.dtype)},
                   {"bucket_bytes", one.bucket_bytes},
                   {"refused", refused}});
    return inputs;
}

std::string full_name(const Bucketing& one)
{
    return fmt::format("{}, degree {}, bucket_bytes {}, {}", one.name, one.degree, one.bucket_bytes,
                       name_of(one.dtype));
}

NamedCase buckets_case(const Bucketing& one)
{
    return {full_name(one), one_rank("make_buckets", inputs_of(one, false)),
            [=](const RankResult& result) { return check_buckets(one, result); }};
}

NamedCase refused_case(const Bucketing& one, const std::string& needed)
{
    return {full_name(one), one_rank("make_buckets", inputs_of(one, true)), [=](const RankResult& result) {
                return std::vector<std::string>{refusal_problem(result, needed)};
            }};
}

}  // namespace

TEST_CASE("04.2 make_buckets: a padded partition in the order of the backward pass", "[04.2]")
{
    const std::vector<Bucketing> models{{"a tied GPT of two blocks", tied_gpt},
                                        {"three parameters used twice or more", several_ties},
                                        {"modules without parameters of their own", empty_modules},
                                        {"one parameter of one element", single},
                                        {"a tie around one module", tie_alone}};
    std::vector<NamedCase> cases;
    std::size_t number = 0;
    for (Bucketing one : models)
        for (const int degree : {1, 2, 3, 4, 7, 8, 64})
            for (const std::int64_t elements : {0, 1, 6, 7, 29, 30, 58, 59, 1000}) {
                one.degree = degree;
                one.dtype = all_dtypes[number++ % all_dtypes.size()];
                // Exactly so many elements, and one byte more.
                one.bucket_bytes = std::max<std::int64_t>(elements * one.size(), 1);
                cases.push_back(buckets_case(one));
                ++one.bucket_bytes;
                cases.push_back(buckets_case(one));
            }
    for (const std::int64_t bytes : {0, -1})
        cases.push_back(refused_case({"a GPT", tied_gpt, 2, DType::fp32, bytes}, "--bucket-bytes"));
    cases.push_back(refused_case({"a GPT", tied_gpt, 0, DType::fp32, 1}, "0 ranks"));
    run_and_check("buckets", cases);
}
