// A drawing surface that ends as SVG text.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>

namespace pugi {
class xml_document;
class xml_node;
}  // namespace pugi

namespace shardlings {

/// Pixels with at most two decimals and no trailing zeros, the same on every machine.
std::string pixels(double value);

struct Rectangle {
    double x;
    double y;
    double width;
    double height;
};

enum class Anchor { start, middle, end };

/// Shapes are painted in the order they are added. Their colours are the style sheet's, by class.
class Canvas {
  public:
    Canvas(std::string_view title, std::string_view style);
    ~Canvas();
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;

    /// Until close(), what is added belongs to a group of this class.
    void open(std::string_view style_class);
    void close();

    /// `hint` is shown while the pointer rests on the shape.
    void rectangle(const Rectangle& where, std::string_view style_class, const std::string& hint = "");
    void line(double x1, double y1, double x2, double y2, std::string_view style_class);
    void path(const std::string& data, std::string_view style_class);
    void text(double x, double y, const std::string& text, std::string_view style_class,
              Anchor anchor = Anchor::start);
    /// A fill of thin diagonal lines, for the style sheet to name as url(#id).
    void hatch(const char* id, const char* background, const char* lines);

    /// The file's text, `width` × `height` pixels, on a rectangle of class "page".
    std::string finish(double width, double height);

  private:
    pugi::xml_node add(const char* name, std::string_view style_class);

    std::unique_ptr<pugi::xml_document> document_;
    std::unique_ptr<pugi::xml_node> here_;
};

}  // namespace shardlings
