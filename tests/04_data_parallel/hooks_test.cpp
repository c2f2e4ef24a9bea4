#include "tests/04_data_parallel/models.hpp"
#include "tests/04_data_parallel/support.hpp"

using namespace data_parallel_test;

namespace {

// --- the calls --------------------------------------------------------------------------------------------

std::vector<std::string> expected_calls(std::int64_t modules, std::int64_t micro_batches)
{
    std::vector<std::string> calls;
    for (std::int64_t m = 0; m < micro_batches; ++m) {
        for (std::int64_t i = 0; i < modules; ++i) {
            calls.push_back(fmt::format("values.before_forward({})", i));
            calls.push_back(fmt::format("forward of module {} over micro-batch {}", i, m));
            calls.push_back(fmt::format("values.after_forward({})", i));
        }
        for (std::int64_t i = modules; i-- > 0;) {
            calls.push_back(fmt::format("values.before_backward({})", i));
            calls.push_back(fmt::format("gradients.before_backward({})", i));
            calls.push_back(fmt::format("backward of module {} over micro-batch {}", i, m));
            calls.push_back(fmt::format("values.after_backward({})", i));
            calls.push_back(fmt::format("gradients.after_backward({}, micro-batch {})", i, m));
        }
    }
    return calls;
}

std::string calls_problem(const std::string& got, const std::vector<std::string>& expected)
{
    std::string rest = got;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::string call = rest.substr(0, rest.find("; "));
        if (call != expected[i])
            return fmt::format("call number {} is {}, expected {}{}", i + 1, call.empty() ? "missing" : call,
                               expected[i], i == 0 ? "" : fmt::format(", after {}", expected[i - 1]));
        rest.erase(0, call.size() + 2);
    }
    return rest.empty() ? "" : fmt::format("after all calls that were expected came {}", rest);
}

NamedCase hooked_case(std::int64_t modules, std::int64_t micro_batches)
{
    return {fmt::format("{} modules, {} micro-batches", modules, micro_batches),
            one_rank("hooked", {{"modules", modules}, {"micro_batches", micro_batches}}),
            [=](const RankResult& result) {
                const json& out = result.outputs;
                return std::vector<std::string>{
                    calls_problem(out.at("calls").get<std::string>(), expected_calls(modules, micro_batches)),
                    compare_number("what the last module's forward returns", out.at("y").get<double>(),
                                   10.0 + static_cast<double>(modules), {}),
                    compare_number("what the first module's backward returns", out.at("dx").get<double>(),
                                   3.0 * std::exp2(modules), {})};
            }};
}

// --- the shards gathered
// ------------------------------------------------------------------------------------

constexpr double old_value = -1.0;

struct Gathering {
    ModelSizes model;
    int ranks;
    DType dtype;
    std::int64_t bucket_bytes;
    std::uint64_t seed = 11;
};

/// Small whole numbers, which every dtype holds.
std::vector<double> new_values(const data_parallel::Bucket& bucket, std::size_t b)
{
    std::vector<double> values;
    for (std::int64_t i = 0; i < bucket.padded; ++i)
        values.push_back(static_cast<double>(1 + (i + 7 * static_cast<std::int64_t>(b)) % 200));
    return values;
}

/// The values that a bucket starts from.
std::string initial_problem(const Gathering& one, data_parallel::Bucket& bucket, std::size_t b,
                            const RankResult& result)
{
    Device device{DeviceOptions{}};
    Tensor values(device, {bucket.padded}, one.dtype, Category::parameters);
    values.fill_zero();
    for (const FlatEntry& entry : bucket.entries)
        initialise(*entry.parameter, one.seed, 0,
                   values.buffer().part(entry.offset, entry.parameter->elements()));
    return compare(fmt::format("the initial values of bucket {}", b),
                   result.outputs.at(fmt::format("initial {}", b)), values, {});
}

std::string gathered_problem(const Gathering& one, const data_parallel::Bucket& bucket, std::size_t b,
                             int rank, const RankResult& result)
{
    const json expected = tensor_input({bucket.padded}, one.dtype, new_values(bucket, b));
    const json& got = result.outputs.at(fmt::format("gathered {}", b));
    const std::string message = compare(fmt::format("bucket {}", b), got, expected, {});
    if (message.empty()) return "";
    const auto values = got.at("values").get<std::vector<double>>();
    for (int owner = 0; owner < one.ranks; ++owner) {
        const data_parallel::Chunk shard = bucket.shard(one.ranks, owner);
        const auto first = values.begin() + shard.offset;
        if (owner != rank && std::count(first, first + shard.count, old_value) == shard.count)
            return fmt::format("{}: rank {}'s shard is as it was here before, not as rank {} changed it",
                               message, owner, owner);
    }
    return message;
}

std::vector<std::string> check_gathering(const Gathering& one, const CaseResult& result)
{
    const ParameterModel model(one.model);
    std::vector<data_parallel::Bucket> buckets =
        data_parallel::make_buckets(model.modules(), one.ranks, one.dtype, one.bucket_bytes);
    std::int64_t elements = 0;
    for (const data_parallel::Bucket& bucket : buckets) elements += bucket.padded / one.ranks;
    const auto messages_sent = static_cast<std::uint64_t>(one.ranks - 1);
    std::vector<std::string> messages;
    for (int rank = 0; rank < one.ranks && join(messages).empty(); ++rank) {
        const RankResult& own = result.ranks[static_cast<std::size_t>(rank)];
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            messages.push_back(on_rank(rank, initial_problem(one, buckets[b], b, own)));
            messages.push_back(on_rank(rank, gathered_problem(one, buckets[b], b, rank, own)));
        }
        messages.push_back(on_rank(
            rank,
            compare_traffic(own, one.ranks == 1 ? -1 : (rank + 1) % one.ranks, messages_sent * buckets.size(),
                            messages_sent * static_cast<std::uint64_t>(elements) * size_of(one.dtype))));
        if (own.outputs.at("control bytes").get<double>() > 0.0)
            messages.push_back(on_rank(rank, "sent values over group.control, expected group.data"));
        if (own.measured.at("peak") != own.measured.at("begin"))
            messages.push_back(on_rank(rank, "gathering needs no memory besides the values"));
    }
    return messages;
}

NamedCase gathering_case(const Gathering& one)
{
    const ParameterModel model(one.model);
    const std::vector<data_parallel::Bucket> buckets =
        data_parallel::make_buckets(model.modules(), one.ranks, one.dtype, one.bucket_bytes);
    json inputs = model_inputs(one.model);
    inputs.update({{"dtype", name_of(one.dtype)},
                   {"seed", one.seed},
                   {"bucket_bytes", one.bucket_bytes},
                   {"old", old_value}});
    for (std::size_t b = 0; b < buckets.size(); ++b)
        inputs[fmt::format("new {}", b)] = new_values(buckets[b], b);
    CaseInput input{"gather_shards", {}};
    input.ranks.assign(static_cast<std::size_t>(one.ranks), inputs);
    return {
        fmt::format("gather_shards of {} buckets, p = {}, {}", buckets.size(), one.ranks, name_of(one.dtype)),
        input, [=](const CaseResult& result) { return check_gathering(one, result); }};
}

}  // namespace

TEST_CASE("04.5 hooks around a module's passes: which, and when", "[04.5]")
{
    std::vector<NamedCase> cases;
    for (const std::int64_t modules : {1, 2, 4})
        for (const std::int64_t micro_batches : {1, 3}) cases.push_back(hooked_case(modules, micro_batches));
    run_and_check("hooks", cases);
}

TEST_CASE("04.5 replicated values: how they start, and their shards gathered", "[04.5]")
{
    std::vector<NamedCase> cases;
    std::size_t number = 0;
    for (const int ranks : {2, 3, 4, 1})
        for (const ModelSizes& model : {tied_gpt, single})
            for (const std::int64_t bucket_bytes : {1, 100, 100000})
                cases.push_back(
                    gathering_case({model, ranks, all_dtypes[number++ % all_dtypes.size()], bucket_bytes}));
    run_and_check("hooks", cases);
}
