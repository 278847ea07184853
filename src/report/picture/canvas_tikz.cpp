#include <fmt/format.h>

#include <map>

#include "canvas.hpp"

namespace titer {
namespace {

std::string tex_escaped(std::string_view words) {
  static const std::map<char, std::string_view> special = {{'\\', "\\textbackslash{}"},
                                                           {'{', "\\{"},
                                                           {'}', "\\}"},
                                                           {'$', "\\$"},
                                                           {'&', "\\&"},
                                                           {'#', "\\#"},
                                                           {'%', "\\%"},
                                                           {'_', "\\_"},
                                                           {'^', "\\textasciicircum{}"},
                                                           {'~', "\\textasciitilde{}"}};
  std::string text;
  for (const char letter : words) {
    const auto found = special.find(letter);
    if (found != special.end()) {
      text += found->second;
    } else {
      text += letter;
    }
  }
  return text;
}

/// A tikzpicture to be put into a document, whose fonts it has.
class TikzCanvas : public Canvas {
 public:
  void ground(const Area& area, std::string_view colour) override {
    add(filled(colour, box_text(area)));
  }

  void text(Point foot, const TextLook& look, std::string_view words) override {
    add(node(foot,
             fmt::format("anchor={},text={},font={}{}",
                         look.is_centred ? "base" : "base west",
                         name_of(look.colour),
                         font(look.size),
                         look.is_bold ? "\\bfseries" : ""),
             tex_escaped(words)));
  }

  void line(Point from, Point to, std::string_view colour, bool is_dashed) override {
    add(fmt::format("\\draw[{},line width=0.75bp{}] ({:.2f},{:.2f}) -- ({:.2f},{:.2f});\n",
                    name_of(colour),
                    is_dashed ? ",dashed" : "",
                    from.x,
                    from.y,
                    to.x,
                    to.y));
  }

  void polygon(std::span<const Point> corners, std::string_view colour) override {
    std::string path;
    for (const Point& corner : corners) {
      path += fmt::format("({:.2f},{:.2f}) -- ", corner.x, corner.y);
    }
    add(fmt::format("\\fill[{}] {}cycle;\n", name_of(colour), path));
  }

  [[nodiscard]] std::string file(double wide, double high) const override {
    std::string text = "% Needs \\usepackage{tikz}.\n";
    text += fmt::format("\\begin{{tikzpicture}}[x={0}bp,y=-{0}bp,inner sep=0pt,outer sep=0pt]\n",
                        kBigPoints);
    for (const auto& [colour, name] : names_) {
      text += fmt::format("\\definecolor{{{}}}{{HTML}}{{{}}}\n", name, colour);
    }
    return text + fmt::format("\\useasboundingbox (0,0) rectangle ({:.0f},{:.0f});\n", wide, high) +
           body() + "\\end{tikzpicture}\n";
  }

 protected:
  [[nodiscard]] std::string box_text(const Area& area) const override {
    return fmt::format(
        " ({:.2f},{:.2f}) rectangle +({:.2f},{:.2f})\n", area.x, area.y, area.wide, area.high);
  }
  [[nodiscard]] std::string number_text(Point foot, std::string_view digits) const override {
    return node(foot, "anchor=base", digits);
  }
  [[nodiscard]] std::string filled(std::string_view colour, std::string_view boxes) override {
    return fmt::format("\\fill[{}]\n{};\n", name_of(colour), boxes);
  }
  [[nodiscard]] std::string written(std::string_view colour, std::string_view numbers) override {
    return fmt::format(
        "\\begin{{scope}}[every node/.style={{inner sep=0pt,text={},font={}}}]\n{}\\end{{scope}}\n",
        name_of(colour),
        font(kNumberSize),
        numbers);
  }

 private:
  static std::string font(double size) {
    return fmt::format("\\fontsize{{{0:.2f}bp}}{{{0:.2f}bp}}\\selectfont", size * kBigPoints);
  }
  static std::string node(Point foot, std::string_view look, std::string_view words) {
    return fmt::format("\\node[{}] at ({:.2f},{:.2f}) {{{}}};\n", look, foot.x, foot.y, words);
  }
  /// As \definecolor knows it.
  std::string name_of(std::string_view colour) {
    std::string digits;
    for (const char digit : colour.substr(1)) {
      digits += static_cast<char>(std::toupper(digit));
    }
    return names_.try_emplace(digits, "titer" + digits).first->second;
  }

  std::map<std::string, std::string> names_;  // by RRGGBB
};

}  // namespace

std::unique_ptr<Canvas> make_tikz_canvas() { return std::make_unique<TikzCanvas>(); }

}  // namespace titer
