// The SVG picture of traces, read back.
#pragma once

#include <fstream>
#include <pugixml.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "lib/tools/trace/trace.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

inline std::string svg_of(const std::vector<shardlings::RankTrace>& traces,
                          const shardlings::PictureOptions& options = {})
{
    const TemporaryFolder folder;
    shardlings::write_svg_timeline(folder / "t.svg", traces, options);
    std::ostringstream text;
    text << std::ifstream(folder / "t.svg").rdbuf();
    return text.str();
}

class Picture {
  public:
    explicit Picture(const std::string& svg) { REQUIRE(document_.load_string(svg.c_str())); }

    std::vector<pugi::xml_node> all(const std::string& path) const
    {
        const pugi::xpath_node_set found = document_.select_nodes(path.c_str());
        std::vector<pugi::xml_node> nodes;
        for (const pugi::xpath_node& node : found) nodes.push_back(node.node());
        return nodes;
    }
    /// The drawn boxes of this class, without the legend's.
    std::vector<pugi::xml_node> boxes(const std::string& style_class) const
    {
        return all("//g[@class='boxes']/rect[@class='" + style_class + "']");
    }
    int texts(const std::string& text) const
    {
        return static_cast<int>(all("//text[text()='" + text + "']").size());
    }

  private:
    pugi::xml_document document_;
};

inline double number(const pugi::xml_node& node, const char* name)
{
    return node.attribute(name).as_double();
}

// Positions and widths are rounded to hundredths of a pixel, and the sums of times differ in the last bits.
inline constexpr double rounding = 0.005 + 1e-9;
