#include "lib/tools/trace/svg.hpp"

#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "lib/tools/trace/text.hpp"

namespace shardlings {

namespace {

void set(pugi::xml_node node, const char* name, double value)
{
    node.append_attribute(name).set_value(pixels(value).c_str());
}

void set(pugi::xml_node node, const char* name, std::string_view value)
{
    node.append_attribute(name).set_value(std::string(value).c_str());
}

void set_text(pugi::xml_node node, std::string_view text)
{
    node.append_child(pugi::node_pcdata).set_value(printable(text).c_str());
}

}  // namespace

std::string pixels(double value)
{
    const double hundredths = std::round(value * 100.0);
    return fmt::format("{}", (hundredths == 0.0 ? 0.0 : hundredths) / 100.0);
}

Canvas::Canvas(std::string_view title, std::string_view style)
    : document_(std::make_unique<pugi::xml_document>()), here_(std::make_unique<pugi::xml_node>())
{
    *here_ = document_->append_child("svg");
    set(*here_, "xmlns", "http://www.w3.org/2000/svg");
    set(*here_, "role", "img");
    set_text(here_->append_child("title"), title);
    // The style sheet is the program's own text; line breaks in it stay.
    here_->append_child("style").append_child(pugi::node_pcdata).set_value(std::string(style).c_str());
}

Canvas::~Canvas() = default;

pugi::xml_node Canvas::add(const char* name, std::string_view style_class)
{
    pugi::xml_node node = here_->append_child(name);
    if (!style_class.empty()) set(node, "class", style_class);
    return node;
}

void Canvas::open(std::string_view style_class)
{
    *here_ = add("g", style_class);
}

void Canvas::close()
{
    *here_ = here_->parent();
}

void Canvas::rectangle(const Rectangle& where, std::string_view style_class, const std::string& hint)
{
    pugi::xml_node node = add("rect", style_class);
    set(node, "x", where.x);
    set(node, "y", where.y);
    set(node, "width", where.width);
    set(node, "height", where.height);
    if (!hint.empty()) set_text(node.append_child("title"), hint);
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view style_class)
{
    pugi::xml_node node = add("line", style_class);
    set(node, "x1", x1);
    set(node, "y1", y1);
    set(node, "x2", x2);
    set(node, "y2", y2);
}

void Canvas::path(const std::string& data, std::string_view style_class)
{
    set(add("path", style_class), "d", data);
}

void Canvas::text(double x, double y, const std::string& text, std::string_view style_class, Anchor anchor)
{
    pugi::xml_node node = add("text", style_class);
    set(node, "x", x);
    set(node, "y", y);
    if (anchor != Anchor::start) set(node, "text-anchor", anchor == Anchor::middle ? "middle" : "end");
    set_text(node, text);
}

void Canvas::hatch(const char* id, const char* background, const char* lines)
{
    pugi::xml_node pattern = here_->append_child("defs").append_child("pattern");
    set(pattern, "id", id);
    set(pattern, "width", 6.0);
    set(pattern, "height", 6.0);
    set(pattern, "patternUnits", "userSpaceOnUse");
    pugi::xml_node ground = pattern.append_child("rect");
    set(ground, "width", 6.0);
    set(ground, "height", 6.0);
    set(ground, "fill", background);
    pugi::xml_node stroke = pattern.append_child("path");
    set(stroke, "d", "M-1 1L1 -1M0 6L6 0M5 7L7 5");
    set(stroke, "stroke", lines);
}

std::string Canvas::finish(double width, double height)
{
    pugi::xml_node svg = document_->child("svg");
    set(svg, "width", width);
    set(svg, "height", height);
    set(svg, "viewBox", fmt::format("0 0 {} {}", pixels(width), pixels(height)));
    pugi::xml_node page = svg.insert_child_after("rect", svg.child("style"));
    set(page, "class", "page");
    set(page, "width", width);
    set(page, "height", height);
    std::ostringstream text;
    document_->save(text, " ", pugi::format_indent | pugi::format_no_declaration);
    return text.str();
}

}  // namespace shardlings
