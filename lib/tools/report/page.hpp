// What every page has, whatever the run: its style, its panels, its scripts.
#pragma once

#include <string>
#include <string_view>

namespace shardlings {

std::string_view page_style();
/// HTML whose charts the scripts draw.
std::string_view page_panels();
/// They read the JSON in the element of id "data".
std::string page_scripts();

}  // namespace shardlings
