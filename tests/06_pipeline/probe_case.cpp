#include "tests/06_pipeline/probe_case.hpp"

#include <sstream>

using namespace pipeline_test;

namespace {

constexpr double number_bytes = 8.0;  // a loss or its gradient may be there or not

std::string text_of(const Call& call)
{
    return fmt::format("the {} pass of module {} on micro-batch {}",
                       call.pass == 'f' ? "forward" : "backward", call.module, call.micro_batch);
}

/// The same for "f2.0".
std::string text_of(const std::string& call)
{
    const auto dot = call.find('.');
    return fmt::format("the {} pass of module {} on micro-batch {}", call[0] == 'f' ? "forward" : "backward",
                       call.substr(1, dot - 1), call.substr(dot + 1));
}

std::string compare_calls(const std::string& got, const std::vector<Call>& expected)
{
    std::istringstream calls(got);
    std::string one;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Call& call = expected[i];
        if (!(calls >> one))
            return fmt::format("{} passes of modules were run; then {} was expected", i, text_of(call));
        if (one != fmt::format("{}{}.{}", call.pass, call.module, call.micro_batch))
            return fmt::format("call number {} is {}, expected {}", i, text_of(one), text_of(call));
    }
    return calls >> one ? fmt::format("after all passes that the program has came {}", text_of(one)) : "";
}

std::string compare_times(const ProbeRun& run, const json& got, const std::vector<Call>& expected)
{
    const auto times = got.get<std::vector<double>>();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (times.at(i) != expected[i].time)
            return fmt::format("{} begins at {:.9g} s, expected {:.9g}{}", text_of(expected[i]), times[i],
                               expected[i].time,
                               times[i] > expected[i].time && run.link.latency > 0.0
                                   ? ": a stage goes on computing while its messages are on their way"
                                   : "");
    return "";
}

std::string compare_held(const ProbeRun& run, const json& got, const std::vector<Call>& expected)
{
    const auto held = got.get<std::vector<double>>();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto bytes = static_cast<double>(expected[i].held);
        if (std::abs(held.at(i) - bytes) <= number_bytes) continue;
        const char* hint = held[i] < bytes    ? ""
                           : run.forward_only ? ": nothing is to be kept without a backward pass"
                           : run.recompute    ? ": with recomputation only the chunks' inputs are kept"
                                              : ": is what backward used, or what was sent, freed?";
        return fmt::format("when {} begins, {} bytes are in use besides its input, expected {}{}",
                           text_of(expected[i]), held[i], bytes, hint);
    }
    return "";
}

std::string compare_memory(const StageReplay& expected, const RankResult& got)
{
    const auto number = [&](const char* name) { return got.measured.at(name).get<double>(); };
    if (number("current") != 0.0)
        return fmt::format("{} bytes are in use at the end, expected none", number("current"));
    const auto peak = static_cast<double>(expected.peak);
    if (std::abs(number("peak") - peak) > 2.0 * number_bytes)
        return fmt::format("the peak is {} bytes, expected {}", number("peak"), peak);
    return "";
}

std::string compare_sent(const StageReplay& expected, const std::vector<int>& ranks, const RankResult& got)
{
    std::uint64_t messages = 0;
    for (const auto& [stage, sent] : expected.sent) {
        const std::string to = std::to_string(ranks[static_cast<std::size_t>(stage)]);
        const json& counts = got.measured.at("to");
        const auto count = counts.contains(to) ? counts.at(to).get<std::vector<std::uint64_t>>()
                                               : std::vector<std::uint64_t>{0, 0};
        if (count[0] != sent.first || count[1] != sent.second)
            return fmt::format("{} messages with {} bytes went to rank {}, expected {} with {}", count[0],
                               count[1], to, sent.first, sent.second);
        messages += sent.first;
    }
    const auto all = got.measured.at("messages").get<std::uint64_t>();
    return all == messages ? "" : fmt::format("{} messages were sent in all, expected {}", all, messages);
}

std::string compare_loss_gradients(const ProbeRun& run, const json& got)
{
    for (const double value : got.get<std::vector<double>>())
        if (value != run.loss_scale)
            return compare_number("d(objective)/d(loss), given to the last module,", value, run.loss_scale,
                                  {});
    return "";
}

}  // namespace

json pipeline_test::probe_inputs(const ProbeRun& run, int pipeline, int stage)
{
    json inputs = schedule_inputs(run.schedule);
    std::vector<double> forward, backward;
    std::vector<int> saved, saves_x;
    for (const ProbeWork& work : run.model.work) {
        forward.push_back(work.forward_flops);
        backward.push_back(work.backward_flops);
        saved.push_back(work.saved);
        saves_x.push_back(work.saves_x ? 1 : 0);
    }
    inputs.update({{"color", pipeline},
                   {"key", stage},
                   {"chunk_modules", run.chunk_modules},
                   {"forward_flops", forward},
                   {"backward_flops", backward},
                   {"saved", saved},
                   {"saves_x", saves_x},
                   {"hidden", run.model.hidden},
                   {"dtype", name_of(run.model.dtype)},
                   {"sequences", run.sequences},
                   {"tokens", run.tokens},
                   {"loss_scale", run.loss_scale},
                   {"recompute", run.recompute},
                   {"forward_only", run.forward_only},
                   {"refused", false}});
    return inputs;
}

std::vector<std::string> pipeline_test::compare_stage(const ProbeRun& run, const StageReplay& expected,
                                                      const std::vector<int>& ranks, const RankResult& got)
{
    const json& out = got.outputs;
    const std::string calls = compare_calls(out.at("calls").get<std::string>(), expected.calls);
    std::vector<std::string> messages{out.at("problem").get<std::string>(), calls};
    if (!join(messages).empty()) return messages;
    return {compare_number("the sum of the losses", out.at("loss").get<double>(), expected.loss, {}),
            compare_loss_gradients(run, out.at("loss_gradients")),
            compare_sent(expected, ranks, got),
            compare_times(run, out.at("times"), expected.calls),
            compare_held(run, out.at("held"), expected.calls),
            compare_memory(expected, got),
            compare_number("the clock at the end, when everything has been carried,",
                           out.at("clock").get<double>(), expected.end, {})};
}

NamedCase pipeline_test::probe_case(ProbeRun run)
{
    if (run.pipelines.empty()) {
        run.pipelines.emplace_back();
        for (int s = 0; s < run.schedule.stages; ++s) run.pipelines[0].push_back(s);
    }
    CaseInput input;
    input.operation = "probes";
    input.topology.intra = run.link;
    input.topology.flops = run.flops;
    input.ranks.resize(run.pipelines.size() * run.pipelines[0].size());
    for (std::size_t p = 0; p < run.pipelines.size(); ++p)
        for (std::size_t s = 0; s < run.pipelines[p].size(); ++s)
            input.ranks[static_cast<std::size_t>(run.pipelines[p][s])] =
                probe_inputs(run, static_cast<int>(p), static_cast<int>(s));
    return {run.name, input,
            [=](const CaseResult& result) {
                const std::vector<StageReplay> expected = replay(run);
                std::vector<std::string> messages;
                for (const std::vector<int>& ranks : run.pipelines)
                    for (std::size_t s = 0; s < ranks.size(); ++s)
                        for (const std::string& message : compare_stage(
                                 run, expected[s], ranks, result.ranks[static_cast<std::size_t>(ranks[s])]))
                            if (!message.empty()) messages.push_back(fmt::format("stage {}: {}", s, message));
                return messages;
            },
            if_engine_stuck};
}
