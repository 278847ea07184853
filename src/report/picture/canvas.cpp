#include "canvas.hpp"

#include "titer/units/ensure.hpp"

namespace titer {

void Canvas::box(const Area& area, const std::string& colour) { boxes_[colour] += box_text(area); }

void Canvas::number(Point foot, const std::string& colour, int number) {
  numbers_[colour] += number_text(foot, std::to_string(number));
}

void Canvas::flush() {
  for (const auto& [colour, boxes] : boxes_) {
    add(filled(colour, boxes));
  }
  for (const auto& [colour, numbers] : numbers_) {
    add(written(colour, numbers));
  }
  boxes_.clear();
  numbers_.clear();
}

std::unique_ptr<Canvas> make_canvas(PictureFormat format) {
  switch (format) {
    case PictureFormat::svg:
      return make_svg_canvas();
    case PictureFormat::pdf:
      return make_pdf_canvas();
    case PictureFormat::tikz:
      return make_tikz_canvas();
  }
  ensure(false, "every format of pictures has a canvas");
  return nullptr;
}

}  // namespace titer
