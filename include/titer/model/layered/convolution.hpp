#pragma once
// Windows that slide over images (convolutions and pools): sizes, FLOPs, and the rows and columns
// that a rank needs of its neighbours when images are cut into parts (spatial partitioning).

#include <cstdint>
#include <optional>

namespace titer {

/// What one sample is between two operations. A vector is a map of one row and one column.
struct FeatureMap {
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;

  [[nodiscard]] std::int64_t pixels() const { return height * width; }
  [[nodiscard]] double elements() const {
    return static_cast<double>(channels) * static_cast<double>(pixels());
  }
  friend bool operator==(const FeatureMap&, const FeatureMap&) = default;
};

/// One direction of a window.
struct WindowSide {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;  // at both ends
  bool round_up = false;     // the last window may reach beyond the padding

  /// Places of the window: floor((n + 2 p - k) / s) + 1, or rounded up as long as the last one
  /// begins before the end of the image. None: it does not fit once.
  [[nodiscard]] std::optional<std::int64_t> output(std::int64_t input) const;
};

struct Window {
  WindowSide rows;
  WindowSide columns;

  /// Of as many channels as the input.
  [[nodiscard]] std::optional<FeatureMap> output(const FeatureMap& input) const;
};

struct Convolution {
  FeatureMap input;
  std::int64_t out_channels = 0;
  Window window;
  std::int64_t groups = 1;  // each convolves its part of the channels
  bool bias = true;

  /// REQUIRES a window that fits.
  [[nodiscard]] FeatureMap output() const;
  [[nodiscard]] std::int64_t parameters() const;
  /// 2 per multiply-add, for one sample: 2 H' W' C' (C / g) k_h k_w. The gradients of the input and
  /// of the weights take as many each.
  [[nodiscard]] double forward_flops() const;
};

/// Images cut into a grid of parts. Rows and columns are dealt in blocks of ceil(n / parts), so
/// that the last parts may have less, or none.
struct ImageGrid {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  [[nodiscard]] bool cuts() const { return rows > 1 || columns > 1; }
  /// Pixels of the largest part over all pixels.
  [[nodiscard]] double share(const FeatureMap& map) const;
};

/// What one part of the output needs of the input along one direction.
struct Halo {
  std::int64_t needed = 0;  // inside the image, from the first to the last that a window touches
  std::int64_t before = 0;  // of these, with the parts before
  std::int64_t after = 0;   // and with those behind

  [[nodiscard]] std::int64_t own() const { return needed - before - after; }
};

/// Of one of `parts` parts. Where the parts of input and output meet (n = s n', and parts divides
/// n'), an inner part needs p rows of the one before and k - s - p of the one behind: (k - 1) / 2
/// each for a stride of 1.
[[nodiscard]] Halo halo_of_part(const WindowSide& side,
                                std::int64_t input,
                                std::int64_t parts,
                                std::int64_t part);
/// Of that part which needs most of others.
[[nodiscard]] Halo widest_halo(const WindowSide& side, std::int64_t input, std::int64_t parts);

/// Pixels that a rank gets from its neighbours, corners included: R C - r c, where it needs R rows
/// and C columns, and has r and c of them itself. Of the rank with the widest halo both ways.
[[nodiscard]] std::int64_t halo_pixels(const Window& window,
                                       const FeatureMap& input,
                                       const ImageGrid& grid);

}  // namespace titer
