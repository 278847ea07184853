#include <fmt/format.h>

#include "canvas.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

/// One path for all boxes of a colour: few bytes for each.
class SvgCanvas : public Canvas {
 public:
  void ground(const Area& area, std::string_view colour) override {
    add(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                    tenths(area.x),
                    tenths(area.y),
                    tenths(area.wide),
                    tenths(area.high),
                    colour));
  }

  void text(Point foot, const TextLook& look, std::string_view words) override {
    add(fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{} fill=\"{}\">{}</text>\n",
                    tenths(foot.x),
                    tenths(foot.y),
                    look.size,
                    look.is_bold ? " font-weight=\"bold\"" : "",
                    look.is_centred ? " text-anchor=\"middle\"" : "",
                    look.colour,
                    escaped(words)));
  }

  void line(Point from, Point to, std::string_view colour, bool is_dashed) override {
    add(fmt::format("<path stroke=\"{}\"{} fill=\"none\" d=\"M{} {}L{} {}\"/>\n",
                    colour,
                    is_dashed ? " stroke-dasharray=\"4 3\"" : "",
                    tenths(from.x),
                    tenths(from.y),
                    tenths(to.x),
                    tenths(to.y)));
  }

  void polygon(std::span<const Point> corners, std::string_view colour) override {
    std::string path;
    for (const Point& corner : corners) {
      path += fmt::format("{}{} {}", path.empty() ? "M" : "L", tenths(corner.x), tenths(corner.y));
    }
    add(fmt::format("<path fill=\"{}\" d=\"{}Z\"/>\n", colour, path));
  }

  [[nodiscard]] std::string file(double wide, double high) const override {
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica,Arial,sans-serif\">\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
               wide,
               high) +
           body() + "</svg>\n";
  }

 protected:
  [[nodiscard]] std::string box_text(const Area& area) const override {
    return fmt::format("M{} {}h{}v{}h-{}z",
                       tenths(area.x),
                       tenths(area.y),
                       tenths(area.wide),
                       tenths(area.high),
                       tenths(area.wide));
  }
  [[nodiscard]] std::string number_text(Point foot, std::string_view digits) const override {
    return fmt::format(
        "<text x=\"{}\" y=\"{}\">{}</text>\n", tenths(foot.x), tenths(foot.y), digits);
  }
  [[nodiscard]] std::string filled(std::string_view colour, std::string_view boxes) override {
    return fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", colour, boxes);
  }
  [[nodiscard]] std::string written(std::string_view colour, std::string_view numbers) override {
    return fmt::format("<g fill=\"{}\" font-size=\"{}\" text-anchor=\"middle\">\n{}</g>\n",
                       colour,
                       kNumberSize,
                       numbers);
  }
};

}  // namespace

std::unique_ptr<Canvas> make_svg_canvas() { return std::make_unique<SvgCanvas>(); }

}  // namespace titer
