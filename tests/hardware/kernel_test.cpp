#include "titer/hardware/kernel.hpp"

#include <gtest/gtest.h>

#include <array>

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array kKernelKinds = {KernelKind::memory, KernelKind::matrix, KernelKind::attention};

constexpr double kFloor = 5e-6;
constexpr double kPeak = 100e12;
constexpr double kPlateau = 0.5;
constexpr double kAttention = 0.25;
constexpr double kSaturation = 2e9;
constexpr double kBandwidth = 1000e9;
constexpr double kEfficiency = 0.8;

Chip toy_chip() {
  Chip chip;
  chip.name = "toy";
  chip.matrix[static_cast<std::size_t>(DataType::bf16)] =
      MatrixRate{.peak = FlopsPerSecond::from_si(kPeak),
                 .plateau = kPlateau,
                 .saturation = Flops::from_si(kSaturation)};
  chip.matrix[static_cast<std::size_t>(DataType::fp32)] =
      MatrixRate{.peak = FlopsPerSecond::from_si(kPeak / 8), .plateau = 1.0, .saturation = Flops()};
  chip.attention_plateau = kAttention;
  chip.memory = {.capacity = 16_GiB,
                 .bandwidth = BytesPerSecond::from_si(kBandwidth),
                 .efficiency = kEfficiency};
  chip.launch_floor = Seconds::from_si(kFloor);
  return chip;
}

double time_of(const Kernel& kernel, const Chip& chip = toy_chip()) {
  return KernelClock(chip, DataType::bf16).time(kernel).si();
}

TEST(KernelClock, ChargesAProductItsFlopsAndTheSaturation) {
  // t0 + (F + Fs) / (eta P)
  const double expected = kFloor + (1e12 + kSaturation) / (kPlateau * kPeak);
  EXPECT_DOUBLE_EQ(time_of({KernelKind::matrix, 1_TFLOP, 1_MB}), expected);
}

TEST(KernelClock, ChargesAThinProductItsBytes) {
  // t0 + bytes / (eta_m BW)
  const double expected = kFloor + 8e9 / (kEfficiency * kBandwidth);
  EXPECT_DOUBLE_EQ(time_of({KernelKind::matrix, 1_GFLOP, 8_GB}), expected);
}

TEST(KernelClock, TakesTheLongerOfFlopsAndBytesNotTheSum) {
  const double flops = (1e12 + kSaturation) / (kPlateau * kPeak);
  const double same_in_bytes = flops * kEfficiency * kBandwidth;
  const auto at = [](double bytes) {
    return time_of({KernelKind::matrix, 1_TFLOP, Bytes::from_si(bytes)});
  };
  EXPECT_DOUBLE_EQ(at(0.0), kFloor + flops);
  EXPECT_DOUBLE_EQ(at(0.99 * same_in_bytes), kFloor + flops);
  EXPECT_DOUBLE_EQ(at(3.0 * same_in_bytes), kFloor + 3.0 * flops);
}

TEST(KernelClock, ChargesMemoryKernelsNoArithmetic) {
  const KernelClock clock(toy_chip(), DataType::bf16);
  const Kernel kernel{KernelKind::memory, 1000_TFLOP, 8_GB};
  EXPECT_EQ(clock.arithmetic(kernel), Seconds());
  EXPECT_DOUBLE_EQ(clock.time(kernel).si(), kFloor + 8e9 / (kEfficiency * kBandwidth));
}

TEST(KernelClock, RunsFusedAttentionAtItsOwnPlateau) {
  const double expected = kFloor + (1e12 + kSaturation) / (kAttention * kPeak);
  EXPECT_DOUBLE_EQ(time_of({KernelKind::attention, 1_TFLOP, 1_MB}), expected);
}

TEST(KernelClock, TakesAttentionOfUnknownExtentsToHaveHeadsOf128) {
  // A score costs 4 * 128 operations in products and as many again for its softmax.
  Chip chip = toy_chip();
  chip.tiling = Tiling{};
  chip.attention_tiling.emplace().softmax = 512;
  const KernelClock clock(chip, DataType::bf16);
  EXPECT_DOUBLE_EQ(clock.rate({KernelKind::attention, 1_TFLOP, 1_MB}).si(), kAttention * kPeak / 2);
}

TEST(KernelClock, TakesAttentionInFp8ByWhatItTakesIn16Bits) {
  Chip chip = toy_chip();
  chip.narrow_attention = NarrowAttention{.forward = 0.5, .backward = 2, .wide_forward = 0.25};
  const Kernel wide{.kind = KernelKind::attention, .flops = Flops::from_si(1e12), .bytes = {}};
  const auto arithmetic = [&](const Kernel& kernel) {
    return KernelClock(chip, DataType::bf16).arithmetic(kernel);
  };
  Kernel narrow = wide;
  narrow.narrow = true;
  narrow.shape.inner = 128;
  EXPECT_DOUBLE_EQ(arithmetic(narrow) / arithmetic(wide), 0.5);
  narrow.shape.inner = 160;
  EXPECT_DOUBLE_EQ(arithmetic(narrow) / arithmetic(wide), 0.25);
  narrow.shape.backward = true;
  EXPECT_DOUBLE_EQ(arithmetic(narrow) / arithmetic(wide), 2.0) << "as other heads";
}

TEST(KernelClock, SlowsArithmeticDownToTheSustainedClockButNotMemory) {
  Chip chip = toy_chip();
  chip.sustained = {.share = 0.8, .onset = 1_ms};
  const double full = (1e12 + kSaturation) / (kPlateau * kPeak);
  EXPECT_DOUBLE_EQ(time_of({KernelKind::matrix, 1_TFLOP, 1_MB}, chip), kFloor + full / 0.8);
  EXPECT_DOUBLE_EQ(time_of({KernelKind::memory, {}, 8_GB}, chip),
                   kFloor + 8e9 / (kEfficiency * kBandwidth));
}

TEST(KernelClock, SlowsABurstDownTheMoreTheLongerItTakes) {
  Chip chip = toy_chip();
  chip.launch_floor = {};
  const double full = (1e12 + kSaturation) / (kPlateau * kPeak);
  const auto burst = [&](double onset) {
    chip.sustained = {.share = 0.8, .onset = Seconds::from_si(onset)};
    const KernelClock clock(chip, DataType::bf16, DataType::bf16, Clocks::burst);
    return clock.time({KernelKind::matrix, 1_TFLOP, 1_MB}).si();
  };
  EXPECT_DOUBLE_EQ(burst(full), full / (1.0 - 0.2 / 2.0));  // half of the way after the onset
  EXPECT_DOUBLE_EQ(burst(0.0), full / 0.8);
  EXPECT_NEAR(burst(1e6 * full), full, 1e-6 * full);
}

TEST(KernelClock, ChargesNothingForNoKernel) {
  for (const KernelKind kind : kKernelKinds) {
    const Kernel none{.kind = kind, .flops = {}, .bytes = {}};
    EXPECT_FALSE(none.exists());
    EXPECT_EQ(time_of(none), 0.0);
  }
}

TEST(KernelClock, ChargesTheSmallestKernelTheLaunchFloor) {
  for (const KernelKind kind : kKernelKinds) {
    const Kernel least{.kind = kind, .flops = {}, .bytes = 1_B};
    EXPECT_TRUE(least.exists());
    EXPECT_GE(time_of(least), kFloor);
  }
  EXPECT_DOUBLE_EQ(time_of({KernelKind::memory, {}, 1_B}), kFloor + 1 / (kEfficiency * kBandwidth));
  EXPECT_DOUBLE_EQ(time_of({KernelKind::matrix, 1_FLOP, {}}),
                   kFloor + (1 + kSaturation) / (kPlateau * kPeak));
}

TEST(KernelClock, UsesTheRateOfItsDataType) {
  const KernelClock clock(toy_chip(), DataType::fp32);
  EXPECT_DOUBLE_EQ(clock.time({KernelKind::matrix, 1_TFLOP, 1_MB}).si(),
                   kFloor + 1e12 / (1.0 * kPeak / 8));
  const Kernel product{KernelKind::matrix, 1_TFLOP, 1_MB};
  const Kernel attention{KernelKind::attention, 1_TFLOP, 1_MB};
  EXPECT_DOUBLE_EQ(clock.rate(product).si(), 1.0 * kPeak / 8);
  EXPECT_DOUBLE_EQ(clock.rate(attention).si(), kAttention * kPeak / 8);
  EXPECT_EQ(clock.saturation(product), Flops());
  EXPECT_DOUBLE_EQ(clock.memory_rate().si(), kEfficiency * kBandwidth);
  EXPECT_DOUBLE_EQ(clock.launch_floor().si(), kFloor);
}

TEST(KernelClock, ReachesHalfOfThePlateauAtTheSaturation) {
  // Without the launch floor: F / t = eta P / 2 where F = Fs.
  Chip chip = toy_chip();
  chip.launch_floor = {};
  const double t = time_of({KernelKind::matrix, Flops::from_si(kSaturation), {}}, chip);
  EXPECT_DOUBLE_EQ(kSaturation / t, kPlateau * kPeak / 2);
}

TEST(KernelClock, ApproachesThePlateauFromBelow) {
  double share = 0.0;
  for (double flops = 1e6; flops < 1e17; flops *= 10) {
    const double next = flops / time_of({KernelKind::matrix, Flops::from_si(flops), {}}) / kPeak;
    EXPECT_GT(next, share);
    EXPECT_LT(next, kPlateau);
    share = next;
  }
  EXPECT_NEAR(share, kPlateau, 1e-6 * kPlateau);
}

TEST(KernelClock, HalvesItsTimesWhenAllRatesDoubleAndTheFloorHalves) {
  Chip fast = toy_chip();
  for (auto& rate : fast.matrix) {
    if (rate) {
      rate->peak = 2.0 * rate->peak;
    }
  }
  fast.memory.bandwidth = 2.0 * fast.memory.bandwidth;
  fast.launch_floor = fast.launch_floor / 2.0;
  for (const KernelKind kind : kKernelKinds) {
    const Kernel kernel{kind, 1_TFLOP, 10_GB};
    EXPECT_DOUBLE_EQ(time_of(kernel, fast), time_of(kernel) / 2);
  }
}

/// Every chip and kernel of a small grid.
template <class Check>
void for_each_case(Check check) {
  for (const KernelKind kind : kKernelKinds) {
    for (const double flops : {0.0, 1.0, 1e8, 2e9, 1e12, 1e15}) {
      for (const double bytes : {1.0, 1e5, 1e8, 1e11}) {
        check(Kernel{kind, Flops::from_si(flops), Bytes::from_si(bytes)});
      }
    }
  }
}

TEST(KernelClock, IsMonotoneInWork) {
  for_each_case([](const Kernel& kernel) {
    for (const double factor : {1.001, 2.0, 1e3}) {
      Kernel more = kernel;
      more.flops = factor * kernel.flops + 1_FLOP;
      EXPECT_GE(time_of(more), time_of(kernel));
      more = kernel;
      more.bytes = factor * kernel.bytes;
      EXPECT_GE(time_of(more), time_of(kernel));
    }
  });
}

TEST(KernelClock, IsNeverSlowerOnAFasterChip) {
  const auto faster_part = [](auto change) {
    Chip chip = toy_chip();
    change(chip, *chip.matrix[static_cast<std::size_t>(DataType::bf16)]);
    for_each_case([&](const Kernel& kernel) { EXPECT_LE(time_of(kernel, chip), time_of(kernel)); });
  };
  faster_part([](Chip&, MatrixRate& rate) { rate.peak = 3.0 * rate.peak; });
  faster_part([](Chip&, MatrixRate& rate) { rate.plateau = 0.9; });
  faster_part([](Chip&, MatrixRate& rate) { rate.saturation = 1_FLOP; });
  faster_part([](Chip& chip, MatrixRate&) { chip.attention_plateau = 0.9; });
  faster_part([](Chip& chip, MatrixRate&) { chip.memory.bandwidth = 3000_GBps; });
  faster_part([](Chip& chip, MatrixRate&) { chip.memory.efficiency = 0.95; });
  faster_part([](Chip& chip, MatrixRate&) { chip.launch_floor = 1_us; });
}

TEST(KernelClock, IsNeverUnderTheRoofline) {
  // Not even the datasheet's peak and bandwidth can be exceeded.
  for_each_case([](const Kernel& kernel) {
    EXPECT_GE(time_of(kernel), kernel.bytes.si() / kBandwidth);
    if (kernel.kind != KernelKind::memory) {
      EXPECT_GE(time_of(kernel), kernel.flops.si() / kPeak);
    }
  });
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
