#pragma once
// What a timeline is drawn on: a page in pixels, y down, and what the formats of pictures have in
// common. Each format is a class of its own behind make_canvas().

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "titer/report/step/timeline_report.hpp"
#include "titer/view/point.hpp"

namespace titer {

/// A pixel in big points, 1/72 inch: the unit of PDF.
inline constexpr double kBigPoints = 0.75;

struct Area {
  double x = 0.0;
  double y = 0.0;
  double wide = 0.0;
  double high = 0.0;
};

/// Colours are #rrggbb.
struct TextLook {
  double size = 11.0;
  std::string_view colour = "#2d3748";
  bool is_bold = false;
  bool is_centred = false;  // about its spot; it begins there otherwise
};

inline constexpr double kNumberSize = 10.0;  // of letters in boxes

class Canvas {
 public:
  Canvas() = default;
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  virtual ~Canvas() = default;

  /// What boxes lie on.
  virtual void ground(const Area& area, std::string_view colour) = 0;
  /// The foot of the letters is at `foot`.
  virtual void text(Point foot, const TextLook& look, std::string_view words) = 0;
  /// Thin; `is_dashed` for bounds.
  virtual void line(Point from, Point to, std::string_view colour, bool is_dashed) = 0;
  /// Closes by itself.
  virtual void polygon(std::span<const Point> corners, std::string_view colour) = 0;

  /// One of many: all of a colour are one element.
  void box(const Area& area, const std::string& colour);
  /// In a box, centred.
  void number(Point foot, const std::string& colour, int number);
  /// Writes what was gathered: what follows is drawn over it.
  void flush();

  /// The file. REQUIRES that all is flushed.
  [[nodiscard]] virtual std::string file(double wide, double high) const = 0;

 protected:
  void add(std::string_view text) { body_ += text; }
  [[nodiscard]] const std::string& body() const { return body_; }

  [[nodiscard]] virtual std::string box_text(const Area& area) const = 0;
  [[nodiscard]] virtual std::string number_text(Point foot, std::string_view digits) const = 0;
  [[nodiscard]] virtual std::string filled(std::string_view colour, std::string_view boxes) = 0;
  [[nodiscard]] virtual std::string written(std::string_view colour, std::string_view numbers) = 0;

 private:
  std::string body_;
  std::map<std::string, std::string> boxes_;    // by colour
  std::map<std::string, std::string> numbers_;  // by colour
};

[[nodiscard]] std::unique_ptr<Canvas> make_canvas(PictureFormat format);

// Of each format, in a file of its own.
[[nodiscard]] std::unique_ptr<Canvas> make_svg_canvas();
[[nodiscard]] std::unique_ptr<Canvas> make_pdf_canvas();
[[nodiscard]] std::unique_ptr<Canvas> make_tikz_canvas();

}  // namespace titer
