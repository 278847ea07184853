#include "titer/hardware/tiles.hpp"

#include <algorithm>
#include <limits>

namespace titer {
namespace {

constexpr double kExact = 1e15;  // integers beyond may have no place in a double
constexpr std::array<std::array<int, 2>, 8> kTiles = {
    {{256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64}}};
constexpr std::array<double, 3> kSides = {64, 128, 256};
constexpr double kLeastInner = 256;  // of a part, where the inner extent is cut
constexpr double kLargestTile = 128;
constexpr Bytes kFetched = Bytes::from_si(16);  // at once
constexpr Bytes kNarrow = Bytes::from_si(2);    // numbers whose products need them so
constexpr double kHeadStep = 32;

/// Positive numbers only, with 1e-9 to spare for what a division left; faster than the library's
/// where the processor has no instruction.
double round_up(double number) {
  if (number > kExact) {
    return number;
  }
  const double x = number - 1e-9;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole + static_cast<double>(whole < x);
}

}  // namespace

ProductTiles::ProductTiles(const Chip& chip, DataType type)
    : aligned_(static_cast<std::int64_t>(kFetched / size_of(type))),
      wave_(1.0 / chip.tiling->units),
      partial_wave_(chip.tiling->partial_wave),
      grouped_(chip.tiling->grouped),
      unaligned_(size_of(type) <= kNarrow ? chip.tiling->unaligned : 1.0),
      unaligned_batch_(size_of(type) <= kNarrow
                           ? chip.tiling->unaligned_batch.value_or(chip.tiling->unaligned)
                           : 1.0),
      split_(chip.tiling->split.si()),
      sum_(8.0 / chip.tiling->feed.si()) {
  const MatrixRate& matrix = *chip.rate(type);
  const double rate = wave_ * (matrix.plateau * matrix.peak).si();
  const double feed = wave_ * chip.tiling->feed.si();
  const double store = wave_ * chip.tiling->store.si();
  const double element = size_of(type).si();
  const auto place = [](int side) { return static_cast<std::size_t>(side / 128); };
  for (std::size_t i = 0; i < kTiles.size(); ++i) {
    const double a = kTiles[i][0];
    const double b = kTiles[i][1];
    tiles_[i] = {.rows = place(kTiles[i][0]),
                 .columns = place(kTiles[i][1]),
                 .step = std::max(2.0 * a * b / rate, element * (a + b) / feed),
                 .done = element * a * b / store};
  }
}

bool ProductTiles::is_aligned(const KernelShape& shape) const {
  const auto whole = [this](float extent) {
    return static_cast<std::int64_t>(extent) % aligned_ == 0;
  };
  return shape.padded ||
         (whole(shape.columns) &&
          whole(shape.tokens == KernelShape::Tokens::rows ? shape.inner : shape.rows));
}

Seconds ProductTiles::time(const KernelShape& shape) const {
  std::array<double, kSides.size()> down{};
  std::array<double, kSides.size()> across{};
  for (std::size_t i = 0; i < kSides.size(); ++i) {
    down[i] = round_up(shape.rows / kSides[i]) * shape.count * wave_;
    across[i] = round_up(shape.columns / kSides[i]);
  }
  const double unaligned = shape.count > 1 ? unaligned_batch_ : unaligned_;
  const double reached =
      (shape.grouped ? grouped_ : 1.0) * (unaligned < 1.0 && !is_aligned(shape) ? unaligned : 1.0);
  const double inner = shape.inner / reached;
  const double sums = sum_ * shape.rows * shape.columns * shape.count;
  const double least_cut = std::min(1.0, kLeastInner / inner);
  double least = std::numeric_limits<double>::infinity();
  for (const Tile& tile : tiles_) {
    const double waves = down[tile.rows] * across[tile.columns];
    const double loop = inner * tile.step;
    const double whole = std::max(1.0, waves + partial_wave_ * (round_up(waves) - waves));
    least = std::min(least, whole * (loop + tile.done));
    if (waves < 1.0) {
      const double cut = std::max(waves, least_cut);
      least = std::min(least, cut * loop + tile.done + split_ + sums / cut);
    }
  }
  return Seconds::from_si(least);
}

AttentionTiles::AttentionTiles(const Chip& chip, DataType type)
    : figures_(*chip.attention_tiling),
      backward_(chip.attention_backward),
      units_(chip.tiling->units),
      unit_rate_((chip.attention_plateau * chip.rate(type)->peak).si() / units_),
      backward_unit_rate_(
          (backward_ ? backward_->plateau * chip.rate(type)->peak : FlopsPerSecond{}).si() /
          units_),
      memory_rate_((chip.memory.efficiency * chip.memory.bandwidth).si()) {}

double AttentionTiles::tiles_time(const Pass& pass,
                                  const KernelShape& shape,
                                  double tile,
                                  double group,
                                  double operations) const {
  const double width = kHeadStep * round_up(shape.inner / kHeadStep);
  const double key = tile * (operations * width + pass.softmax) / pass.rate;
  const double edges = shape.edges * pass.edge;
  const double last = shape.edges == 1 ? 2.0 * shape.columns : shape.columns + edges;
  const double waves = round_up(shape.rows * group / tile) * shape.count / group / units_;
  const double all = waves * ((shape.columns + edges) * key + pass.start);
  const double longest = last * key + pass.start;
  return waves <= 1.0 ? longest
                      : std::max(longest, all + pass.partial_wave * longest * (1.0 - 1.0 / waves));
}

double AttentionTiles::forward_time(const KernelShape& shape) const {
  const double group = figures_.packs_groups ? shape.group : 1.0;
  double tile = figures_.smallest_tile;
  while (tile < kLargestTile && tile < shape.rows * group) {
    tile *= 2.0;
  }
  const Pass pass{.rate = unit_rate_ * (shape.inner > kWideHead ? figures_.wide_heads : 1.0),
                  .softmax = figures_.softmax,
                  .edge = figures_.edge,
                  .start = figures_.start.si(),
                  .partial_wave = figures_.partial_wave};
  return tiles_time(pass, shape, tile, group, 4.0);
}

double AttentionTiles::backward_time(const KernelShape& shape, double operations) const {
  const AttentionBackward& own = *backward_;
  const Pass pass{.rate = backward_unit_rate_ * (shape.inner > kWideHead ? own.wide_heads : 1.0),
                  .softmax = own.softmax,
                  .edge = own.edge,
                  .start = own.start.si(),
                  .partial_wave = own.partial_wave};
  const double elements = shape.rows * shape.inner * shape.count;
  return own.others.si() + elements * own.traffic.si() / memory_rate_ +
         tiles_time(pass, shape, kLargestTile, 1.0, operations);
}

Seconds AttentionTiles::time(const KernelShape& shape, Flops flops) const {
  const double operations =
      flops.si() / (static_cast<double>(shape.rows) * shape.columns * shape.inner * shape.count);
  if (shape.backward && backward_) {
    return Seconds::from_si(backward_time(shape, operations));
  }
  const double products = operations / 4.0;
  return Seconds::from_si(products * forward_time(shape) /
                          (shape.backward ? figures_.backward : 1.0));
}

}  // namespace titer
