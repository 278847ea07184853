#include "titer/hardware/tiles.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "titer/hardware/kernel.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kUnits = 10;
constexpr double kPeak = 100e12;
constexpr double kPlateau = 0.8;
constexpr double kUnitRate = kPlateau * kPeak / kUnits;
constexpr double kFeed = 10e12;
constexpr double kStore = 2e12;
constexpr double kSplit = 3e-6;
constexpr double kBandwidth = 1e12;

/// Fed so fast that a tile's size does not matter, and a partial wave costs a whole one.
Chip toy_chip() {
  Chip chip;
  chip.matrix[static_cast<std::size_t>(DataType::bf16)] =
      MatrixRate{.peak = FlopsPerSecond::from_si(kPeak), .plateau = kPlateau, .saturation = {}};
  chip.tiling = Tiling{.units = kUnits,
                       .feed = BytesPerSecond::from_si(1e3 * kFeed),
                       .store = BytesPerSecond::from_si(1e6 * kStore),
                       .partial_wave = 1,
                       .split = Seconds::from_si(1.0)};
  chip.attention_plateau = kPlateau;
  chip.attention_tiling = AttentionTiling{};
  chip.memory = {.capacity = 16_GiB, .bandwidth = BytesPerSecond::from_si(kBandwidth)};
  return chip;
}

double product(float rows, float columns, float inner, const Chip& chip = toy_chip()) {
  return ProductTiles(chip, DataType::bf16)
      .time({.rows = rows, .columns = columns, .inner = inner})
      .si();
}

double mma(double rows, double columns, double inner) {
  return 2 * rows * columns * inner / kUnitRate;
}

TEST(ProductTiles, TakeOneTileWhereAllFitInAWave) {
  EXPECT_NEAR(product(640, 64, 4096), mma(64, 64, 4096), 1e-6 * mma(64, 64, 4096));
  EXPECT_NEAR(product(1, 1, 4096), mma(64, 64, 4096), 1e-6 * mma(64, 64, 4096));
}

TEST(ProductTiles, StepUpWithEveryWave) {
  // Ten units: ten tiles of 64 x 64 in the first wave, twenty in the second.
  const double wave = mma(64, 64, 4096);
  for (const auto& [rows, waves] : {std::pair{641.F, 2.0}, {1280.F, 2.0}, {1281.F, 3.0}}) {
    EXPECT_NEAR(product(rows, 64, 4096), waves * wave, 1e-6 * wave) << rows;
  }
}

TEST(ProductTiles, AreSlowerWhereRowsOfTheirMatricesBeginOffSixteenBytes) {
  Chip chip = toy_chip();
  chip.tiling->unaligned = 0.25;
  const auto time = [&chip](const KernelShape& shape) {
    return ProductTiles(chip, DataType::bf16).time(shape).si();
  };
  constexpr float kOut = 4096;
  constexpr float kIn = 1024;
  const double aligned = time({.rows = 640, .columns = kOut, .inner = kIn});
  // Tokens are along no row of a matrix that a product fetches.
  EXPECT_NEAR(time({.rows = 639, .columns = kOut, .inner = kIn}), aligned, 1e-6 * aligned);
  EXPECT_NEAR(time({.rows = 640, .columns = kOut - 1, .inner = kIn}), 4 * aligned, 1e-6 * aligned);
  EXPECT_NEAR(time({.rows = 640, .columns = kOut, .inner = kIn - 4}), 4 * aligned, 0.03 * aligned);
  const KernelShape gradient{
      .rows = kIn, .columns = kOut, .inner = 639, .tokens = KernelShape::Tokens::inner};
  KernelShape off = gradient;
  off.rows = kIn - 4;
  EXPECT_NEAR(time(off), 4 * time(gradient), 0.01 * time(off));
  off.padded = true;
  EXPECT_NEAR(time(off), time(gradient), 0.01 * time(gradient));
}

TEST(ProductTiles, OfABatchHaveAFigureOfTheirOwnWhereTheyAreUnaligned) {
  Chip chip = toy_chip();
  chip.tiling->unaligned = 0.25;
  const auto time = [&chip](const KernelShape& shape) {
    return ProductTiles(chip, DataType::bf16).time(shape).si();
  };
  const KernelShape one{.rows = 640, .columns = 1020, .inner = 4096};
  const KernelShape batch{.rows = 640, .columns = 1020, .inner = 4096, .count = 8};
  EXPECT_NEAR(time(batch), 8 * time(one), 1e-6 * time(batch));
  chip.tiling->unaligned_batch = 0.125;
  EXPECT_NEAR(time(batch), 16 * time(one), 1e-6 * time(batch));
}

TEST(ProductTiles, LoseOnlyAShareOfAPartialWaveWhereUnitsGoOn) {
  Chip chip = toy_chip();
  chip.tiling->partial_wave = 0.25;
  // 15 tiles: 1.5 waves, and a quarter of the half that is idle.
  EXPECT_NEAR(product(960, 64, 4096, chip), 1.625 * mma(64, 64, 4096), 1e-6 * mma(64, 64, 4096));
}

TEST(ProductTiles, AreFedFromTheCache) {
  Chip chip = toy_chip();
  chip.tiling->feed = BytesPerSecond::from_si(kFeed / 100);
  // The largest tiles read least: 256 x 128, 20 of them, two waves of 2 (256 + 128) k bytes.
  const double wave = 2.0 * (256 + 128) * 4096 / (kFeed / 100 / kUnits);
  EXPECT_NEAR(product(2560, 256, 4096, chip), 2 * wave, 1e-6 * wave);
}

TEST(ProductTiles, AreStoredAfterTheLoop) {
  Chip chip = toy_chip();
  chip.tiling->store = BytesPerSecond::from_si(kStore);
  const double tile = mma(64, 64, 4096) + 2.0 * 64 * 64 / (kStore / kUnits);
  EXPECT_NEAR(product(640, 64, 4096, chip), tile, 1e-6 * tile);
}

TEST(ProductTiles, CutALongInnerExtentWhereUnitsWouldIdle) {
  Chip chip = toy_chip();
  chip.tiling->split = Seconds::from_si(kSplit);
  // One tile for ten units: a tenth of the loop each, and ten sums of 64 x 64 results of 8 bytes.
  const double inner = 1 << 20;
  const double expected =
      mma(64, 64, inner) / kUnits + kSplit + kUnits * 64 * 64 * 8.0 / (1e3 * kFeed);
  EXPECT_NEAR(product(64, 64, static_cast<float>(inner), chip), expected, 1e-3 * expected);
  // Not worth it, and not possible below 256 of the inner extent.
  EXPECT_NEAR(product(64, 64, 256, chip), mma(64, 64, 256), 1e-6 * mma(64, 64, 256));
}

TEST(ProductTiles, OfAGroupShareTheWaves) {
  const ProductTiles tiles(toy_chip(), DataType::bf16);
  const Seconds many = tiles.time({.rows = 64, .columns = 64, .inner = 512, .count = 30});
  EXPECT_NEAR(many.si(), 3 * mma(64, 64, 512), 1e-6 * mma(64, 64, 512));
}

TEST(ProductTiles, OfUnequalExtentsReachAShareOfTheRate) {
  Chip chip = toy_chip();
  chip.tiling->grouped = 0.5;
  KernelShape experts{.rows = 64, .columns = 64, .inner = 512, .count = 30};
  const ProductTiles tiles(chip, DataType::bf16);
  const double equal = tiles.time(experts).si();
  experts.grouped = true;
  EXPECT_NEAR(tiles.time(experts).si(), 2 * equal, 1e-6 * equal);
}

TEST(ProductTiles, AreMonotoneInEveryExtent) {
  Chip chip = toy_chip();
  chip.tiling->partial_wave = 0.3;
  chip.tiling->split = Seconds::from_si(kSplit);
  chip.tiling->feed = BytesPerSecond::from_si(kFeed);
  for (float m = 1; m < 5e4F; m *= 1.7F) {
    for (float n = 1; n < 5e4F; n *= 2.3F) {
      for (float k = 1; k < 5e4F; k *= 2.9F) {
        const double time = product(m, n, k, chip);
        EXPECT_LE(time, product(1.1F * m + 1, n, k, chip)) << m << " " << n << " " << k;
        EXPECT_LE(time, product(m, 1.1F * n + 1, k, chip)) << m << " " << n << " " << k;
        EXPECT_LE(time, product(m, n, 1.1F * k + 1, chip)) << m << " " << n << " " << k;
        EXPECT_GE(time, 2.0 * m * n * k / (kPlateau * kPeak));
      }
    }
  }
}

TEST(KernelShape, OfAPartOfTheTokensIsCutAlongThem) {
  const KernelShape forward{.rows = 4096, .columns = 1024, .inner = 512};
  KernelShape gradient{.rows = 512, .columns = 1024, .inner = 4096};
  gradient.tokens = KernelShape::Tokens::inner;
  EXPECT_EQ(forward.part(0.25).rows, 1024);
  EXPECT_EQ(forward.part(0.25).inner, 512);
  EXPECT_EQ(gradient.part(0.25).rows, 512);
  EXPECT_EQ(gradient.part(0.25).inner, 1024);
}

/// Of one head, of products only.
double attention(KernelShape shape, const Chip& chip = toy_chip(), double repeated = 1) {
  const double pairs = static_cast<double>(shape.rows) * shape.columns * shape.count;
  return AttentionTiles(chip, DataType::bf16)
      .time(shape, Flops::from_si(repeated * 4 * pairs * shape.inner))
      .si();
}

TEST(AttentionTiles, TakeOneTileWhereAllFitInAWave) {
  // 128 queries, 1000 keys: 4 d operations for each score.
  const double tile = 128 * 1000 * 4.0 * 64 / kUnitRate;
  EXPECT_NEAR(attention({.rows = 128, .columns = 1000, .inner = 64}), tile, 1e-9 * tile);
  EXPECT_NEAR(attention({.rows = 1280, .columns = 1000, .inner = 64}), tile, 1e-9 * tile);
}

TEST(AttentionTiles, WaitForTheLongestTileOfACausalMask) {
  // The last queries see twice the mean.
  const double mean = 128 * 1000 * 4.0 * 64 / kUnitRate;
  const KernelShape causal{.rows = 128, .columns = 1000, .inner = 64, .edges = 1};
  EXPECT_NEAR(attention(causal), 2 * mean, 1e-9 * mean);
  KernelShape many = causal;
  many.count = 20;  // two waves, and half of the longest that others wait for
  EXPECT_NEAR(attention(many), 2 * mean + 2 * mean * 0.5, 1e-9 * mean);
}

TEST(AttentionTiles, PayForSoftmaxEdgesAndStarts) {
  Chip chip = toy_chip();
  chip.attention_tiling->softmax = 100;
  chip.attention_tiling->edge = 64;
  chip.attention_tiling->start = 2_us;
  const KernelShape window{.rows = 128, .columns = 1000, .inner = 64, .edges = 2};
  const double tile = 128 * (1000 + 2 * 64) * (4.0 * 64 + 100) / kUnitRate + 2e-6;
  EXPECT_NEAR(attention(window, chip), tile, 1e-9 * tile);
}

TEST(AttentionTiles, FillHeadsUpAndSlowDownForWideOnes) {
  Chip chip = toy_chip();
  chip.attention_tiling->wide_heads = 0.5;
  const auto tile = [](double width) { return 128 * 1000 * 4.0 * width / kUnitRate; };
  // Of FLOPs of the head's own width: 72 is computed as 96.
  EXPECT_NEAR(attention({.rows = 128, .columns = 1000, .inner = 72}, chip), tile(96), 1e-12);
  EXPECT_NEAR(attention({.rows = 128, .columns = 1000, .inner = 256}, chip), 2 * tile(256), 1e-12);
}

TEST(AttentionTiles, SharePackedTilesAmongTheHeadsOfAGroup) {
  Chip chip = toy_chip();
  KernelShape few{.rows = 16, .columns = 16, .inner = 64, .count = 160, .group = 8};
  const double tile = 128 * 16 * 4.0 * 64 / kUnitRate;
  EXPECT_NEAR(attention(few, chip), 16 * tile + tile * (1 - 1.0 / 16), 1e-12);
  chip.attention_tiling->packs_groups = true;  // 8 x 16 queries fill a tile: 20 tiles
  EXPECT_NEAR(attention(few, chip), 2 * tile + tile * (1 - 1.0 / 2), 1e-12);
}

TEST(AttentionTiles, RepeatTheProductsBackward) {
  Chip chip = toy_chip();
  chip.attention_tiling->backward = 0.8;
  KernelShape shape{.rows = 4096, .columns = 2048.5, .inner = 128, .count = 32, .edges = 1};
  const double forward = attention(shape, chip);
  shape.backward = true;
  EXPECT_NEAR(attention(shape, chip, 2.5), 2.5 / 0.8 * forward, 1e-9 * forward);
}

TEST(AttentionTiles, HaveFiguresOfTheBackwardKernelWhereItWasMeasured) {
  Chip chip = toy_chip();
  chip.attention_backward = {.plateau = chip.attention_plateau,
                             .wide_heads = 0.5,
                             .softmax = 100,
                             .edge = 64,
                             .start = 2_us,
                             .partial_wave = 0,
                             .others = 5_us,
                             .traffic = 16_B};
  chip.memory.bandwidth = 1_TBps;
  chip.memory.efficiency = 0.5;
  // One tile of keys: five products of 2 d operations for each score.
  KernelShape shape{.rows = 128, .columns = 1000, .inner = 64, .edges = 2, .backward = true};
  const auto expected = [&shape](double rate) {
    const double tile = 128 * (1000 + 2 * 64) * (10.0 * shape.inner + 100) / rate + 2e-6;
    return 5e-6 + 128 * shape.inner * 16 / 0.5e12 + tile;
  };
  EXPECT_NEAR(attention(shape, chip, 2.5), expected(kUnitRate), 1e-9 * expected(kUnitRate));
  shape.inner = 256;
  EXPECT_NEAR(attention(shape, chip, 2.5), expected(kUnitRate / 2), 1e-9 * expected(kUnitRate));
}

TEST(KernelClock, TimesKnownExtentsByTilesAndTheirBytesBeside) {
  Chip chip = toy_chip();
  chip.launch_floor = 5_us;
  const KernelClock clock(chip, DataType::bf16);
  const KernelShape shape{.rows = 640, .columns = 64, .inner = 4096};
  const Kernel kernel{.kind = KernelKind::matrix,
                      .flops = Flops::from_si(2.0 * 640 * 64 * 4096),
                      .bytes = 10_MB,
                      .shape = shape};
  const double expected = 5e-6 + std::hypot(product(640, 64, 4096), 10e6 / kBandwidth);
  EXPECT_NEAR(clock.time(kernel).si(), expected, 1e-12);
  EXPECT_GE(clock.time(kernel), 5_us + kernel.bytes / (1_TBps));
  EXPECT_GE(clock.time(kernel), kernel.flops / FlopsPerSecond::from_si(kPeak));
}

TEST(KernelClock, KeepsToTheRooflineWhereExtentsOrTilesAreUnknown) {
  const Kernel unknown{KernelKind::matrix, 1_TFLOP, 1_MB};
  Chip chip = toy_chip();
  EXPECT_FALSE(KernelClock(chip, DataType::bf16).by_tiles(unknown));
  EXPECT_DOUBLE_EQ(KernelClock(chip, DataType::bf16).time(unknown).si(), 1e12 / (kPlateau * kPeak));
  Kernel known = unknown;
  known.shape = {.rows = 1, .columns = 1, .inner = 1};
  chip.tiling.reset();
  EXPECT_FALSE(KernelClock(chip, DataType::bf16).by_tiles(known));
  EXPECT_DOUBLE_EQ(KernelClock(chip, DataType::bf16).time(known).si(), 1e12 / (kPlateau * kPeak));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
