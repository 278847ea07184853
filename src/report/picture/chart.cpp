#include "chart.hpp"

#include <fmt/format.h>

#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr double kRight = 24.0;
constexpr double kBottom = 56.0;
constexpr double kEntry = 17.0;  // height of an entry of the legend
constexpr std::string_view kMarkText = "font-size=\"11\" fill=\"#4a5568\"";

}  // namespace

Chart::Chart(ChartSize size, std::string_view title, std::string_view note) : size_(size) {
  text(14.0, 24.0, "font-size=\"15\" font-weight=\"bold\" fill=\"#1a202c\"", title);
  text(14.0, 42.0, "font-size=\"12\" fill=\"#4a5568\"", note);
}

void Chart::text(double x, double y, std::string_view attributes, std::string_view words) {
  body_ += fmt::format(
      "<text x=\"{}\" y=\"{}\" {}>{}</text>\n", tenths(x), tenths(y), attributes, escaped(words));
}

void Chart::x_mark(double x, std::string_view label) {
  body_ += fmt::format(
      "<path stroke=\"#e2e8f0\" d=\"M{} {}V{}\"/>\n", tenths(x), tenths(top()), tenths(bottom()));
  text(x, bottom() + 17.0, fmt::format("{} text-anchor=\"middle\"", kMarkText), label);
}

void Chart::y_mark(double y, std::string_view label) {
  body_ += fmt::format(
      "<path stroke=\"#e2e8f0\" d=\"M{} {}H{}\"/>\n", tenths(left()), tenths(y), tenths(right()));
  text(left() - 7.0, y + 4.0, fmt::format("{} text-anchor=\"end\"", kMarkText), label);
}

void Chart::axis_names(std::string_view of_x, std::string_view of_y) {
  constexpr std::string_view style = "font-size=\"12\" fill=\"#2d3748\" text-anchor=\"middle\"";
  text((left() + right()) / 2.0, bottom() + 40.0, style, of_x);
  const double middle = (top() + bottom()) / 2.0;
  text(
      18.0, middle, fmt::format("{} transform=\"rotate(-90 18 {})\"", style, tenths(middle)), of_y);
}

std::pair<double, double> Chart::legend_entry(std::string_view words) {
  const std::pair<double, double> place = {right() + kRight, next_entry_};
  text(place.first + 18.0, place.second + 4.0, "font-size=\"11\" fill=\"#2d3748\"", words);
  next_entry_ += kEntry;
  return place;
}

std::string Chart::svg(std::string_view on_paper) const {
  const double width = right() + kRight + size_.legend;
  const double height = bottom() + kBottom;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica,Arial,sans-serif\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
             "<clipPath id=\"paper-{4}-{5}\"><rect x=\"{2}\" y=\"{3}\" width=\"{4}\" "
             "height=\"{5}\"/>"
             "</clipPath>\n",
             width,
             height,
             tenths(left()),
             tenths(top()),
             tenths(size_.width),
             tenths(size_.height)) +
         body_ +
         fmt::format(
             "<g clip-path=\"url(#paper-{3}-{4})\">\n{0}</g>\n"
             "<rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\" fill=\"none\" "
             "stroke=\"#4a5568\"/>\n</svg>\n",
             on_paper,
             tenths(left()),
             tenths(top()),
             tenths(size_.width),
             tenths(size_.height));
}

}  // namespace titer
