// Curves over steps on a logarithmic scale, as SVG.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lib/tools/trace/svg.hpp"

namespace lesson {

using namespace shardlings;

struct Curve {
    std::string name;
    std::string style_class;
    std::vector<std::pair<double, double>> points;  // step, value > 0
};

inline constexpr const char* plot_style = R"(
text { font: 12px "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #222 }
text.title { font-size: 15px; font-weight: bold }
.page { fill: #fff }
.grid { stroke: #000; stroke-opacity: .15 }
path { fill: none; stroke-width: 2 }
.fp32 { stroke: #000 }
.bf16 { stroke: #0072b2; stroke-dasharray: 7 3 }
.bf16-alone { stroke: #56b4e9 }
.fp16 { stroke: #d55e00; stroke-dasharray: 2 3 }
.fp16-unscaled { stroke: #e69f00 }
)";

/// The curves from step 0 to `last`; the vertical scale spans whole powers of ten.
inline std::string plot(const std::string& title, double last, const std::vector<Curve>& curves)
{
    constexpr double left = 60.0, right = 560.0, top = 44.0, bottom = 344.0;
    double low = 1e300, high = 1e-300;
    for (const Curve& curve : curves)
        for (const auto& [step, value] : curve.points)
            low = std::min(low, value), high = std::max(high, value);
    const double first_power = std::floor(std::log10(low)), last_power = std::ceil(std::log10(high));
    const auto x = [&](double step) { return left + (right - left) * step / last; };
    const auto y = [&](double value) {
        return bottom - (bottom - top) * (std::log10(value) - first_power) / (last_power - first_power);
    };

    Canvas canvas(title, plot_style);
    canvas.text(left, 24.0, title, "title");
    for (int power = static_cast<int>(first_power); power <= static_cast<int>(last_power); ++power) {
        const double height = y(std::pow(10.0, power));
        canvas.line(left, height, right, height, "grid");
        canvas.text(left - 8.0, height + 4.0, fmt::format("1e{}", power), "", Anchor::end);
    }
    for (int i = 0; i <= 6; ++i) {
        const double step = last * i / 6.0;
        canvas.line(x(step), top, x(step), bottom, "grid");
        canvas.text(x(step), bottom + 18.0, fmt::format("{:.0f}", step), "", Anchor::middle);
    }
    canvas.text(right, bottom + 36.0, "step", "", Anchor::end);
    canvas.text(left, top - 6.0, "loss", "");
    double line = top + 8.0;
    for (const Curve& curve : curves) {
        std::string data;
        for (const auto& [step, value] : curve.points)
            data += fmt::format("{}{} {}", data.empty() ? "M" : "L", pixels(x(step)), pixels(y(value)));
        canvas.path(data, curve.style_class);
        canvas.path(fmt::format("M{} {}h30", pixels(right + 16.0), pixels(line - 4.0)), curve.style_class);
        canvas.text(right + 52.0, line, curve.name, "");
        line += 20.0;
    }
    return canvas.finish(870.0, bottom + 48.0);
}

}  // namespace lesson
