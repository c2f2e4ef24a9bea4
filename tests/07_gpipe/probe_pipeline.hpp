// A schedule of the lesson on the engine, over modules of equal cost: its time must be the one that
// simulate() tells, and its memory that of the micro-batches in flight.
#pragma once

#include "tests/06_pipeline/gpt_reference.hpp"
#include "tests/07_gpipe/kinds.hpp"

namespace pipeline_test {

/// One module a chunk: forward 1 ms and backward 2 ms, saving three tensors of x's size.
struct ProbePipeline {
    static constexpr double flops = 1e12;
    static constexpr double forward_flops = 1e9, backward_flops = 2e9;
    static constexpr int saved = 3;
    static constexpr std::int64_t sequences = 2, tokens = 3, hidden = 8;
    static constexpr double tensor_bytes = sequences * tokens * hidden * 4.0;
};

inline json probe_pipeline_inputs(const Kind& kind, int stage)
{
    using P = ProbePipeline;
    const auto modules = static_cast<std::size_t>(kind.stages * kind.chunks);
    json inputs = kind.inputs();
    inputs.update(
        {{"color", 0},
         {"key", stage},
         {"chunk_modules", std::vector<int>(modules, 1)},
         {"forward_flops", std::vector<double>(modules, P::forward_flops)},
         {"backward_flops", std::vector<double>(modules, P::backward_flops)},
         {"saved", std::vector<int>(modules, P::saved)},
         {"saves_x", std::vector<int>(modules, 0)},
         {"hidden", P::hidden},
         {"dtype", "fp32"},
         {"sequences", std::vector<std::int64_t>(static_cast<std::size_t>(kind.micro_batches), P::sequences)},
         {"tokens", P::tokens},
         {"loss_scale", 1.0},
         {"recompute", false},
         {"forward_only", false},
         {"refused", false}});
    return inputs;
}

/// The begin of every pass of a stage, in the order of its program.
inline std::vector<double> pass_begins(const Program& program, const std::vector<pipeline::Span>& spans)
{
    std::vector<double> begins;
    for (std::size_t i = 0; i < program.size(); ++i)
        if (program[i].action == Action::forward || program[i].action == Action::backward)
            begins.push_back(spans[i].begin);
    return begins;
}

inline std::string compare_begins(const json& got, const std::vector<double>& expected)
{
    const auto times = got.get<std::vector<double>>();
    if (times.size() != expected.size())
        return fmt::format("{} passes were run, expected {}", times.size(), expected.size());
    for (std::size_t i = 0; i < times.size(); ++i)
        if (times[i] != expected[i])
            return compare_number(fmt::format("the begin of pass number {}", i), times[i], expected[i], {});
    return "";
}

/// The most bytes that are in use at the begin of a backward pass, besides dy.
inline std::string compare_held(const json& out, int in_flight)
{
    std::istringstream calls(out.at("calls").get<std::string>());
    double most = 0.0;
    for (const double held : out.at("held").get<std::vector<double>>()) {
        std::string call;
        calls >> call;
        if (call[0] == 'b') most = std::max(most, held);
    }
    const double expected = in_flight * ProbePipeline::saved * ProbePipeline::tensor_bytes;
    return most == expected
               ? ""
               : fmt::format("{} bytes are held, expected {}: {} in flight, {} each", most, expected,
                             in_flight, ProbePipeline::saved * ProbePipeline::tensor_bytes);
}

inline NamedCase probe_pipeline_case(const Kind& kind, const Link& link)
{
    CaseInput input;
    input.operation = "probes";
    input.topology.intra = link;
    input.topology.flops = ProbePipeline::flops;
    for (int s = 0; s < kind.stages; ++s) input.ranks.push_back(probe_pipeline_inputs(kind, s));
    const bool free_messages = link.latency == 0.0;
    return {
        fmt::format("{}, {} messages", kind.name(), free_messages ? "free" : "real"), input,
        [=](const CaseResult& result) {
            using P = ProbePipeline;
            const Schedule schedule = kind.reference();
            const std::vector<std::vector<pipeline::Span>> spans = pipeline::simulate(
                schedule,
                {P::forward_flops / P::flops, P::backward_flops / P::flops, link.seconds(P::tensor_bytes)});
            std::vector<std::string> messages;
            for (std::size_t s = 0; s < spans.size(); ++s) {
                const json& out = result.ranks[s].outputs;
                for (const std::string& message :
                     {out.at("problem").get<std::string>(),
                      compare_begins(out.at("times"), pass_begins(schedule.programs[s], spans[s])),
                      free_messages ? compare_held(out, kind.in_flight(static_cast<int>(s))) : std::string()})
                    if (!message.empty()) messages.push_back(fmt::format("stage {}: {}", s, message));
            }
            return messages;
        }};
}

}  // namespace pipeline_test
