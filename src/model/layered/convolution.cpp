#include "titer/model/layered/convolution.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The places of one part: first <= i < end.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

Stretch stretch_of(std::int64_t size, std::int64_t parts, std::int64_t part) {
  const std::int64_t length = ceil_divide(size, parts);
  return {.first = std::min(size, part * length), .end = std::min(size, (part + 1) * length)};
}

double largest_share(std::int64_t size, std::int64_t parts) {
  return static_cast<double>(ceil_divide(size, parts)) / static_cast<double>(size);
}

}  // namespace

std::optional<std::int64_t> WindowSide::output(std::int64_t input) const {
  const std::int64_t room = input + 2 * padding - kernel;
  if (room < 0) {
    return std::nullopt;
  }
  const std::int64_t places = (round_up ? ceil_divide(room, stride) : room / stride) + 1;
  const bool begins_outside = round_up && (places - 1) * stride >= input + padding;
  return begins_outside ? places - 1 : places;
}

std::optional<FeatureMap> Window::output(const FeatureMap& input) const {
  const auto height = rows.output(input.height);
  const auto width = columns.output(input.width);
  if (!height || !width) {
    return std::nullopt;
  }
  return FeatureMap{.channels = input.channels, .height = *height, .width = *width};
}

FeatureMap Convolution::output() const {
  const std::optional<FeatureMap> map = window.output(input);
  ensure(map.has_value(), "a convolution's window fits into its input");
  return {.channels = out_channels, .height = map->height, .width = map->width};
}

std::int64_t Convolution::parameters() const {
  const std::int64_t taps = window.rows.kernel * window.columns.kernel;
  return out_channels * (input.channels / groups) * taps + (bias ? out_channels : 0);
}

double Convolution::forward_flops() const {
  const auto taps = static_cast<double>(window.rows.kernel * window.columns.kernel);
  const std::int64_t inner = input.channels / groups;
  return 2.0 * output().elements() * static_cast<double>(inner) * taps;
}

double ImageGrid::share(const FeatureMap& map) const {
  return largest_share(map.height, rows) * largest_share(map.width, columns);
}

Halo halo_of_part(const WindowSide& side,
                  std::int64_t input,
                  std::int64_t parts,
                  std::int64_t part) {
  const Stretch out = stretch_of(side.output(input).value_or(0), parts, part);
  if (out.first == out.end) {
    return {};
  }
  const Stretch own = stretch_of(input, parts, part);
  const std::int64_t last = (out.end - 1) * side.stride - side.padding + side.kernel;
  const std::int64_t first =
      std::clamp<std::int64_t>(out.first * side.stride - side.padding, 0, input);
  const std::int64_t end = std::clamp<std::int64_t>(last, first, input);
  return {.needed = end - first,
          .before = std::max<std::int64_t>(0, std::min(end, own.first) - first),
          .after = std::max<std::int64_t>(0, end - std::max(first, own.end))};
}

Halo widest_halo(const WindowSide& side, std::int64_t input, std::int64_t parts) {
  const std::int64_t some = std::min(parts, input);  // the others have nothing
  Halo widest;
  for (std::int64_t part = 0; part < some; ++part) {
    const Halo halo = halo_of_part(side, input, parts, part);
    if (widest.needed == 0 || halo.before + halo.after > widest.before + widest.after) {
      widest = halo;
    }
  }
  return widest;
}

std::int64_t halo_pixels(const Window& window, const FeatureMap& input, const ImageGrid& grid) {
  const Halo rows = widest_halo(window.rows, input.height, grid.rows);
  const Halo columns = widest_halo(window.columns, input.width, grid.columns);
  return rows.needed * columns.needed - rows.own() * columns.own();
}

}  // namespace titer
