// Seed 000, table 2: GShard's encoder and decoder with experts in every other layer.
#include <gtest/gtest.h>

#include <array>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::shipped;

struct Row {
  const char* name;
  std::int64_t experts_per_layer;
  std::int64_t experts;  // in all; 36684 and 12228 in the table are misprints
  std::int64_t layers;
  double printed;  // weights
};

constexpr std::array kTable = {Row{"gshard-600b", 2048, 36864, 36, 600e9},
                               Row{"gshard-200b", 2048, 12288, 12, 200e9},
                               Row{"gshard-150b", 512, 9216, 36, 150e9},
                               Row{"gshard-50b", 512, 3072, 12, 50e9},
                               Row{"gshard-37b", 128, 2304, 36, 37e9},
                               Row{"gshard-12.5b", 128, 768, 12, 12.5e9},
                               Row{"gshard-1t", 2048, 61440, 60, 1e12}};

TEST(Gshard, HasExpertsInEveryOtherLayerOfEncoderAndDecoder) {
  for (const Row& row : kTable) {
    const Transformer model = shipped(row.name);
    ASSERT_TRUE(model.experts.has_value()) << row.name;
    EXPECT_EQ(model.experts->count, row.experts_per_layer) << row.name;
    EXPECT_EQ(row.experts_per_layer * row.layers / 2, row.experts) << row.name;
    EXPECT_EQ(model.layers, row.layers) << row.name;
    std::int64_t layers = 0;
    std::int64_t experts = 0;
    std::int64_t decoder = 0;
    for (const LayerRun& run : model.runs()) {
      const LayerKind& kind = model.kinds[static_cast<std::size_t>(run.kind)];
      EXPECT_EQ(run.count, 1) << row.name;  // a layer with experts follows one without
      EXPECT_NE(kind.bidirectional, kind.cross_attention) << row.name;
      layers += run.count;
      experts += kind.experts ? model.experts->count : 0;
      decoder += kind.cross_attention ? run.count : 0;
    }
    EXPECT_EQ(layers, row.layers) << row.name;
    EXPECT_EQ(decoder, row.layers / 2) << row.name;
    EXPECT_EQ(experts, row.experts) << row.name;
    EXPECT_EQ(model.kinds.size(), 4U) << row.name;
  }
}

TEST(Gshard, CountsTheExpertsWeights) {
  for (const Row& row : kTable) {
    const Transformer model = shipped(row.name);
    ParameterCount count;
    for (const LayerRun& run : model.runs()) {
      count += run.count * layer_parameters(model, model.kinds[static_cast<std::size_t>(run.kind)]);
    }
    // Two matrices of M = 1024 by H = 8192 each.
    const std::int64_t experts = 2 * 1024 * 8192 * row.experts;
    EXPECT_EQ(count.experts, experts) << row.name;
    // Printed to two digits; the two smallest are 4 % and 3 % below their experts alone.
    EXPECT_NEAR(static_cast<double>(experts), row.printed, 0.05 * row.printed) << row.name;
    // Attention, dense layers and tables are little beside them.
    const auto rest = static_cast<double>(parameters(model) - experts);
    EXPECT_GT(rest, 0) << row.name;
    EXPECT_LT(rest, 0.03 * static_cast<double>(experts)) << row.name;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
