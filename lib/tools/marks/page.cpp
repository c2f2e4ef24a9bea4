#include "lib/tools/marks/page.hpp"

#include <sstream>

namespace shardlings {

namespace {

// Without < > & in it: it is escaped like all text.
constexpr const char* style = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em;
       color: #1c2733; background: #ffffff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; } h3 { font-size: 1em; margin: 1.5em 0 0.3em; }
table { border-collapse: collapse; } th, td { padding: 0.25em 0.8em; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #8796a5; } td { border-bottom: 1px solid #d5dce3; }
.wrong a, .open a { color: inherit; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.done { color: #0a6b3d; } .wrong { color: #a02318; } .open { color: #5b6875; }
.caution { background: #fff3d0; border-left: 4px solid #c98a00; padding: 0.5em 1em; }
pre { background: #f3f5f7; padding: 0.7em 1em; overflow-x: auto; white-space: pre-wrap; font-size: 13px; }
figure { margin: 0.5em 0; } figcaption { color: #5b6875; font-size: 13px; }
svg { max-width: 100%; height: auto; } figure svg { min-width: 56em; }
.wide { overflow-x: auto; } .marks td, .marks th { padding: 0.15em 0.35em; text-align: center; }
.marks td:first-child, .marks th:first-child { position: sticky; left: 0; background: #ffffff; text-align: left; }
td:first-child { overflow-wrap: anywhere; min-width: 3em; } a { color: #0b4f8a; }
a:focus-visible, .wide:focus-visible { outline: 3px solid #c98a00; outline-offset: 2px; }
@media (max-width: 40em) { body { margin: 0.5em auto; padding: 0 0.5em; } th, td { padding: 0.2em 0.4em; } }
@media print { .wide { overflow: visible; } }
)";

}  // namespace

Page::Page(const std::string& title)
{
    document_.append_child(pugi::node_doctype).set_value("html");
    pugi::xml_node html = document_.append_child("html");
    html.append_attribute("lang").set_value("en");
    pugi::xml_node head = html.append_child("head");
    head.append_child("meta").append_attribute("charset").set_value("utf-8");
    pugi::xml_node phone = head.append_child("meta");
    phone.append_attribute("name").set_value("viewport");
    phone.append_attribute("content").set_value("width=device-width, initial-scale=1");
    add(head, "title", title);
    add(head, "style", style);
    body_ = html.append_child("body");
    add(body_, "h1", title);
}

std::string Page::text() const
{
    std::ostringstream out;
    document_.save(out, "", pugi::format_raw | pugi::format_no_declaration);
    return out.str() + "\n";
}

pugi::xml_node add(pugi::xml_node parent, const char* element, const std::string& text,
                   const char* style_class)
{
    pugi::xml_node node = parent.append_child(element);
    if (*style_class != '\0') node.append_attribute("class").set_value(style_class);
    if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(text.c_str());
    return node;
}

void add_link(pugi::xml_node parent, const std::string& text, const std::string& target)
{
    add(parent, "a", text).append_attribute("href").set_value(target.c_str());
}

pugi::xml_node add_wide(pugi::xml_node parent, const std::string& name)
{
    pugi::xml_node wide = add(parent, "div", "", "wide");
    wide.append_attribute("role").set_value("region");
    wide.append_attribute("aria-label").set_value(name.c_str());
    wide.append_attribute("tabindex").set_value("0");
    return wide;
}

pugi::xml_node add_table(pugi::xml_node parent, const std::string& name,
                         const std::vector<std::string>& headings)
{
    pugi::xml_node table = add_wide(parent, name).append_child("table");
    pugi::xml_node row = table.append_child("thead").append_child("tr");
    for (const std::string& heading : headings)
        add(row, "th", heading).append_attribute("scope").set_value("col");
    return table.append_child("tbody");
}

}  // namespace shardlings
