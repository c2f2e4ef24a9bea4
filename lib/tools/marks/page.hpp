// An HTML page as a tree, so that whatever is put into it as text comes out as text.
#pragma once

#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <vector>

namespace shardlings {

class Page {
  public:
    /// With `title` as its heading, too.
    explicit Page(const std::string& title);

    pugi::xml_node body() { return body_; }
    std::string text() const;

  private:
    pugi::xml_document document_;
    pugi::xml_node body_;
};

/// A new element at the end of `parent`, with text in it when there is any.
pugi::xml_node add(pugi::xml_node parent, const char* element, const std::string& text = "",
                   const char* style_class = "");

/// A link; `target` is a file beside the page, or "#name" in it.
void add_link(pugi::xml_node parent, const std::string& text, const std::string& target);

/// A part that is scrolled sideways where it is wider than the screen, by keys too; `name` is for those who
/// do not see it.
pugi::xml_node add_wide(pugi::xml_node parent, const std::string& name);

/// A table with a line of headings, called `name` by screen readers; returns the node that rows are added to.
/// Where the page is narrower than the table, the table scrolls, with the keyboard too.
pugi::xml_node add_table(pugi::xml_node parent, const std::string& name,
                         const std::vector<std::string>& headings);

}  // namespace shardlings
