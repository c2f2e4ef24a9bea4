// Times of instructions as cases bring and give them.
#pragma once

#include "lessons/07_gpipe/check.hpp"
#include "tests/06_pipeline/schedule_support.hpp"

namespace pipeline_test {

using pipeline::PassCosts;
using Spans = std::vector<std::vector<pipeline::Span>>;

/// "0-1 1-1 1-2": begin and end of one instruction after the other.
inline std::vector<pipeline::Span> parse_spans(const std::string& text)
{
    std::vector<pipeline::Span> spans;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const std::size_t dash = word.find('-');
        spans.push_back({std::stod(word.substr(0, dash)), std::stod(word.substr(dash + 1))});
    }
    return spans;
}

inline json span_inputs(const Spans& spans)
{
    json inputs;
    for (std::size_t s = 0; s < spans.size(); ++s) {
        std::vector<double> begins, ends;
        for (const pipeline::Span& span : spans[s]) {
            begins.push_back(span.begin);
            ends.push_back(span.end);
        }
        inputs[fmt::format("begins {}", s)] = begins;
        inputs[fmt::format("ends {}", s)] = ends;
    }
    return inputs;
}

/// The first instruction with another begin or end. Times are sums of at most as many costs as there are
/// instructions, so in another order of adding they may be off by that many roundings.
inline std::string compare_spans(const Schedule& schedule, const json& out, const Spans& expected)
{
    std::size_t instructions = 0;
    for (const Program& program : schedule.programs) instructions += program.size();
    const Tolerance tolerance{static_cast<double>(instructions) * epsilon_of(DType::fp64), 0.0};
    for (std::size_t s = 0; s < expected.size(); ++s) {
        const std::string name = fmt::format("begins {}", s);
        if (!out.contains(name)) return fmt::format("there are no times of stage {}", s);
        const auto begins = out.at(name).get<std::vector<double>>();
        const auto ends = out.at(fmt::format("ends {}", s)).get<std::vector<double>>();
        if (begins.size() != expected[s].size())
            return fmt::format("stage {} has {} spans, expected {}: one an instruction", s, begins.size(),
                               expected[s].size());
        for (std::size_t i = 0; i < begins.size(); ++i) {
            const std::string what = fmt::format("stage {}: '{}'", s, to_string(schedule.programs[s][i]));
            std::string message =
                compare_number(what + " begins: it", begins[i], expected[s][i].begin, tolerance);
            if (message.empty())
                message = compare_number(what + " ends: it", ends[i], expected[s][i].end, tolerance);
            if (!message.empty()) return message;
        }
    }
    return "";
}

}  // namespace pipeline_test
