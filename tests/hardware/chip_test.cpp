#include "titer/hardware/chip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

constexpr std::string_view kToyChip = R"({
  "name": "toy",
  "title": "Toy Chip 1",
  "vendor": "Toys",
  "year": 2020,
  "sources": {"sheet": "the sheet", "measured": "a bench", "assumed": "a guess"},
  "matrix": {
    "fp32": {
      "peak": {"value": "20 TFLOP/s", "source": "sheet"},
      "plateau": {"value": 0.75, "source": "assumed"},
      "saturation": {"value": "0.5 GFLOP", "source": "assumed"}
    },
    "bf16": {
      "peak": {"value": "312 TFLOP/s", "source": "sheet"},
      "plateau": {"value": 0.8, "source": "measured"},
      "saturation": {"value": "2 GFLOP", "source": "measured"}
    }
  },
  "attention": {"plateau": {"value": 0.6, "source": "measured"}},
  "memory": {
    "capacity": {"value": "80 GiB", "source": "sheet"},
    "bandwidth": {"value": "2 TB/s", "source": "sheet"},
    "efficiency": {"value": 0.85, "source": "assumed"}
  },
  "launch_floor": {"value": "4 us", "source": "measured"},
  "scale_up": {
    "link": "Toy link",
    "bandwidth": {"value": "300 GB/s", "source": "sheet"},
    "pair_bandwidth": {"value": "100 GB/s", "source": "sheet"}
  },
  "host_link": {"value": "31 GB/s", "source": "sheet"},
  "power": {"value": "400 W", "source": "sheet"}
})";

/// The toy chip's file with its first `from` replaced.
std::string toy_with(std::string_view from, std::string_view to) {
  std::string text(kToyChip);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Reading {
  Chip chip;
  Lines problems;
};

Reading read_text(std::string_view text) {
  const Document document = parse_json(text, "chip.json");
  Problems problems;
  Reader in(document, problems);
  Reading reading{read_chip(in), {}};
  try {
    problems.raise();
  } catch (const InputError& error) {
    reading.problems = error.lines;
  }
  return reading;
}

Lines problems_with(std::string_view from, std::string_view to) {
  return read_text(toy_with(from, to)).problems;
}

TEST(ReadChip, TakesEveryFigure) {
  const auto [chip, problems] = read_text(kToyChip);
  EXPECT_EQ(problems, Lines());
  EXPECT_EQ(chip.name, "toy");
  EXPECT_EQ(chip.title, "Toy Chip 1");
  EXPECT_EQ(chip.vendor, "Toys");
  EXPECT_EQ(chip.year, 2020);
  ASSERT_TRUE(chip.rate(DataType::bf16).has_value());
  EXPECT_EQ(chip.rate(DataType::bf16)->peak, 312_TFLOPps);
  EXPECT_EQ(chip.rate(DataType::bf16)->plateau, 0.8);
  EXPECT_EQ(chip.rate(DataType::bf16)->saturation, 2_GFLOP);
  EXPECT_EQ(chip.rate(DataType::fp32)->peak, 20_TFLOPps);
  EXPECT_EQ(chip.attention_plateau, 0.6);
  EXPECT_EQ(chip.memory.capacity, 80_GiB);
  EXPECT_EQ(chip.memory.bandwidth, 2_TBps);
  EXPECT_EQ(chip.memory.efficiency, 0.85);
  EXPECT_EQ(chip.launch_floor, 4.0 * 1_us);
  EXPECT_EQ(chip.scale_up_link, "Toy link");
  EXPECT_EQ(chip.scale_up, 300_GBps);
  EXPECT_EQ(chip.scale_up_pair, 100_GBps);
  EXPECT_EQ(chip.host_link, 31_GBps);
  EXPECT_EQ(chip.power, 400_W);
}

TEST(ReadChip, TakesTheFiguresOfTilesAndClocks) {
  const std::string text =
      toy_with(R"("attention": {"plateau": {"value": 0.6, "source": "measured"}},)",
               R"("tiling": {
    "units": {"value": 108, "source": "sheet"},
    "feed": {"value": "4 TB/s", "source": "measured"},
    "store": {"value": "1.9 TB/s", "source": "measured"},
    "partial_wave": {"value": 0.5, "source": "measured"},
    "split": {"value": "2.5 us", "source": "measured"},
    "grouped": {"value": 0.9, "source": "measured"}
  },
  "attention": {"plateau": {"value": 0.6, "source": "measured"}, "tiling": {
    "softmax": {"value": 40, "source": "measured"},
    "wide_heads": {"value": 0.9, "source": "assumed"},
    "edge": {"value": 16, "source": "measured"},
    "smallest_tile": {"value": 64, "source": "measured"},
    "packs_groups": true,
    "start": {"value": "3 us", "source": "measured"},
    "partial_wave": {"value": 1, "source": "measured"},
    "backward": {"value": 0.86, "source": "sheet"}
  }},
  "sustained": {
    "share": {"value": 0.94, "source": "measured"},
    "onset": {"value": "2.5 ms", "source": "measured"}
  },
  "graph_start": {"value": "5 us", "source": "measured"},)");
  const auto [chip, problems] = read_text(text);
  EXPECT_EQ(problems, Lines());
  ASSERT_TRUE(chip.tiling.has_value());
  EXPECT_EQ(chip.tiling->units, 108);
  EXPECT_EQ(chip.tiling->feed, 4_TBps);
  EXPECT_EQ(chip.tiling->store, 1900_GBps);
  EXPECT_EQ(chip.tiling->partial_wave, 0.5);
  EXPECT_EQ(chip.tiling->split, 2.5 * 1_us);
  EXPECT_EQ(chip.tiling->grouped, 0.9);
  EXPECT_EQ(chip.tiling->grade, Grade::fitted);
  ASSERT_TRUE(chip.attention_tiling.has_value());
  EXPECT_EQ(chip.attention_tiling->softmax, 40);
  EXPECT_EQ(chip.attention_tiling->wide_heads, 0.9);
  EXPECT_EQ(chip.attention_tiling->edge, 16);
  EXPECT_EQ(chip.attention_tiling->smallest_tile, 64);
  EXPECT_TRUE(chip.attention_tiling->packs_groups);
  EXPECT_EQ(chip.attention_tiling->start, 3_us);
  EXPECT_EQ(chip.attention_tiling->partial_wave, 1);
  EXPECT_EQ(chip.attention_tiling->backward, 0.86);
  EXPECT_EQ(chip.sustained.share, 0.94);
  EXPECT_EQ(chip.sustained.onset, 2.5 * 1_ms);
  EXPECT_EQ(chip.sustained.grade, Grade::fitted);
  EXPECT_EQ(chip.graph_start, 5_us);
  EXPECT_EQ(chip.evidence.source("attention.tiling.backward"), "the sheet");
}

TEST(ReadChip, LowersTheClockUnderAPowerCap) {
  // Of 400 W 80 go whatever the clock: at 240 W half of the rest is left.
  const std::string rated = R"("power": {"value": "400 W", "source": "sheet"})";
  const auto [capped, problems] = read_text(toy_with(rated, rated + R"(, "power_cap": "240 W")"));
  EXPECT_EQ(problems, Lines());
  EXPECT_DOUBLE_EQ(capped.sustained.share, std::cbrt(0.5));
  EXPECT_EQ(capped.sustained.grade, Grade::extrapolated);
  EXPECT_EQ(capped.power, 240_W) << "what it draws";
  const auto [whole, none] = read_text(toy_with(rated, rated + R"(, "power_cap": "400 W")"));
  EXPECT_EQ(none, Lines());
  EXPECT_EQ(whole.sustained.share, 1.0);
  for (const std::string cap : {"80 W", "401 W"}) {
    EXPECT_EQ(problems_with(rated, rated + R"(, "power_cap": ")" + cap + '"').size(), 1u) << cap;
  }
  EXPECT_EQ(problems_with(rated, R"("power_cap": "240 W")").size(), 1u);
}

TEST(ReadChip, NeedsUnitsToShareTilesOfAttentionAmong) {
  const Lines lines = problems_with(
      R"("plateau": {"value": 0.6, "source": "measured"}})",
      R"("plateau": 0.6, "tiling": {"softmax": 1, "wide_heads": 1, "edge": 0, "smallest_tile": 128,
         "start": "0 us", "partial_wave": 1, "backward": 1}})");
  EXPECT_EQ(lines, Lines{"chip.json:1:1: tiling: missing; attention.tiling needs it"});
}

TEST(ReadChip, HasOnlyTheDataTypesOfTheFile) {
  const Chip chip = read_text(kToyChip).chip;
  EXPECT_EQ(data_type_names(chip), "fp32, bf16");
  EXPECT_FALSE(chip.rate(DataType::fp16).has_value());
  EXPECT_FALSE(chip.rate(DataType::int8).has_value());
  EXPECT_EQ(data_type_names(Chip{}), "");
}

TEST(ReadChip, GradesRatesByTheirPlateauAndMemoryByItsEfficiency) {
  const Chip chip = read_text(kToyChip).chip;
  EXPECT_EQ(chip.rate(DataType::bf16)->grade, Grade::fitted);
  EXPECT_EQ(chip.rate(DataType::fp32)->grade, Grade::extrapolated);
  EXPECT_EQ(chip.memory.grade, Grade::extrapolated);
  EXPECT_EQ(chip.evidence.grade("memory.bandwidth"), Grade::datasheet);
}

TEST(ReadChip, NotesTheSourceOfEveryFigure) {
  const EvidenceList evidence = read_text(kToyChip).chip.evidence;
  for (const char* key : {"matrix.fp32.peak",
                          "matrix.bf16.peak",
                          "memory.capacity",
                          "memory.bandwidth",
                          "scale_up.bandwidth",
                          "scale_up.pair_bandwidth",
                          "host_link",
                          "power"}) {
    EXPECT_EQ(evidence.source(key), "the sheet") << key;
  }
  for (const char* key :
       {"matrix.bf16.plateau", "matrix.bf16.saturation", "attention.plateau", "launch_floor"}) {
    EXPECT_EQ(evidence.source(key), "a bench") << key;
  }
  for (const char* key : {"matrix.fp32.plateau", "matrix.fp32.saturation", "memory.efficiency"}) {
    EXPECT_EQ(evidence.source(key), "a guess") << key;
  }
}

TEST(ReadChip, NeedsNoWordsAndNoLinks) {
  const auto [chip, problems] = read_text(R"({
    "name": "bare",
    "matrix": {"fp16": {"peak": "100 TFLOP/s", "plateau": 0.5, "saturation": "1 GFLOP"}},
    "attention": {"plateau": 0.5},
    "memory": {"capacity": "16 GiB", "bandwidth": "1 TB/s", "efficiency": 1},
    "launch_floor": "0 us"
  })");
  EXPECT_EQ(problems, Lines());
  EXPECT_EQ(chip.title, "bare");
  EXPECT_EQ(chip.vendor, "");
  EXPECT_FALSE(chip.scale_up.has_value());
  EXPECT_FALSE(chip.scale_up_pair.has_value());
  EXPECT_FALSE(chip.host_link.has_value());
  EXPECT_FALSE(chip.power.has_value());
  EXPECT_EQ(chip.launch_floor, Seconds());
  EXPECT_EQ(chip.rate(DataType::fp16)->grade, Grade::given);
  EXPECT_EQ(chip.evidence.source("memory.capacity"), "given by the user");
}

TEST(ReadChip, RefusesAChipWithoutMatrixRates) {
  EXPECT_EQ(problems_with(R"("matrix")", R"("notes")"),
            Lines{"chip.json:1:1: matrix: missing; expected an object"});
  EXPECT_EQ(read_text(R"({
    "name": "bare",
    "matrix": {},
    "attention": {"plateau": 0.5},
    "memory": {"capacity": "16 GiB", "bandwidth": "1 TB/s", "efficiency": 1},
    "launch_floor": "0 us"
  })")
                .problems,
            Lines{"chip.json:3:15: matrix: {}: expected the rate of at least one data type"});
}

TEST(ReadChip, RefusesAShareAboveOne) {
  EXPECT_EQ(problems_with("0.8,", "1.2,"),
            Lines{"chip.json:15:28: matrix.bf16.plateau.value: 1.2: "
                  "expected a number from 1e-06 to 1"});
  EXPECT_EQ(problems_with("0.6,", "60,"),
            Lines{"chip.json:19:38: attention.plateau.value: 60: "
                  "expected a number from 1e-06 to 1"});
  EXPECT_EQ(problems_with("0.85,", "0,"),
            Lines{"chip.json:23:29: memory.efficiency.value: 0: "
                  "expected a number from 1e-06 to 1"});
}

TEST(ReadChip, RefusesASourceThatIsNotListed) {
  EXPECT_EQ(problems_with(R"("80 GiB", "source": "sheet")", R"("80 GiB", "source": "shet")"),
            Lines{R"(chip.json:21:17: memory.capacity: {"value":"80 GiB","source":"shet"}: )"
                  R"(its source "shet" is not in the file's "sources")"});
}

TEST(ReadChip, RefusesAFigureWithoutItsUnit) {
  EXPECT_EQ(problems_with(R"("312 TFLOP/s")", "312"),
            Lines{"chip.json:14:25: matrix.bf16.peak.value: 312: expected a rate of work with its "
                  R"(unit, such as "312 TFLOP/s"; did you mean "312 TFLOP/s"?)"});
  EXPECT_EQ(problems_with(R"("300 GB/s")", R"("300")"),
            Lines{R"(chip.json:28:28: scale_up.bandwidth.value: "300": expected a bandwidth with )"
                  R"(its unit, such as "25 GB/s"; did you mean "300 GB/s" or "300 Gbps"?)"});
}

TEST(ReadChip, RefusesAFigureOfAnotherDimension) {
  const Lines lines = problems_with(R"("80 GiB")", R"("80 GB/s")");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find(R"(chip.json:21:27: memory.capacity.value: "80 GB/s": expected a size)"),
            0U)
      << lines[0];
}

TEST(ReadChip, RefusesUnknownKeysWithASuggestion) {
  EXPECT_EQ(problems_with(R"("host_link")", R"("hostlink")"),
            Lines{R"(chip.json:31:3: hostlink: unknown key; did you mean "host_link"?)"});
  EXPECT_EQ(problems_with(R"("pair_bandwidth")", R"("pairs_bandwidth")"),
            Lines{R"(chip.json:29:5: scale_up.pairs_bandwidth: unknown key; did you mean )"
                  R"("pair_bandwidth"?)"});
}

TEST(ReadChip, RefusesAnUnknownDataTypeWithASuggestion) {
  EXPECT_EQ(problems_with(R"("bf16")", R"("bf61")"),
            Lines{R"(chip.json:13:5: matrix.bf61: unknown key; did you mean "bf16"?)"});
}

TEST(ReadChip, ReportsAllMistakesAtOnce) {
  const std::string text = toy_with(R"("2 TB/s")", R"("-2 TB/s")");
  const std::string worse = std::string(text).replace(text.find("2020"), 4, "1620");
  EXPECT_EQ(read_text(worse).problems,
            (Lines{"chip.json:5:11: year: 1620: expected an integer from 1970 to 2100",
                   R"(chip.json:22:28: memory.bandwidth.value: "-2 TB/s": )"
                   "expected more than zero"}));
}

TEST(ReadChip, ReportsEachMissingPartOnce) {
  EXPECT_EQ(read_text(R"({"name": "empty"})").problems,
            (Lines{"chip.json:1:1: matrix: missing; expected an object",
                   "chip.json:1:1: attention: missing; expected an object",
                   "chip.json:1:1: memory: missing; expected an object",
                   R"(chip.json:1:1: launch_floor: missing; expected a time with its unit, such )"
                   R"(as "12.5 us")"}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
