#include "tests/09_3d/step_case.hpp"

using namespace grid_test;
using pipeline_test::Batch;

namespace {

/// Sums of up to 120 rows, 48 columns or 13 entries in another order, through a chain of some 30 of them for
/// 5 blocks, forward and backward, and over ranks and micro-batches: 10^3 roundings of u of what a gradient's
/// terms are, which are some ten times the largest gradient of the parameter where they cancel most.
double tolerance_of(const GridRun& grid)
{
    if (grid.dp * grid.tp == 1) return 0.0;  // the same sums in the same order
    return 1e4 * epsilon_of(grid.dtype) / 2.0;
}

/// The global batch of a call: as many targets as half of the first micro-batch's do not count, so that
/// micro-batches and ranks count different numbers of tokens.
Batch batch_of(const StepRun& run, std::size_t call)
{
    const std::int64_t sequences = run.sequences * run.micro_batches * run.grid.dp;
    const std::int64_t masked = (run.sequences * run.grid.shape().sequence + 1) / 2;
    Batch batch =
        pipeline_test::make_batch(sequences, run.micro_batches * run.grid.dp, run.grid.shape(), masked);
    // Another order of the same tokens for each call.
    const auto shift = static_cast<std::ptrdiff_t>(call);
    std::rotate(batch.inputs.begin(), batch.inputs.begin() + shift, batch.inputs.end());
    std::rotate(batch.targets.begin() + masked, batch.targets.begin() + masked + shift, batch.targets.end());
    return batch;
}

/// What lesson 02 gives on one device for one call.
struct Expected {
    double loss;
    Numbers gradients;

    Expected(const StepRun& run, std::size_t call)
    {
        pipeline_test::Gpt gpt(run.grid.shape(), run.grid.dtype);
        const Batch batch = batch_of(run, call);
        loss = training::accumulate_gradients(gpt.modules,
                                              training::split_batch(batch.whole(), batch.micro_batches),
                                              run.calls[call].loss_scale);
        gradients = numbers_of(gpt.flat, &Parameter::gradient);
    }
};

std::string call_name(const StepRun& run, std::size_t k)
{
    const StepCall& call = run.calls[k];
    if (call.evaluates) return fmt::format("call {}, evaluate_loss", k + 1);
    return fmt::format("call {}, accumulate_gradients{}", k + 1, call.recompute ? " recomputed" : "");
}

std::string cause_of(const GridRun& grid, double got, double expected)
{
    const double ratio = got / expected;
    const auto is = [ratio](double factor) { return std::abs(ratio - factor) < 1e-6; };
    if (got == 0.0) return ": only the last stage has it after the passes, the others must be told";
    if (grid.tp > 1 && is(grid.tp))
        return ": all tensor-parallel ranks of a group know the same loss, which "
               "counts once";
    if (grid.pp > 1 && is(grid.pp)) return ": each pipeline's loss counts once";
    if (grid.dp > 1 && is(1.0 / grid.dp))
        return ": token_weight is of the global batch, so the losses of the data-parallel ranks are added up";
    if (grid.dp > 1 && ratio < 1.0) return ": is it the loss of the own micro-batches only?";
    return "";
}

std::vector<std::string> compare_loss(const StepRun& run, std::size_t k, const Expected& expected,
                                      const json& out)
{
    const auto got = out.at(fmt::format("loss {}", k)).get<double>();
    const std::string message = compare_number("the loss", got, expected.loss, {tolerance_of(run.grid), 0.0});
    return {message.empty() ? "" : message + cause_of(run.grid, got, expected.loss)};
}

/// With `recompute`, each stage of several runs every forward pass twice.
std::string compare_flops(const StepRun& run, std::size_t k, const json& out)
{
    const auto flops = [&](std::size_t call) { return out.at(fmt::format("flops {}", call)).get<double>(); };
    if (!run.calls[k].recompute) return "";
    double evaluation = 0.0, plain = 0.0;
    for (std::size_t call = 0; call < k; ++call)
        (run.calls[call].evaluates ? evaluation : plain) = flops(call);
    const double more = run.grid.pp > 1 ? evaluation : 0.0;
    // Layers count whole numbers of FLOPs, which fp64 adds exactly.
    if (flops(k) - plain == more) return "";
    return fmt::format("{} FLOPs with recompute and {} without, expected {} more with it: {}", flops(k),
                       plain, more,
                       more > 0.0 ? "each forward pass once more" : "of one stage the modules do it");
}

std::string compare_memory(std::size_t k, bool evaluates, const json& out)
{
    const auto begin = out.at("in use at first").get<double>();
    const auto end = out.at(fmt::format("in use {}", k)).get<double>();
    if (end <= begin) return "";
    return fmt::format("{} bytes are in use afterwards, {} were at first: {}", end, begin,
                       evaluates ? "are the fetched values released?" : "what is not freed after backward?");
}

std::vector<std::string> compare_call(const StepRun& run, std::size_t k, const Expected& expected,
                                      const json& out)
{
    const bool evaluates = run.calls[k].evaluates;
    std::vector<std::string> messages = compare_loss(run, k, expected, out);
    if (evaluates) {
        if (out.at(fmt::format("kept {}", k)).get<double>() == 0.0)
            messages.push_back("the gradients are not what they were before: an evaluation changes nothing");
    } else {
        for (std::string& message :
             compare_held(fmt::format("gradient {}", k), out, expected.gradients, tolerance_of(run.grid)))
            messages.push_back(std::move(message));
    }
    messages.push_back(compare_memory(k, evaluates, out));
    messages.push_back(compare_flops(run, k, out));
    return messages;
}

/// Every rank must come to the same bits.
std::string compare_losses(std::size_t k, const CaseResult& result)
{
    const std::string key = fmt::format("loss {}", k);
    const auto first = result.ranks[0].outputs.at(key).get<double>();
    for (std::size_t rank = 1; rank < result.ranks.size(); ++rank) {
        const auto other = result.ranks[rank].outputs.at(key).get<double>();
        if (other != first)
            return fmt::format(
                "the loss is {:.17g} on rank 0 and {:.17g} on rank {}, expected the same on all", first,
                other, rank);
    }
    return "";
}

std::vector<std::string> compare_step(const StepRun& run, const CaseResult& result)
{
    std::vector<std::string> messages;
    const auto add = [&](std::size_t k, const std::string& message) {
        if (!message.empty()) messages.push_back(call_name(run, k) + ": " + message);
    };
    for (std::size_t k = 0; k < run.calls.size(); ++k) {
        const Expected expected(run, k);
        for (std::size_t rank = 0; rank < result.ranks.size(); ++rank)
            for (const std::string& message : compare_call(run, k, expected, result.ranks[rank].outputs))
                add(k, on_rank(static_cast<int>(rank), message));
        add(k, compare_losses(k, result));
        // The tied embedding is a bucket of its own on both ends, so that its sums have one order.
        if (!run.calls[k].evaluates && run.grid.bucket_bytes == 1)
            for (const std::string& message : compare_copies(run.grid, fmt::format("gradient {}", k), result))
                add(k, message);
    }
    return messages;
}

}  // namespace

std::string StepRun::name() const
{
    return fmt::format("{}, {}, {} chunks, M = {}, {}, buckets of {} bytes", grid.name(), schedule,
                       grid.blocks.size(), micro_batches, name_of(grid.dtype), grid.bucket_bytes);
}

NamedCase grid_test::step_case(const StepRun& run)
{
    json inputs = run.grid.inputs();
    std::vector<std::int32_t> tokens, targets, evaluates, recomputes;
    std::vector<double> loss_scales;
    for (std::size_t k = 0; k < run.calls.size(); ++k) {
        const Batch batch = batch_of(run, k);
        tokens.insert(tokens.end(), batch.inputs.begin(), batch.inputs.end());
        targets.insert(targets.end(), batch.targets.begin(), batch.targets.end());
        evaluates.push_back(run.calls[k].evaluates ? 1 : 0);
        recomputes.push_back(run.calls[k].recompute ? 1 : 0);
        loss_scales.push_back(run.calls[k].loss_scale);
    }
    inputs.update({{"inputs", tokens},
                   {"targets", targets},
                   {"evaluates", evaluates},
                   {"recomputes", recomputes},
                   {"loss_scales", loss_scales},
                   {"schedule", run.schedule},
                   {"chunks", run.grid.blocks.size() / static_cast<std::size_t>(run.grid.pp)},
                   {"micro_batches", run.micro_batches},
                   {"sequences", run.sequences * run.micro_batches * run.grid.dp}});
    CaseInput input;
    input.operation = "step";
    input.ranks.assign(static_cast<std::size_t>(run.grid.ranks()), inputs);
    return {run.name(), input, [run](const CaseResult& result) { return compare_step(run, result); },
            "does every rank take part in every sum, and is every bucket's reduction started on all of its "
            "data-parallel group?"};
}
