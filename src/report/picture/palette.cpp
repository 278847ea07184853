#include "palette.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace titer {
namespace {

using Colours = std::array<std::string_view, kPaintCount>;  // by Paint

constexpr Colours kUsualColours = {"#2f66ad",
                                   "#3a8f57",
                                   "#2a9fa8",
                                   "#d29a2d",
                                   "#8662b8",
                                   "#4a5568",
                                   "#c2562f",
                                   "#a0703c",
                                   "#a33b52",
                                   "#b8408a",
                                   "#6b7689",
                                   "#94804d"};

/// For those who tell few colours apart: eight that they do (Okabe and Ito 2008), the others grey.
/// Those that stand twice never fill the same rows.
constexpr Colours kSafeColours = {"#0072b2",
                                  "#009e73",
                                  "#56b4e9",
                                  "#e69f00",
                                  "#cc79a7",
                                  "#404040",
                                  "#d55e00",
                                  "#e69f00",
                                  "#cc79a7",
                                  "#0072b2",
                                  "#808080",
                                  "#000000"};

/// For paper without colours: what follows one another is far apart.
constexpr Colours kGreyColours = {"#5a5a5a",
                                  "#b0b0b0",
                                  "#989898",
                                  "#d0d0d0",
                                  "#7c7c7c",
                                  "#1c1c1c",
                                  "#303030",
                                  "#707070",
                                  "#505050",
                                  "#909090",
                                  "#a8a8a8",
                                  "#000000"};

const Colours& colours_of(Palette palette) {
  switch (palette) {
    case Palette::usual:
      break;
    case Palette::safe:
      return kSafeColours;
    case Palette::grey:
      return kGreyColours;
  }
  return kUsualColours;
}

std::string_view base_colour(Palette palette, Paint paint) {
  return colours_of(palette)[static_cast<std::size_t>(paint)];
}

int channel(std::string_view colour, std::size_t at) {
  return std::stoi(std::string(colour.substr(1 + 2 * at, 2)), nullptr, 16);
}

/// Mixes white into a colour.
std::string shade(std::string_view colour, double white) {
  std::string text = "#";
  for (std::size_t i = 0; i < 3; ++i) {
    const int part = channel(colour, i);
    text += fmt::format("{:02x}", static_cast<int>(std::lround(part + white * (255 - part))));
  }
  return text;
}

Paint paint_of(DeviceLane lane) {
  switch (lane) {
    case DeviceLane::compute:
      break;
    case DeviceLane::tensor_comm:
      return Paint::tensor_comm;
    case DeviceLane::context_comm:
      return Paint::context_comm;
    case DeviceLane::expert_comm:
      return Paint::expert_comm;
    case DeviceLane::pipeline_send:
    case DeviceLane::pipeline_receive:
      return Paint::pipeline_comm;
    case DeviceLane::data_comm:
      return Paint::data_comm;
    case DeviceLane::host_copy:
      return Paint::host_copy;
    case DeviceLane::optimizer:
      return Paint::optimizer;
  }
  return Paint::forward;
}

/// WCAG 2, relative luminance.
double luminance(std::string_view colour) {
  constexpr std::array<double, 3> weights = {0.2126, 0.7152, 0.0722};
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = channel(colour, i) / 255.0;
    sum += weights[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

}  // namespace

std::string pass_colour(Palette palette, Paint paint, int chunk, int chunks) {
  // Greys keep some distance from those of other passes.
  const double most_white = palette == Palette::grey ? 0.3 : 0.62;
  return shade(base_colour(palette, paint), chunks < 2 ? 0.0 : most_white * chunk / (chunks - 1));
}

std::string lane_colour(Palette palette, DeviceLane lane) {
  return shade(base_colour(palette, paint_of(lane)),
               lane == DeviceLane::pipeline_receive ? 0.4 : 0.0);
}

std::string memory_colour(Palette palette) {
  return palette == Palette::grey ? "#8c8c8c" : "#8fa3bd";
}

std::string ink_on(std::string_view colour) {
  constexpr double least_contrast = 3.0;  // of white, WCAG 2 for large letters
  return 1.05 / (luminance(colour) + 0.05) >= least_contrast ? "#ffffff" : "#1a202c";
}

}  // namespace titer
