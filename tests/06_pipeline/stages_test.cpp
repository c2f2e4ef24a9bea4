#include "lessons/06_pipeline/stages.hpp"

#include <algorithm>
#include <numeric>

#include "tests/06_pipeline/gpt_reference.hpp"
#include "tests/06_pipeline/schedule_support.hpp"

using namespace pipeline_test;

namespace {

std::string shape_name(const ModelShape& shape)
{
    return fmt::format("L = {}, h = {}, T = {}, V = {}", shape.layers, shape.hidden, shape.sequence,
                       shape.vocabulary);
}

// --- FLOPs ------------------------------------------------------------------------------------------------

struct Counted {
    double embedding, block, head;
};

/// What the matrix products of lesson 01's modules count, per token of a sequence.
Counted counted_flops(const ModelShape& shape)
{
    Device device{DeviceOptions{}};
    const Modules gpt = transformer::make_gpt(shape);
    FlatParameters flat(device, make_flat_layout(parameters_of(gpt), 1), DType::fp32);
    const std::vector<std::int32_t> ids(static_cast<std::size_t>(shape.sequence), 0);
    const MicroBatch batch{1, shape.sequence, ids, ids, 1.0, 0};
    std::vector<double> counts;
    Tensor x;
    for (const auto& module : gpt) {
        Saved unused;
        const double before = device.flops();
        x = module->forward(batch, std::move(x), unused);
        counts.push_back((device.flops() - before) / static_cast<double>(shape.sequence));
    }
    return {counts.front(), counts.at(1), counts.back()};
}

std::vector<std::string> compare_flops(const RankResult& result, const Counted& expected,
                                       const std::string& source)
{
    return {
        compare_number("block_flops" + source, result.outputs.at("block").get<double>(), expected.block, {}),
        compare_number("head_flops" + source, result.outputs.at("head").get<double>(), expected.head, {})};
}

NamedCase counted_case(const ModelShape& shape)
{
    return {shape_name(shape), one_rank("flops", shape_inputs(shape)), [=](const RankResult& result) {
                return compare_flops(result, counted_flops(shape),
                                     ", against what the modules of lesson 01 count per token,");
            }};
}

// --- balance ----------------------------------------------------------------------------------------------

using Blocks = std::vector<std::int64_t>;

std::string text_of(const Blocks& blocks)
{
    std::string text;
    for (const std::int64_t count : blocks) text += (text.empty() ? "" : ",") + std::to_string(count);
    return text;
}

double largest_cost(const ModelShape& shape, const Blocks& blocks)
{
    double largest = 0.0;
    for (std::size_t c = 0; c < blocks.size(); ++c)
        largest = std::max(largest, static_cast<double>(blocks[c]) * pipeline::block_flops(shape) +
                                        (c + 1 == blocks.size() ? pipeline::head_flops(shape) : 0.0));
    return largest;
}

/// Every way to give `left` blocks to `chunks` more chunks, the ones with most in front first.
void for_each_partition(std::int64_t left, std::int64_t chunks, Blocks& blocks,
                        const std::function<void(const Blocks&)>& run)
{
    if (chunks == 1) blocks.push_back(left);
    for (std::int64_t own = left - chunks + 1; own >= 1 && chunks > 1; --own) {
        blocks.push_back(own);
        for_each_partition(left - own, chunks - 1, blocks, run);
        blocks.pop_back();
    }
    if (chunks == 1) {
        run(blocks);
        blocks.pop_back();
    }
}

/// The first of the cheapest partitions, in that order.
Blocks best_partition(const ModelShape& shape, std::int64_t chunks)
{
    Blocks best, blocks;
    for_each_partition(shape.layers, chunks, blocks, [&](const Blocks& one) {
        if (best.empty() || largest_cost(shape, one) < largest_cost(shape, best)) best = one;
    });
    return best;
}

std::string compare_blocks(const ModelShape& shape, const Blocks& got, std::int64_t chunks)
{
    const std::string name = fmt::format("{} chunks: the blocks are {}", chunks, text_of(got));
    if (static_cast<std::int64_t>(got.size()) != chunks)
        return fmt::format("{}, expected {} numbers", name, chunks);
    if (std::accumulate(got.begin(), got.end(), std::int64_t{0}) != shape.layers)
        return fmt::format("{}, which are not {} in all", name, shape.layers);
    if (std::ranges::min(got) < 1) return fmt::format("{}, expected one or more in every chunk", name);
    const Blocks expected = best_partition(shape, chunks);
    if (got == expected) return "";
    const double cost = largest_cost(shape, got);
    const double best = largest_cost(shape, expected);
    if (cost > best)
        return fmt::format(
            "{}: the largest cost of a chunk, the head's with the last one's, is {:.4g}, with {} it is "
            "{:.4g}",
            name, cost, text_of(expected), best);
    return fmt::format("{}, expected {}: of equally good ones that with most blocks in earlier chunks", name,
                       text_of(expected));
}

/// With all numbers of chunks.
NamedCase balance_case(const ModelShape& shape)
{
    json inputs = shape_inputs(shape);
    std::vector<std::int64_t> chunks(static_cast<std::size_t>(shape.layers));
    std::iota(chunks.begin(), chunks.end(), 1);
    inputs["chunks"] = chunks;
    return {shape_name(shape), one_rank("balance_blocks", inputs), [=](const RankResult& result) {
                std::vector<std::string> messages;
                for (const std::int64_t count : chunks) {
                    Blocks got;
                    for (const double blocks :
                         result.outputs.at(fmt::format("blocks {}", count)).get<std::vector<double>>())
                        got.push_back(static_cast<std::int64_t>(blocks));
                    messages.push_back(compare_blocks(shape, got, count));
                }
                return messages;
            }};
}

/// A vocabulary of which the head costs about `blocks` blocks.
std::int64_t vocabulary_of(double blocks, const ModelShape& shape)
{
    return std::max<std::int64_t>(
        1, std::llround(blocks * pipeline::block_flops(shape) / (2.0 * static_cast<double>(shape.hidden))));
}

NamedCase refused_case(int chunks)
{
    json inputs = shape_inputs({4, 8, 2, 16, 32});
    inputs["chunks"] = chunks;
    return {fmt::format("4 layers in {} chunks", chunks), one_rank("balance_refused", inputs),
            [=](const RankResult& result) {
                return std::vector{refusal_problem(result, {"4 layers", fmt::format("{} ", chunks)})};
            }};
}

}  // namespace

TEST_CASE("06.1 block_flops and head_flops: what the modules count", "[06.1]")
{
    std::vector<NamedCase> cases;
    for (const ModelShape& shape :
         {ModelShape{1, 8, 2, 5, 11}, ModelShape{2, 12, 3, 1, 7}, ModelShape{1, 16, 4, 24, 300}})
        cases.push_back(counted_case(shape));
    // 24 h² + 4 T h and 2 h V of GPT-2 small (124M), worked out by hand.
    const ModelShape gpt2{12, 768, 12, 1024, 50257};
    cases.push_back({"GPT-2 small", one_rank("flops", shape_inputs(gpt2)), [](const RankResult& result) {
                         return compare_flops(result, {0.0, 17301504.0, 77194752.0}, "");
                     }});
    run_and_check("stages", cases);
}

TEST_CASE("06.1 balance_blocks: the smallest largest cost, of all partitions; no chunk without a block",
          "[06.1]")
{
    std::vector<NamedCase> cases;
    for (const std::int64_t layers : {1, 2, 3, 5, 8, 11, 13})
        for (const double head : {0.001, 0.5, 1.0, 1.7, 4.46, 9.0, 40.0}) {
            ModelShape shape{layers, 32, 2, 48, 1};
            shape.vocabulary = vocabulary_of(head, shape);
            cases.push_back(balance_case(shape));
        }
    // The head costs exactly one, two or three blocks: 2 h V = n (24 h² + 4 T h), V = n (12 h + 2 T).
    for (const std::int64_t n : {1, 2, 3}) cases.push_back(balance_case({9, 16, 2, 10, n * 212}));
    // Whatever the seed draws.
    for (int i = 0; i < 8; ++i) {
        const std::vector<double> numbers =
            random_values(fmt::format("balance {}", i), 3, DType::fp64, 1000.0);
        const auto draw = [&](std::size_t k, std::int64_t limit) {
            return 1 + std::llround(std::abs(numbers[k])) % limit;
        };
        cases.push_back(balance_case({draw(0, 12), 8, 2, draw(1, 64), draw(2, 900)}));
    }
    for (const int chunks : {0, -1, 5, 100}) cases.push_back(refused_case(chunks));
    run_and_check("stages", cases);
}
