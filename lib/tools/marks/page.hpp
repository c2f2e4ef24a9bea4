// An HTML page as a tree, so that whatever is put into it as text comes out as text.
#pragma once

#include <initializer_list>
#include <pugixml.hpp>
#include <string>

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

/// A table with a line of headings; returns the node that rows (`add_row`) are added to.
pugi::xml_node add_table(pugi::xml_node parent, std::initializer_list<const char*> headings);

}  // namespace shardlings
