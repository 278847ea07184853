#include "titer/model/layered/convolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace titer {
namespace TITER_TEST_FILE {

TEST(WindowSide, CountsTheFirstLayersOfPublishedModels) {
  EXPECT_EQ((WindowSide{.kernel = 7, .stride = 2, .padding = 3}.output(224)), 224 / 2);
  EXPECT_EQ((WindowSide{.kernel = 3, .stride = 2, .padding = 1}.output(112)), 112 / 2);
  EXPECT_EQ((WindowSide{.kernel = 3, .stride = 1, .padding = 1}.output(224)), 224);
  EXPECT_EQ((WindowSide{.kernel = 3, .stride = 2}.output(299)), (299 - 3) / 2 + 1);
  EXPECT_EQ((WindowSide{.kernel = 3}.output(28)), 28 - 2);
}

TEST(WindowSide, RoundsUpOnlyWhereTheLastWindowBeginsInside) {
  EXPECT_EQ((WindowSide{.kernel = 3, .stride = 2}.output(112)), 55);
  EXPECT_EQ((WindowSide{.kernel = 3, .stride = 2, .round_up = true}.output(112)), 56);
  EXPECT_EQ((WindowSide{.kernel = 2, .stride = 2, .round_up = true}.output(7)), 4);
  // A window at 4 would begin behind the 3 rows and the padding before them.
  EXPECT_EQ((WindowSide{.kernel = 2, .stride = 4, .padding = 1, .round_up = true}.output(3)), 1);
}

TEST(WindowSide, DoesNotFitIntoLessThanItsKernel) {
  EXPECT_EQ((WindowSide{.kernel = 5, .padding = 1}.output(2)), std::nullopt);
  EXPECT_EQ((WindowSide{.kernel = 4, .padding = 1}.output(2)), 1);
}

Convolution square(const FeatureMap& input, std::int64_t out, WindowSide side, std::int64_t g = 1) {
  return {.input = input,
          .out_channels = out,
          .window = {.rows = side, .columns = side},
          .groups = g,
          .bias = false};
}

TEST(Convolution, HasAWeightPerTapAndPairOfChannels) {
  const Convolution first = square({3, 224, 224}, 64, {.kernel = 7, .stride = 2, .padding = 3});
  EXPECT_EQ(first.parameters(), 64 * 3 * 7 * 7);
  EXPECT_EQ(first.output(), (FeatureMap{64, 112, 112}));
  EXPECT_DOUBLE_EQ(first.forward_flops(), 2.0 * 112 * 112 * 64 * 3 * 7 * 7);
  Convolution biased = first;
  biased.bias = true;
  EXPECT_EQ(biased.parameters(), 64 * 3 * 7 * 7 + 64);
}

TEST(Convolution, OfGroupsIsThatManySmallerOnes) {
  const WindowSide side = {.kernel = 3, .padding = 1};
  const Convolution whole = square({32, 14, 14}, 64, side, 4);
  const Convolution part = square({32 / 4, 14, 14}, 64 / 4, side);
  EXPECT_EQ(whole.parameters(), 4 * part.parameters());
  EXPECT_DOUBLE_EQ(whole.forward_flops(), 4 * part.forward_flops());
}

/// The places of a part, counted one by one.
std::set<std::int64_t> places(std::int64_t size, std::int64_t parts, std::int64_t part) {
  std::set<std::int64_t> found;
  const std::int64_t block = (size + parts - 1) / parts;
  for (std::int64_t i = 0; i < size; ++i) {
    if (i / block == part) {
      found.insert(i);
    }
  }
  return found;
}

/// The input places inside the image that a part's outputs touch, and those between them.
std::set<std::int64_t> touched(const WindowSide& side,
                               std::int64_t input,
                               std::int64_t parts,
                               std::int64_t part) {
  std::set<std::int64_t> found;
  for (const std::int64_t out : places(side.output(input).value(), parts, part)) {
    for (std::int64_t tap = 0; tap < side.kernel; ++tap) {
      const std::int64_t at = out * side.stride - side.padding + tap;
      if (at >= 0 && at < input) {
        found.insert(at);
      }
    }
  }
  for (std::int64_t at = found.empty() ? 1 : *found.begin(); !found.empty() && at < *found.rbegin();
       ++at) {
    found.insert(at);
  }
  return found;
}

constexpr std::array kSides = {WindowSide{.kernel = 1},
                               WindowSide{.kernel = 1, .stride = 2},
                               WindowSide{.kernel = 2, .stride = 2},
                               WindowSide{.kernel = 3},
                               WindowSide{.kernel = 3, .padding = 1},
                               WindowSide{.kernel = 3, .stride = 2, .padding = 1},
                               WindowSide{.kernel = 3, .stride = 2, .round_up = true},
                               WindowSide{.kernel = 5, .padding = 2},
                               WindowSide{.kernel = 7, .stride = 2, .padding = 3}};

TEST(Halo, IsWhatCountingTheTouchedRowsGives) {
  for (const WindowSide& side : kSides) {
    for (const std::int64_t input : {7, 12, 28, 31, 56}) {
      for (const std::int64_t parts : {1, 2, 3, 4, 7, 8, 64}) {
        std::size_t widest = 0;
        for (std::int64_t part = 0; part < parts; ++part) {
          const std::set<std::int64_t> own = places(input, parts, part);
          const std::set<std::int64_t> needed = touched(side, input, parts, part);
          std::int64_t before = 0;
          std::int64_t after = 0;
          for (const std::int64_t row : needed) {
            const bool foreign = !own.contains(row);
            const bool earlier = row / ((input + parts - 1) / parts) < part;
            before += foreign && earlier ? 1 : 0;
            after += foreign && !earlier ? 1 : 0;
          }
          const Halo halo = halo_of_part(side, input, parts, part);
          EXPECT_EQ(halo.needed, static_cast<std::int64_t>(needed.size()));
          EXPECT_EQ(halo.before, before) << side.kernel << '/' << side.stride << ' ' << input;
          EXPECT_EQ(halo.after, after) << side.kernel << '/' << side.stride << ' ' << input;
          widest = std::max(widest, static_cast<std::size_t>(before + after));
        }
        const Halo most = widest_halo(side, input, parts);
        EXPECT_EQ(static_cast<std::size_t>(most.before + most.after), widest);
      }
    }
  }
}

TEST(Halo, OfAnInnerPartIsHalfTheKernelOnBothSides) {
  for (const std::int64_t k : {1, 3, 5, 7}) {
    const WindowSide same = {.kernel = k, .padding = (k - 1) / 2};
    const Halo inner = halo_of_part(same, 64, 4, 1);
    EXPECT_EQ(inner.before, (k - 1) / 2);
    EXPECT_EQ(inner.after, (k - 1) / 2);
    EXPECT_EQ(halo_of_part(same, 64, 4, 0).before, 0);  // the image's edge
    EXPECT_EQ(halo_of_part(same, 64, 4, 3).after, 0);
    const WindowSide half = {.kernel = k, .stride = 2, .padding = (k - 1) / 2};
    const std::int64_t behind = std::max<std::int64_t>(0, k - 2 - (k - 1) / 2);
    EXPECT_EQ(halo_of_part(half, 64, 4, 1).before, (k - 1) / 2);
    EXPECT_EQ(halo_of_part(half, 64, 4, 1).after, behind);
  }
}

TEST(HaloPixels, AreThoseOfTheRankThatNeedsMost) {
  for (const WindowSide& side : kSides) {
    const Window window = {.rows = side, .columns = side};
    for (const auto& [height, width, rows, columns] : {std::array{24, 32, 4, 1},
                                                       std::array{24, 32, 1, 4},
                                                       std::array{24, 32, 2, 2},  // seed 002
                                                       std::array{48, 48, 3, 4}}) {
      const FeatureMap input = {.channels = 8, .height = height, .width = width};
      std::size_t most = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
          std::size_t foreign = 0;
          for (const std::int64_t y : touched(side, height, rows, row)) {
            for (const std::int64_t x : touched(side, width, columns, column)) {
              const bool own = places(height, rows, row).contains(y) &&
                               places(width, columns, column).contains(x);
              foreign += own ? 0U : 1U;
            }
          }
          most = std::max(most, foreign);
        }
      }
      EXPECT_EQ(halo_pixels(window, input, {.rows = rows, .columns = columns}),
                static_cast<std::int64_t>(most))
          << side.kernel << '/' << side.stride << ' ' << rows << " x " << columns;
    }
  }
}

TEST(ImageGrid, GivesTheLargestPartsShare) {
  const FeatureMap map = {.channels = 8, .height = 7, .width = 56};
  EXPECT_DOUBLE_EQ((ImageGrid{.rows = 1}.share(map)), 1.0);
  EXPECT_DOUBLE_EQ((ImageGrid{.rows = 4}.share(map)), 2.0 / 7);  // 2, 2, 2 and 1 rows
  EXPECT_DOUBLE_EQ((ImageGrid{.rows = 2, .columns = 2}.share(map)), 4.0 / 7 * 28.0 / 56);
  EXPECT_DOUBLE_EQ((ImageGrid{.rows = 100}.share(map)), 1.0 / 7);
  EXPECT_DOUBLE_EQ((ImageGrid{.rows = 100}.share({.channels = 1000})), 1.0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
