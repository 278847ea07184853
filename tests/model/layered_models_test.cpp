// The convolutional networks of models/ against published counts.
#include <gtest/gtest.h>

#include "model/layered_samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::blocks_of;
using samples::shipped_layers;

struct Published {
  const char* name;
  std::int64_t parameters;
  double giga_multiply_adds;  // of an image, three digits behind the point
  std::int64_t layers;        // blocks
};

// [torchvision's tables of weights: num_params and _ops]
// Inception v3 less its auxiliary classifier: two convolutions with batch norms, a linear layer.
constexpr std::int64_t kAuxiliary =
    (768 * 128 + 2 * 128) + (128 * 768 * 5 * 5 + 2 * 768) + (768 * 1000 + 1000);
constexpr std::array kPublished = {
    Published{"resnet-50", 25'557'032, 4.089, 1 + 3 + 4 + 6 + 3 + 1},
    Published{"vgg-19", 143'667'240, 19.632, 5 + 1},
    Published{"googlenet", 6'624'904, 1.498, 1 + 9 + 1},
    Published{"inception-v3", 27'161'264 - kAuxiliary, 5.713, 1 + 11 + 1}};

TEST(LayeredModels, HaveThePublishedParametersAndFlops) {
  for (const Published& row : kPublished) {
    const LayeredModel model = shipped_layers(row.name);
    EXPECT_EQ(model.name, row.name);
    EXPECT_EQ(parameters(model), row.parameters) << row.name;
    EXPECT_NEAR(forward_flops(model).si() / 2e9, row.giga_multiply_adds, 0.0005) << row.name;
    EXPECT_EQ(model.layers(), row.layers) << row.name;
  }
}

TEST(LayeredModels, CountResNet164) {
  const LayeredModel model = shipped_layers("resnet-164");
  EXPECT_EQ(parameters(model), 1'703'258);  // [imgclsmob: PreResNet-164(BN) for CIFAR-10]
  EXPECT_EQ(model.layers(), 1 + 3 * 18 + 1);
  // Multiply-adds of the 18 blocks of one stage: 1 x 1 from c, 3 x 3, 1 x 1 to 4 w; a shortcut.
  double sum = 32.0 * 32 * 16 * 3 * 9 + 256 * 10;
  double before = 16;
  for (const double w : {16.0, 32.0, 64.0}) {
    const double pixels = 32 * 32 * (16 / w) * (16 / w);
    sum += pixels * (before * w + 9 * w * w + w * 4 * w + before * 4 * w);
    sum += 17 * pixels * (4 * w * w + 9 * w * w + w * 4 * w);
    before = 4 * w;
  }
  EXPECT_DOUBLE_EQ(forward_flops(model).si(), 2.0 * sum);
}

TEST(LayeredModels, CountTheMnistNetwork) {
  const LayeredModel model = shipped_layers("mnist-cnn");
  const std::int64_t convolutions = (9 * 32 + 32) + (9 * 32 * 64 + 64);
  const std::int64_t linear = (64 * 12 * 12 * 128 + 128) + (128 * 10 + 10);
  EXPECT_EQ(parameters(model), convolutions + linear);
  EXPECT_EQ(parameters(model), 1'199'882);
  const double multiply_adds =
      26.0 * 26 * 32 * 9 + 24.0 * 24 * 64 * 32 * 9 + 64.0 * 144 * 128 + 128 * 10;
  EXPECT_DOUBLE_EQ(forward_flops(model).si(), 2.0 * multiply_adds);
}

/// Sums over all layers of one rank.
struct Sums {
  Flops forward;
  Flops input_gradient;
  Flops weight_gradient;
  double parameters = 0;
};

Sums sums_of(const LayeredModel& model, const Slice& slice) {
  Sums sums;
  const ModelBlocks blocks = blocks_of(model, slice);
  for (const LayerRun& run : blocks.order) {
    const Block& block = blocks.kinds[static_cast<std::size_t>(run.kind)];
    const auto count = static_cast<double>(run.count);
    for (const Operation& op : block.operations) {
      sums.forward += count * op.forward.flops;
      sums.input_gradient += count * op.input_gradient.flops;
      sums.weight_gradient += count * op.weight_gradient.flops;
    }
    sums.parameters += count * static_cast<double>(block.parameters.replicated);
    EXPECT_EQ(block.parameters.split + block.parameters.experts, 0);
  }
  return sums;
}

TEST(LayeredModels, ListAllTheirWork) {
  for (const char* name :
       {"resnet-50", "resnet-164", "vgg-19", "googlenet", "inception-v3", "mnist-cnn"}) {
    const LayeredModel model = shipped_layers(name);
    const Sums sums = sums_of(model, {.micro_batch = 3});
    const double forward = 3 * forward_flops(model).si();
    EXPECT_NEAR(sums.forward.si(), forward, 1e-12 * forward) << name;
    EXPECT_NEAR(sums.weight_gradient.si(), forward, 1e-12 * forward) << name;
    // The gradient of the images is nobody's: the first convolution has none.
    const LayeredOperation& first = model.kinds.front().operations.front();
    EXPECT_NEAR(sums.input_gradient.si(), forward - 3 * first.forward.flops, 1e-12 * forward)
        << name;
    EXPECT_EQ(sums.parameters, static_cast<double>(parameters(model))) << name;
  }
}

TEST(LayeredModels, ShareTheWorkOnWholeRowsEvenly) {
  // 224 rows become 112, 56, 28 and 14 before they are 7: 7 ranks always have as many each.
  const LayeredModel model = shipped_layers("vgg-19");
  const Sums alone = sums_of(model, {.micro_batch = 2});
  const Sums cut = sums_of(model, {.micro_batch = 2, .tensor = 7});
  double linear = 0;
  for (const LayeredOperation& op : model.kinds.back().operations) {
    linear += 2 * op.forward.flops;
  }
  EXPECT_NEAR(
      cut.forward.si(), (alone.forward.si() - linear) / 7 + linear, 1e-12 * alone.forward.si());
  EXPECT_EQ(cut.parameters, alone.parameters);  // weights are on all ranks
}

TEST(LayeredModels, GoThroughTheSharesOfSeed002) {
  // Partition dimensions [1,2,2,1] on 4 cores: halves of rows and columns.
  const LayeredModel model = shipped_layers("resnet-50");
  const ModelBlocks blocks = blocks_of(model, {.micro_batch = 8, .tensor = 4, .image_columns = 2});
  const Operation& first = blocks.kinds.front().operations.front();
  EXPECT_DOUBLE_EQ(first.forward.flops.si(), 8 * 2.0 * 56 * 56 * 64 * 3 * 49);
  // The 7 x 7 window with a stride of 2 needs 3 rows before and 2 behind; of 2 parts the second one
  // needs the 3 before.
  const double halo = 115.0 * 115 - 112.0 * 112;
  EXPECT_EQ(first.forward_transfer.kind, Collective::send_recv);
  EXPECT_DOUBLE_EQ(first.forward_transfer.size.si(), 8 * 3 * 2 * halo);
  EXPECT_FALSE(first.backward_transfer.exists());
}

TEST(LayeredModels, KeepWhatTheirLayersNeedOnce) {
  // VGG: every convolution's input is the result of a ReLU or of a pool; ReLUs keep theirs, pools
  // the places of maxima; a pool's result is kept by what comes behind it.
  double elements = 3.0 * 224 * 224;
  double places = 0;
  double side = 224;
  for (const auto& [channels, count] :
       {std::pair{64.0, 2.0}, {128.0, 2.0}, {256.0, 4.0}, {512.0, 4.0}, {512.0, 4.0}}) {
    elements += count * channels * side * side;
    side /= 2;
    elements += channels * side * side;
    places += channels * side * side;
  }
  elements += 2 * 4096;  // ReLUs between the linear layers
  // Dropout's results are the next layers' inputs, and its masks are a byte each.
  elements += 2 * 4096;
  const double bytes = 4 * elements + 8 * places + 2 * 4096 + 4 * 1000;
  const ModelBlocks blocks = blocks_of(shipped_layers("vgg-19"), {.type = DataType::fp32});
  EXPECT_DOUBLE_EQ(samples::saved_of(blocks).si(), bytes);
}

TEST(LayeredModels, GrowWithTheirKindsOnly) {
  EXPECT_EQ(shipped_layers("resnet-164").kinds.size(), 1U + 3 * 2 + 1);
  EXPECT_EQ(shipped_layers("resnet-50").kinds.size(), 1U + 4 * 2 + 1);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
