// The files in page/ are string literals: their first and last line say so, the rest is CSS, HTML and
// JavaScript.
#include "lib/tools/report/page.hpp"

#include <initializer_list>

namespace shardlings {

namespace {

constexpr std::string_view style =
#include "lib/tools/report/page/style.css"
    ;

constexpr std::string_view panels =
#include "lib/tools/report/page/panels.html"
    ;

constexpr std::string_view common =
#include "lib/tools/report/page/common.js"
    ;

constexpr std::string_view data =
#include "lib/tools/report/page/data.js"
    ;

constexpr std::string_view loss =
#include "lib/tools/report/page/loss.js"
    ;

constexpr std::string_view layout =
#include "lib/tools/report/page/layout.js"
    ;

constexpr std::string_view boxes =
#include "lib/tools/report/page/boxes.js"
    ;

constexpr std::string_view timeline =
#include "lib/tools/report/page/timeline.js"
    ;

constexpr std::string_view timeline_input =
#include "lib/tools/report/page/timeline_input.js"
    ;

constexpr std::string_view memory =
#include "lib/tools/report/page/memory.js"
    ;

constexpr std::string_view traffic =
#include "lib/tools/report/page/traffic.js"
    ;

constexpr std::string_view start =
#include "lib/tools/report/page/start.js"
    ;

}  // namespace

std::string_view page_style()
{
    return style;
}

std::string_view page_panels()
{
    return panels;
}

std::string page_scripts()
{
    std::string text = "(() => {\n\"use strict\";\n";
    for (const std::string_view part :
         {common, data, loss, layout, boxes, timeline, timeline_input, memory, traffic, start})
        text += part;
    return text + "})();\n";
}

}  // namespace shardlings
