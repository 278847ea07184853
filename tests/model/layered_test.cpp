#include "titer/model/layered/layered.hpp"

#include <gtest/gtest.h>

#include "allocations.hpp"
#include "model/layered_samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::blocks_of;
using samples::one_block;
using samples::read_layers;

constexpr std::string_view kSmall = R"({
  "name": "small",
  "input": {"channels": 3, "height": 16, "width": 16},
  "blocks": [
    {"operations": [
      {"op": "convolution", "out": 8, "kernel": 3, "padding": 1, "then": ["batch-norm", "relu"]}]},
    {"name": "residual", "repeat": 3, "operations": [
      {"op": "branches", "join": "add", "branches": [
        {"operations": [
          {"op": "convolution", "out": 8, "kernel": 3, "padding": 1, "then": ["batch-norm"]}]},
        {}]},
      {"op": "relu"}]},
    {"name": "end", "operations": [
      {"op": "global-average-pool"}, {"op": "linear", "in": 8, "out": 5}, {"op": "cross-entropy"}]}
  ]
})";

std::vector<std::string> problems_with(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  try {
    static_cast<void>(read_layers(text.replace(at, from.size(), to)));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(ReadLayered, InfersTheShapes) {
  const LayeredModel model = read_layers(kSmall);
  EXPECT_EQ(model.title, "small");
  EXPECT_EQ(model.source, "given by the user");
  EXPECT_EQ(model.layers(), 1 + 3 + 1);
  ASSERT_EQ(model.kinds.size(), 3U);
  EXPECT_EQ(model.kinds[0].name, "block 1");
  EXPECT_EQ(model.kinds[1].name, "residual");
  EXPECT_EQ(model.order[1], (LayerRun{.kind = 1, .count = 3}));
  EXPECT_EQ(model.kinds[0].input, (FeatureMap{3, 16, 16}));
  EXPECT_EQ(model.kinds[1].input, (FeatureMap{8, 16, 16}));
  EXPECT_EQ(model.kinds[2].output, (FeatureMap{1, 1, 1}));
  // A bias before a batch norm would be taken away with the mean.
  const std::int64_t first = 3 * 8 * 9 + 2 * 8;
  const std::int64_t residual = 8 * 8 * 9 + 2 * 8;
  EXPECT_EQ(parameters(model), first + 3 * residual + (8 * 5 + 5));
  EXPECT_DOUBLE_EQ(forward_flops(model).si(),
                   2.0 * 16 * 16 * (3 * 8 * 9 + 3 * 8 * 8 * 9) + 2.0 * 8 * 5);
}

TEST(ReadLayered, MakesAKindOfEveryShapeOfARepeatedBlock) {
  const LayeredModel model = read_layers(R"({"name": "m", "input": {"channels": 4, "height": 8,
    "width": 8}, "blocks": [{"repeat": 5, "operations": [
      {"op": "convolution", "out": 4, "kernel": 3, "stride": 2, "padding": 1}]}]})");
  // 8, 4, 2 and 1 rows; the last one stays, but for the first the images need no gradient.
  EXPECT_EQ(model.order, (std::vector<LayerRun>{{0, 1}, {1, 1}, {2, 1}, {3, 2}}));
  EXPECT_EQ(parameters(model), 5 * (4 * 4 * 9 + 4));
}

TEST(ReadLayered, ConcatenatesBranchesInsideOthers) {
  const LayeredModel model = one_block(R"({"channels": 2, "height": 4, "width": 4})",
                                       R"({"op": "branches", "join": "concatenate", "branches": [
      {"operations": [{"op": "convolution", "out": 3, "kernel": 1}]},
      {"operations": [{"op": "branches", "join": "concatenate", "branches": [
        {}, {"operations": [{"op": "max-pool", "kernel": 3, "padding": 1}]}]}]}]})");
  EXPECT_EQ(model.kinds[0].output, (FeatureMap{3 + 2 + 2, 4, 4}));
}

TEST(ReadLayered, RefusesWhatDoesNotFit) {
  struct Wrong {
    std::string_view from;
    std::string_view to;
    std::string line;
  };
  const std::array wrongs = {
      Wrong{R"("in": 8)",
            R"("in": 9)",
            "model.json:14:61: blocks.2.operations.1.in: 9: expected the 8 that come from the "
            "operation before"},
      Wrong{R"("kernel": 3)",
            R"("kernel": 19)",
            "model.json:6:49: blocks.0.operations.0.kernel: 19: expected no more than the 16 rows "
            "and 16 columns that it gets"},
      Wrong{R"("kernel": 3,)",
            R"("kernel": 3, "groups": 2,)",
            "model.json:6:62: blocks.0.operations.0.groups: 2: expected a divisor of the 3 "
            "channels in"},
      Wrong{R"("kernel": 3,)",
            R"("kernel": 3, "groups": 3,)",
            "model.json:6:62: blocks.0.operations.0.groups: 3: expected a divisor of the 8 "
            "channels out"},
      Wrong{
          R"("out": 8, "kernel": 3, "padding": 1, "then": ["batch-norm"])",
          R"("out": 7, "kernel": 3, "padding": 1, "then": ["batch-norm"])",
          "model.json:8:34: blocks.1.operations.0.join: \"add\": expected ends of one shape to be "
          "added, not 7 x 16 x 16 and 8 x 16 x 16"},
      Wrong{R"("padding": 1, )",
            R"("pading": 1, )",
            "model.json:6:52: blocks.0.operations.0.pading: unknown key; did you mean "
            "\"padding\"?"},
      Wrong{R"(["batch-norm", "relu"])",
            R"(["batch-norm", "rely"])",
            "model.json:6:74: blocks.0.operations.0.then: [\"batch-norm\",\"rely\"]: expected a "
            "list of \"batch-norm\", "
            "\"relu\", \"activation\" and \"dropout\""},
      Wrong{R"({"op": "relu"})",
            R"({"op": "rely"})",
            "model.json:12:14: blocks.1.operations.1.op: \"rely\": expected one of: convolution, "
            "linear, batch-norm, relu, activation, dropout, max-pool, average-pool, "
            "global-average-pool, branches, embedding, cross-entropy, given; did you mean "
            "\"relu\"?"},
      Wrong{R"("out": 8, )",
            "",
            "model.json:6:7: blocks.0.operations.0.out: missing; expected an integer from 1 to "
            "1000000"},
      Wrong{R"("repeat": 3)",
            R"("repeat": 0)",
            "model.json:7:36: blocks.1.repeat: 0: expected an integer from 1 to 100000"}};
  for (const Wrong& wrong : wrongs) {
    EXPECT_EQ(problems_with(wrong.from, wrong.to), std::vector{wrong.line}) << wrong.to;
  }
}

TEST(ReadLayered, RefusesMoreParametersThanItCanCount) {
  const std::vector<std::string> lines =
      problems_with(R"("blocks": [)",
                    R"("blocks": [{"operations": [{"op": "linear", "out": 1000000},
                                  {"op": "linear", "out": 1000000},
                                  {"op": "embedding", "rows": 1000000000000, "out": 2, "pooled": true}]}, )");
  EXPECT_EQ(lines,
            std::vector<std::string>{"model.json:6:85: blocks.0.operations.2.out: 2: expected at "
                                     "most 10^12 parameters"});
}

TEST(ReadLayered, ComplainsAboutAnUnreadableInputOnly) {
  EXPECT_EQ(problems_with(R"("channels": 3)", R"("channels": 0)"),
            std::vector<std::string>{
                "model.json:3:25: input.channels: 0: expected an integer from 1 to 1000000"});
}

TEST(ReadLayered, RefusesAModelWithoutInputOrBlocks) {
  EXPECT_THROW(static_cast<void>(read_layers(R"({"name": "m", "blocks": []})")), InputError);
  EXPECT_THROW(
      static_cast<void>(read_layers(R"({"name": "m", "input": {"channels": 1}, "blocks": [{}]})")),
      InputError);
}

constexpr const char* kImage = R"({"channels": 4, "height": 8, "width": 8})";
constexpr const char* kConvolution =
    R"({"op": "convolution", "out": 6, "kernel": 3, "padding": 1})";

TEST(LayeredBlocks, ListTheThreeProductsOfAConvolution) {
  const std::string two = std::string(kConvolution) + "," + kConvolution;
  const ModelBlocks blocks = blocks_of(one_block(kImage, two), {.micro_batch = 5});
  ASSERT_EQ(blocks.kinds.size(), 1U);
  const OperationList& list = blocks.kinds[0].operations;
  ASSERT_EQ(list.size(), 2U);
  EXPECT_FALSE(list[0].input_gradient.exists());  // nobody asks for the images' gradient
  const Operation& op = list[1];
  const double flops = 2.0 * 5 * 64 * 6 * 6 * 9;
  const double maps = 5 * 2.0 * 6 * 64;
  const double weights = 6 * 6 * 9 + 6;
  for (const Kernel& kernel : {op.forward, op.input_gradient}) {
    EXPECT_EQ(kernel.kind, KernelKind::matrix);
    EXPECT_DOUBLE_EQ(kernel.flops.si(), flops);
    EXPECT_DOUBLE_EQ(kernel.bytes.si(), 2 * (maps + weights));
  }
  EXPECT_DOUBLE_EQ(op.weight_gradient.flops.si(), flops);
  EXPECT_DOUBLE_EQ(op.weight_gradient.bytes.si(), 2 * maps + 2 * 4 * weights);  // an fp32 sum
  EXPECT_DOUBLE_EQ(op.saved.si(), 2 * 5 * 6 * 64);
  EXPECT_EQ(op.weight_input, op.saved);
  EXPECT_DOUBLE_EQ(op.output_gradient.si(), 2 * 5 * 6 * 64);
  EXPECT_FALSE(op.forward_transfer.exists());
  EXPECT_EQ(blocks.kinds[0].parameters.replicated, (4 * 6 * 9 + 6) + (6 * 6 * 9 + 6));
  EXPECT_DOUBLE_EQ(blocks.kinds[0].input.si(), 2 * 5 * 4 * 64);
  EXPECT_DOUBLE_EQ(blocks.kinds[0].output.si(), 2 * 5 * 6 * 64);
  EXPECT_TRUE(blocks.embedding.operations.empty());
  EXPECT_TRUE(blocks.head.operations.empty());
}

TEST(LayeredBlocks, KeepATensorOnceWhereverBlocksBegin) {
  // The residual blocks begin with the result of a ReLU of the block before; each of their tensors
  // is kept once: the result of the ReLU, which is the next convolution's input, and the input of
  // the batch norm. Means and deviations are two fp32 numbers per channel.
  const ModelBlocks blocks = blocks_of(read_layers(kSmall), {.micro_batch = 2});
  const double map = 2 * 2 * 8 * 256;
  const double first = 2 * 2 * 3 * 256 + map + 2 * 4 * 8;
  const double residual = map + map + 2 * 4 * 8;
  // The last ReLU's result, the linear layer's input, and log-probabilities.
  const double end = map + 2 * 2 * 8 + 2 * 4 * 5;
  EXPECT_DOUBLE_EQ(saved_bytes(blocks.kinds[0].operations).si(), first);
  EXPECT_DOUBLE_EQ(saved_bytes(blocks.kinds[1].operations).si(), residual);
  EXPECT_DOUBLE_EQ(saved_bytes(blocks.kinds[2].operations).si(), end);
}

TEST(LayeredBlocks, KeepWhatElementWiseOperationsNeed) {
  struct Row {
    const char* operation;
    double saved;    // bytes at 16 bit for the 256 elements behind the convolution
    double forward;  // bytes
    double backward;
  };
  const double x = 6 * 64;
  const std::array rows = {
      Row{R"({"op": "relu"}, {"op": "global-average-pool"})", 2 * x, 2 * 2 * x, 3 * 2 * x},
      Row{R"({"op": "activation"})", 2 * x, 2 * 2 * x, 3 * 2 * x},
      Row{R"({"op": "dropout"})", x, 2 * 2 * x + x, 2 * 2 * x + x},
      Row{R"({"op": "batch-norm"})", 2 * x + 2 * 4 * 6, 2 * (3 * x + 12), 2 * (5 * x + 12)},
      Row{R"({"op": "max-pool", "kernel": 2, "stride": 2})",
          8 * x / 4,
          2 * (x + x / 4) + 8 * x / 4,
          2 * (x + x / 4) + 8 * x / 4},
      Row{R"({"op": "average-pool", "kernel": 2, "stride": 2})",
          0,
          2 * (x + x / 4),
          2 * (x + x / 4)},
      Row{R"({"op": "cross-entropy"})", 4 * x, 2 * x + 4 * x, 2 * x + 4 * x}};
  for (const Row& row : rows) {
    const LayeredModel model = one_block(kImage, std::string(kConvolution) + "," + row.operation);
    const ModelBlocks blocks = blocks_of(model, {});
    const Operation& op = blocks.kinds[0].operations[1];
    EXPECT_DOUBLE_EQ(op.saved.si(), row.saved) << row.operation;
    EXPECT_DOUBLE_EQ(op.forward.bytes.si(), row.forward) << row.operation;
    EXPECT_DOUBLE_EQ(op.input_gradient.bytes.si(), row.backward) << row.operation;
    EXPECT_EQ(op.forward.kind, KernelKind::memory);
    EXPECT_FALSE(op.weight_gradient.exists());
  }
}

TEST(LayeredBlocks, LookUpRowsOfTables) {
  const LayeredModel model = one_block(
      R"({"channels": 20})", R"({"op": "embedding", "rows": 1000, "out": 16, "pooled": true})");
  EXPECT_EQ(parameters(model), 1000 * 16);
  EXPECT_EQ(model.kinds[0].output, (FeatureMap{16, 1, 1}));
  const ModelBlocks blocks = blocks_of(model, {.micro_batch = 3});
  const Operation& op = blocks.kinds[0].operations[0];
  EXPECT_DOUBLE_EQ(op.forward.bytes.si(), 3 * (2 * (20 * 16 + 16) + 8 * 20));
  EXPECT_DOUBLE_EQ(op.weight_gradient.bytes.si(), 3 * (2 * 16 + 2 * 4 * 20 * 16));
  EXPECT_DOUBLE_EQ(op.saved.si(), 3 * 8 * 20);
  EXPECT_FALSE(op.input_gradient.exists());
  const LayeredModel each =
      one_block(R"({"channels": 20})", R"({"op": "embedding", "rows": 1000, "out": 16})");
  EXPECT_EQ(each.kinds[0].output, (FeatureMap{20 * 16, 1, 1}));
}

TEST(LayeredBlocks, TakeOperationsByTheirNumbers) {
  const LayeredModel model = one_block(R"({"channels": 64})", R"(
    {"op": "linear", "out": 64, "bias": false},
    {"op": "given", "name": "mixer", "kind": "matrix", "flops": "2 GFLOP", "parameters": 1000000,
     "elements": 3000, "saved": 500, "output": {"channels": 32},
     "forward_transfer": {"collective": "all-to-all", "group": "data", "elements": 700}},
    {"op": "given", "kind": "attention", "flops": "1 GFLOP", "elements": 10})");
  EXPECT_EQ(parameters(model), 64 * 64 + 1'000'000);
  EXPECT_DOUBLE_EQ(forward_flops(model).si(), 2.0 * 64 * 64 + 2e9 + 1e9);
  EXPECT_EQ(model.kinds[0].output, (FeatureMap{32, 1, 1}));
  const ModelBlocks blocks = blocks_of(model, {.micro_batch = 2});
  const Operation& mixer = blocks.kinds[0].operations[1];
  EXPECT_EQ(mixer.name, "mixer");
  EXPECT_DOUBLE_EQ(mixer.forward.flops.si(), 2 * 2e9);
  EXPECT_DOUBLE_EQ(mixer.forward.bytes.si(), 2 * (2 * 3000.0 + 1e6));
  EXPECT_DOUBLE_EQ(mixer.weight_gradient.flops.si(), 2 * 2e9);
  EXPECT_DOUBLE_EQ(mixer.saved.si(), 2 * 2 * 500);
  EXPECT_EQ(mixer.forward_transfer.kind, Collective::all_to_all);
  EXPECT_EQ(mixer.forward_transfer.group, LayerGroup::data);
  EXPECT_DOUBLE_EQ(mixer.forward_transfer.size.si(), 2 * 2 * 700);
  const Operation& attention = blocks.kinds[0].operations[2];
  EXPECT_EQ(attention.forward.kind, KernelKind::attention);
  // Without weights two products stand behind the input's gradient.
  EXPECT_DOUBLE_EQ(attention.input_gradient.flops.si(), 2 * 2 * 1e9);
  EXPECT_FALSE(attention.weight_gradient.exists());
}

TEST(LayeredBlocks, AskNeighboursForTheHalo) {
  const std::string operations = std::string(kConvolution) + "," + kConvolution +
                                 R"(, {"op": "batch-norm"}, {"op": "global-average-pool"},
                                     {"op": "linear", "out": 3})";
  const LayeredModel model = one_block(kImage, operations);
  const ModelBlocks alone = blocks_of(model, {.micro_batch = 5});
  const ModelBlocks rows = blocks_of(model, {.micro_batch = 5, .tensor = 4});
  const OperationList& list = rows.kinds[0].operations;
  const Operation& second = list[1];
  // A row before and a row behind, of 8 columns, 6 channels and 5 images at 16 bit.
  const double halo = 2 * 5 * 6 * (1 + 1) * 8;
  EXPECT_EQ(second.forward_transfer.kind, Collective::send_recv);
  EXPECT_EQ(second.forward_transfer.group, LayerGroup::tensor);
  EXPECT_DOUBLE_EQ(second.forward_transfer.size.si(), halo);
  EXPECT_DOUBLE_EQ(second.backward_transfer.size.si(), halo);  // the halo's gradients go back
  EXPECT_TRUE(second.column_split);
  EXPECT_FALSE(list[0].backward_transfer.exists());  // images have no gradient
  EXPECT_DOUBLE_EQ(second.saved.si(), 2 * 5 * 6 * 64 / 4 + halo);
  EXPECT_DOUBLE_EQ(second.forward.flops.si(), alone.kinds[0].operations[1].forward.flops.si() / 4);
  // Sums of batch norms and of the pool are added; weights are whole on every rank.
  EXPECT_EQ(list[2].forward_transfer.kind, Collective::all_reduce);
  EXPECT_DOUBLE_EQ(list[2].forward_transfer.size.si(), 4 * 2 * 6);
  EXPECT_DOUBLE_EQ(list[3].forward_transfer.size.si(), 2 * 5 * 6);
  EXPECT_FALSE(list[4].forward_transfer.exists());
  EXPECT_EQ(list[4].forward.flops, alone.kinds[0].operations[4].forward.flops);
  EXPECT_EQ(rows.kinds[0].parameters, alone.kinds[0].parameters);
  EXPECT_DOUBLE_EQ(rows.kinds[0].input.si(), alone.kinds[0].input.si() / 4);
}

TEST(LayeredBlocks, GatherImagesBeforeALinearLayer) {
  const LayeredModel model =
      one_block(kImage, std::string(kConvolution) + R"(, {"op": "linear", "out": 3})");
  const ModelBlocks alone = blocks_of(model, {});
  const ModelBlocks cut = blocks_of(model, {.tensor = 4, .image_columns = 2});
  const Operation& linear = cut.kinds[0].operations[1];
  EXPECT_EQ(linear.forward_transfer.kind, Collective::all_gather);
  EXPECT_DOUBLE_EQ(linear.forward_transfer.size.si(), 2 * 6 * 64);
  EXPECT_FALSE(linear.backward_transfer.exists());  // each rank takes its part of the gradient
  const Operation& whole = alone.kinds[0].operations[1];
  EXPECT_EQ(linear.forward.flops, whole.forward.flops);
  EXPECT_EQ(linear.forward.bytes, whole.forward.bytes);
  EXPECT_EQ(linear.saved, whole.saved);
  EXPECT_EQ(linear.weight_input, whole.weight_input);
}

TEST(LayeredBlocks, ComparePixelByPixel) {
  // A class of every pixel: nothing is gathered.
  const LayeredModel model =
      one_block(kImage, std::string(kConvolution) + R"(, {"op": "cross-entropy"})");
  const Operation whole = blocks_of(model, {}).kinds[0].operations[1];
  const Operation part = blocks_of(model, {.tensor = 4}).kinds[0].operations[1];
  EXPECT_FALSE(part.forward_transfer.exists());
  EXPECT_DOUBLE_EQ(part.forward.bytes.si(), whole.forward.bytes.si() / 4);
  EXPECT_DOUBLE_EQ(whole.saved.si(), 4 * 6 * 64);
}

TEST(LayeredBlocks, OfSamplesOfOneImageStillDivide) {
  // F14: parallelism goes on where a batch is less than an image per core. [seed 002]
  const LayeredModel model = one_block(kImage, kConvolution);
  const Flops whole = blocks_of(model, {}).kinds[0].operations[0].forward.flops;
  for (const std::int64_t t : {2, 4, 8}) {
    const Flops part = blocks_of(model, {.tensor = t}).kinds[0].operations[0].forward.flops;
    EXPECT_DOUBLE_EQ(part.si(), whole.si() / static_cast<double>(t));
  }
}

TEST(LayeredBlocks, AreFilledAgainWithoutAllocating) {
  const LayeredModel model = samples::shipped_layers("resnet-50");
  ModelBlocks blocks;
  list_blocks(model, {.micro_batch = 8}, blocks);
  const std::size_t before = testing::allocations();
  list_blocks(model, {.micro_batch = 4, .tensor = 2}, blocks);
  const std::size_t after = testing::allocations();
  EXPECT_EQ(after, before);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
