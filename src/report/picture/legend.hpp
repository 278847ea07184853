#pragma once
// What the colours of a timeline mean, in rows below it.

#include <string_view>

#include "canvas.hpp"

namespace titer {

inline constexpr double kNameLetter = 6.2;  // width of a letter, on average, at 11 pixels
inline constexpr std::string_view kQuietInk = "#4a5568";

class Legend {
 public:
  /// `foot`: of the first row's letters.
  Legend(Canvas& canvas, Point foot) : canvas_(canvas), left_(foot.x), at_(foot) {}

  /// Several stand for one label where they come one after the other.
  void add_swatch(std::string_view colour, double high);
  void add_label(std::string_view words);
  void add_remark(std::string_view words);
  void begin_row();

  /// Of the longest row's end, and of the last one's letters.
  [[nodiscard]] Point end() const { return {right_, at_.y}; }

 private:
  Canvas& canvas_;
  double left_;
  Point at_;
  double right_ = 0.0;
};

}  // namespace titer
