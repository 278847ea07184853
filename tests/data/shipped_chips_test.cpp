#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "paths.hpp"
#include "titer/hardware/chip.hpp"
#include "titer/hardware/kernel.hpp"
#include "titer/input/read_document.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

std::vector<fs::path> chip_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(testing::root() / "configs/chips")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Chip read_file(const fs::path& file) {
  return read_document(load_data(kChipData, file.string()), read_chip);
}

/// Runs the check on every shipped chip, naming it where the check fails.
template <class Check>
void for_each_chip(Check check) {
  for (const fs::path& file : chip_files()) {
    SCOPED_TRACE(file.stem().string());
    check(read_file(file));
  }
}

template <class Check>
void for_each_rate(const Chip& chip, Check check) {
  for (const Choice<DataType>& type : kDataTypes) {
    if (chip.rate(type.value)) {
      SCOPED_TRACE(type.name);
      check(*chip.rate(type.value));
    }
  }
}

TEST(ShippedChips, AllReadWithoutAProblem) {
  ASSERT_FALSE(chip_files().empty());
  for (const fs::path& file : chip_files()) {
    EXPECT_NO_THROW(static_cast<void>(read_file(file))) << file;
  }
}

TEST(ShippedChips, AreNamedAfterTheirFiles) {
  for (const fs::path& file : chip_files()) {
    EXPECT_EQ(file.extension(), ".json");
    const Chip chip = read_file(file);
    EXPECT_EQ(chip.name, file.stem().string());
    EXPECT_NE(chip.title, chip.name);
    EXPECT_FALSE(chip.vendor.empty()) << chip.name;
    EXPECT_GE(chip.year, 2014) << chip.name;
    EXPECT_LE(chip.year, 2026) << chip.name;
  }
}

TEST(ShippedChips, CanAllTrainInHalfPrecision) {
  for_each_chip([](const Chip& chip) {
    EXPECT_TRUE(chip.rate(DataType::fp16) || chip.rate(DataType::bf16));
  });
}

TEST(ShippedChips, NarrowerTypesAreNotSlower) {
  for_each_chip([](const Chip& chip) {
    const auto peak = [&](DataType type) {
      return chip.rate(type) ? chip.rate(type)->peak : FlopsPerSecond();
    };
    const FlopsPerSecond half = std::max(peak(DataType::fp16), peak(DataType::bf16));
    EXPECT_GE(half, peak(DataType::fp32));
    EXPECT_GE(half, peak(DataType::tf32));
    if (chip.rate(DataType::fp8)) {
      EXPECT_GE(peak(DataType::fp8), half);
    }
    if (chip.rate(DataType::fp4)) {
      EXPECT_GE(peak(DataType::fp4), peak(DataType::fp8));
    }
  });
}

TEST(ShippedChips, PeaksAreOfThisCentury) {
  for_each_chip([](const Chip& chip) {
    for_each_rate(chip, [](const MatrixRate& rate) {
      EXPECT_GE(rate.peak, 4_TFLOPps);
      EXPECT_LE(rate.peak, 20'000_TFLOPps);
    });
  });
}

TEST(ShippedChips, LargeProductsReachAThirdToAllOfThePeak) {
  for_each_chip([](const Chip& chip) {
    for_each_rate(chip, [](const MatrixRate& rate) {
      EXPECT_GT(rate.plateau, 0.3);
      EXPECT_LE(rate.plateau, 1.0);
    });
    const DataType half = chip.rate(DataType::bf16) ? DataType::bf16 : DataType::fp16;
    const Kernel attention{KernelKind::attention, 1_TFLOP, 1_MB};
    const double share =
        KernelClock(chip, half).rate(attention) / chip.rate(half)->peak;  // softmax included
    EXPECT_GT(share, 0.2);
    EXPECT_LE(share, 0.9);
  });
}

TEST(ShippedChips, SaturateWithinMicroseconds) {
  // The saturation term costs what a launch costs: Fs / (eta P) between 0.1 and 30 us.
  for_each_chip([](const Chip& chip) {
    for_each_rate(chip, [](const MatrixRate& rate) {
      const Seconds lost = rate.saturation / (rate.plateau * rate.peak);
      EXPECT_GE(lost, 0.1 * 1_us);
      EXPECT_LE(lost, 30_us);
    });
    EXPECT_GE(chip.launch_floor, 0.5 * 1_us);
    EXPECT_LE(chip.launch_floor, 20_us);
  });
}

TEST(ShippedChips, MemoriesAreOfDeviceSize) {
  for_each_chip([](const Chip& chip) {
    EXPECT_GE(chip.memory.capacity, 8_GiB);
    EXPECT_LE(chip.memory.capacity, 400_GiB);
    EXPECT_GE(chip.memory.bandwidth, 150_GBps);
    EXPECT_LE(chip.memory.bandwidth, 10_TBps);
    EXPECT_GT(chip.memory.efficiency, 0.5);
    EXPECT_LE(chip.memory.efficiency, 1.0);
  });
}

TEST(ShippedChips, LinksAreSlowerThanMemory) {
  for_each_chip([](const Chip& chip) {
    if (chip.scale_up) {
      EXPECT_GE(*chip.scale_up, 10_GBps);
      EXPECT_LT(*chip.scale_up, chip.memory.bandwidth);
      EXPECT_FALSE(chip.scale_up_link.empty());
    }
    if (chip.scale_up_pair) {
      EXPECT_LE(*chip.scale_up_pair, chip.scale_up.value_or(BytesPerSecond()));
    }
    if (chip.host_link) {
      EXPECT_GE(*chip.host_link, 10_GBps);
      EXPECT_LT(*chip.host_link, chip.memory.bandwidth);
    }
    if (chip.power) {
      EXPECT_GE(*chip.power, 50_W);
      EXPECT_LE(*chip.power, 2000_W);
    }
  });
}

/// The dotted keys of the figures that a chip has.
std::vector<std::string> figures_of(const Chip& chip) {
  std::vector<std::string> keys = {"attention.plateau",
                                   "memory.capacity",
                                   "memory.bandwidth",
                                   "memory.efficiency",
                                   "launch_floor"};
  for (const Choice<DataType>& type : kDataTypes) {
    if (chip.rate(type.value)) {
      for (const char* figure : {".peak", ".plateau", ".saturation"}) {
        keys.push_back("matrix." + std::string(type.name) + figure);
      }
    }
  }
  const auto add_if = [&](bool has, const char* key) {
    if (has) {
      keys.emplace_back(key);
    }
  };
  for (const char* figure : {"units", "feed", "store", "partial_wave", "split", "grouped"}) {
    if (chip.tiling) {
      keys.push_back(std::string("tiling.") + figure);
    }
  }
  for (const char* figure :
       {"softmax", "wide_heads", "edge", "smallest_tile", "start", "partial_wave", "backward"}) {
    if (chip.attention_tiling) {
      keys.push_back(std::string("attention.tiling.") + figure);
    }
  }
  add_if(chip.tiling.has_value(), "sustained.share");
  add_if(chip.tiling.has_value(), "sustained.onset");
  add_if(chip.scale_up.has_value(), "scale_up.bandwidth");
  add_if(chip.scale_up_pair.has_value(), "scale_up.pair_bandwidth");
  add_if(chip.host_link.has_value(), "host_link");
  add_if(chip.power.has_value(), "power");
  return keys;
}

TEST(ShippedChips, EveryFigureHasASource) {
  for_each_chip([](const Chip& chip) {
    for (const std::string& key : figures_of(chip)) {
      ASSERT_NE(chip.evidence.find(key), nullptr) << key;
      EXPECT_FALSE(chip.evidence.source(key).empty()) << key;
      EXPECT_NE(chip.evidence.source(key), "given by the user") << key;
    }
  });
}

TEST(ShippedChips, PlateausAreNeverTheMakersClaim) {
  // A datasheet prints peaks; what a product reaches is measured, or it is a guess.
  for_each_chip([](const Chip& chip) {
    for_each_rate(chip, [](const MatrixRate& rate) { EXPECT_NE(rate.grade, Grade::datasheet); });
    EXPECT_NE(chip.memory.grade, Grade::datasheet);
    EXPECT_NE(chip.evidence.grade("attention.plateau"), Grade::datasheet);
  });
}

TEST(ShippedChips, TilesStayWithinWhatHardwareDoes) {
  int tiled = 0;
  for_each_chip([&](const Chip& chip) {
    if (!chip.tiling) {
      EXPECT_FALSE(chip.attention_tiling);
      return;
    }
    ++tiled;
    EXPECT_GT(chip.tiling->units, 50);
    EXPECT_GT(chip.tiling->feed, chip.memory.bandwidth);  // a cache is faster than what is behind
    EXPECT_GT(chip.tiling->store, 0.5 * chip.memory.bandwidth);
    EXPECT_LE(chip.tiling->split, 10_us);
    EXPECT_GT(chip.tiling->grouped, 0.5);
    EXPECT_GT(chip.sustained.share, 0.5);  // the least where power is capped
    ASSERT_TRUE(chip.attention_tiling);
    EXPECT_GT(chip.attention_tiling->wide_heads, 0.5);
    EXPECT_LE(chip.attention_tiling->start, 5_us);
    EXPECT_NE(chip.evidence.grade("tiling.feed"), Grade::datasheet);
  });
  EXPECT_EQ(tiled, 24);
}

TEST(ShippedChips, A100IsTheDatasheets) {
  const Chip a100 = read_file(testing::root() / "configs/chips/a100-sxm4-80gb.json");
  EXPECT_EQ(a100.rate(DataType::bf16)->peak, 312_TFLOPps);
  EXPECT_EQ(a100.rate(DataType::fp32)->peak, 19.5 * 1_TFLOPps);
  EXPECT_EQ(a100.memory.capacity, 80_GiB);
  EXPECT_EQ(a100.memory.bandwidth, 2039_GBps);
  EXPECT_EQ(a100.scale_up, 12 * 25_GBps);  // NVLink 3: 12 links
  EXPECT_EQ(a100.rate(DataType::bf16)->grade, Grade::fitted);
  EXPECT_EQ(a100.rate(DataType::tf32)->grade, Grade::extrapolated);  // borrowed from bf16
}

TEST(ShippedChips, NewerNvidiaTrainingPartsMultiplyFaster) {
  // A product of a GPT-3 layer on one of eight ranks: 2048 x 12288 x 6144.
  const Kernel product{KernelKind::matrix, 2.0 * 2048 * 12288 * 6144 * 1_FLOP, 200_MB};
  const auto time_on = [&](const std::string& name) {
    const Chip chip = read_file(testing::root() / "configs/chips" / (name + ".json"));
    return KernelClock(chip, DataType::fp16).time(product);
  };
  EXPECT_LT(time_on("v100-sxm2-16gb"), time_on("p100-sxm2-16gb"));
  EXPECT_LT(time_on("a100-sxm4-80gb"), time_on("v100-sxm2-32gb"));
  EXPECT_LT(time_on("h100-sxm5-80gb"), time_on("a100-sxm4-80gb"));
  EXPECT_LT(time_on("b200-sxm"), time_on("h100-sxm5-80gb"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
