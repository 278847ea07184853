#include "legend.hpp"

#include <algorithm>

namespace titer {

void Legend::add_swatch(std::string_view colour, double high) {
  canvas_.ground({at_.x, at_.y - 4.5 - high / 2, 13.0, high}, colour);
  at_.x += 14.0;
}

void Legend::add_label(std::string_view words) {
  canvas_.text({at_.x + 3.0, at_.y}, {}, words);
  at_.x += 22.0 + kNameLetter * static_cast<double>(words.size());
  right_ = std::max(right_, at_.x);
}

void Legend::add_remark(std::string_view words) {
  canvas_.text({at_.x + 3.0, at_.y}, {.colour = kQuietInk}, words);
  right_ = std::max(right_, at_.x + kNameLetter * static_cast<double>(words.size()));
}

void Legend::begin_row() { at_ = {left_, at_.y + 18.0}; }

}  // namespace titer
