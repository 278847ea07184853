// Layers with mixers of tokens: what they compute, keep and send.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/mixers.hpp"
#include "model/operations.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;
using samples::hybrid;
using samples::kGatedDelta;
using samples::kKimi;
using samples::kLightning;
using samples::kMamba;
using samples::kMamba2;
using samples::kMixers;
using samples::named;

OperationList layer_of(const Mixer& mixer, const Slice& slice) {
  return transformer_layer(hybrid(mixer), slice);
}

bool has(const OperationList& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& op) { return op.name == name; });
}

TEST(Mixers, ComputeTheModelsFlopsOnAllRanksTogether) {
  for (const Mixer& mixer : kMixers) {
    const Transformer model = hybrid(mixer);
    for (const std::int64_t context : {1, 2}) {
      for (const std::int64_t tensor : {1, 2, 4}) {
        for (const std::int64_t sequence : {128, 8192}) {
          const Slice slice{.micro_batch = 2,
                            .sequence = sequence,
                            .tensor = tensor,
                            .sequence_parallel = tensor > 1,
                            .context = context};
          ModelBlocks blocks;
          list_blocks(model, slice, blocks);
          Flops all;
          const auto add = [&](const OperationList& list, double count) {
            for (const Operation& op : list) {
              all += count * op.forward.flops;
            }
          };
          for (const LayerRun& run : blocks.order) {
            add(blocks.kinds[static_cast<std::size_t>(run.kind)].operations,
                static_cast<double>(run.count));
          }
          add(blocks.head.operations, 1.0);
          const Flops whole = forward_flops(model, 2, sequence, AttentionCount::causal).total();
          EXPECT_NEAR(static_cast<double>(tensor * context) * all / whole, 1.0, 1e-12)
              << static_cast<int>(mixer.kind) << ", t " << tensor << ", cp " << context;
        }
      }
    }
  }
}

// Chunks of 256 tokens, 8 heads of keys of 128, 128 heads of values of 64.
// [Dao & Gu 2024, section 6]
TEST(Mixers, OfMamba2AreProductsOfChunks) {
  const double tokens = 2 * 4096;
  const double t = 4;
  const OperationList list = layer_of(kMamba2, {.micro_batch = 2, .sequence = 4096, .tensor = 4});
  const double scores = 2 * tokens * 256 * 8 * 128 / t;
  const double weighed = 2 * tokens * 256 * 128 * 64 / t;
  const double state = 2 * tokens * 128 * 128 * 64 / t;  // written, or read
  const Operation made = named(list, "chunk states");
  const Operation read = named(list, "chunk outputs");
  expect_close(made.forward.flops.si(), state);
  expect_close(made.input_gradient.flops.si(), (2 + 1) * state);  // states are made again
  expect_close(read.forward.flops.si(), scores + weighed + state);
  expect_close(read.input_gradient.flops.si(), 2 * (scores + weighed + state) + scores);
  EXPECT_EQ(made.forward.kind, KernelKind::attention);
  EXPECT_FALSE(made.forward.shape.known());

  const double states = tokens / 256 * 128 / t * 128 * 64 * 4;  // fp32, one per chunk and head
  const double values = tokens * 128 * 64 / t * 2;
  const double keys = tokens * 8 * 128 / t * 2;
  const double pairs = tokens * 256 * 8 / t * 4;
  expect_close(made.forward.bytes.si(), values + keys + states);
  expect_close(read.forward.bytes.si(), 2 * (values + keys) + states + 2 * pairs);
  expect_close(read.working.si(), 2 * states + pairs);
  expect_close(named(list, "state passing").forward.bytes.si(), 2 * states);
}

// The input product's columns but gates, gates and outputs for the norm, and its result.
TEST(Mixers, OfMamba2KeepNoStates) {
  const Slice slice{.micro_batch = 1, .sequence = 4096, .tensor = 8, .sequence_parallel = true};
  Transformer model = hybrid(kMamba2);
  model.kinds = {{.tokens = TokenMixing::mixer, .mlp = false}};
  const OperationList list = transformer_layer(model, slice);
  const double values = 128 * 64;
  const double keys = 8 * 128;
  const double kept = values + 2 * keys + 128 + 2 * values + values;
  const double norm_and_input = 2 * 4096.0;  // the norm's, and its result
  expect_close(saved_bytes(list).si(), 4096.0 / 8 * 2 * (kept + norm_and_input));
  expect_close(saved_bytes(list, bit(Module::core_attention)).si(), saved_bytes(list).si());
  expect_close(saved_bytes(list, bit(Module::attention)).si(), 4096.0 / 8 * 2 * norm_and_input);
}

// Keys with keys, the inverse, and it with keys and values; states read and written; queries with
// the state and with keys, and these with values. [Yang et al. 2024, section 3.3]
TEST(Mixers, OfDeltaRulesInvertTriangles) {
  const double tokens = 4096;
  const OperationList list = layer_of(kGatedDelta, {.micro_batch = 1, .sequence = 4096});
  const double each = 2 * tokens * 32;
  const double with_keys = each * 64 * 64;
  const double with_values = each * 64 * 128;
  const double state = each * 64 * 128;
  const double inverse = each * 64 * 64 / 6;
  const Operation made = named(list, "chunk inverses");
  expect_close(made.forward.flops.si(), 2 * with_keys + with_values + inverse);
  expect_close(made.input_gradient.flops.si(),
               2 * (2 * with_keys + with_values + inverse) + with_keys + with_values);
  expect_close(named(list, "chunk states").forward.flops.si(), 2 * state);
  const Operation read = named(list, "chunk outputs");
  expect_close(read.forward.flops.si(), with_keys + with_values + state);
  expect_close(read.input_gradient.flops.si(), 2 * read.forward.flops.si() + with_keys);
  // Queries and keys for every head of values, values, and the inverses.
  expect_close(made.saved.si(), tokens * 2 * 32 * (2 * 64 + 128 + 64));
  expect_close(named(list, "query and key norm").forward.bytes.si(),
               tokens * 2 * (2 * 16 * 64 + 2 * 32 * 64));
  // Decays and strengths of each head, and what they are in fp32.
  expect_close(named(list, "decays").saved.si(), tokens * 2 * 32 * (2 + 4));
}

TEST(Mixers, OfKimiMakeDecaysAndGatesByProductsOfLowRank) {
  const double tokens = 4096;
  const OperationList list = layer_of(kKimi, {.micro_batch = 1, .sequence = 4096, .tensor = 4});
  expect_close(named(list, "decay and gate down").forward.flops.si(), 2 * tokens * 4096 * 2 * 128);
  expect_close(named(list, "decay up").forward.flops.si(), 2 * tokens * 128 * 32 * 128 / 4);
  expect_close(named(list, "gate up").forward.flops.si(), 2 * tokens * 128 * 32 * 128 / 4);
  // A decay for every column of keys.
  expect_close(named(list, "decays").saved.si(), tokens * (32 * 128 + 32) / 4 * (2 + 4));
}

TEST(Mixers, OfLightningAttentionAreOneKernel) {
  const double tokens = 4096;
  const OperationList list = layer_of(kLightning, {.micro_batch = 1, .sequence = 4096});
  const Operation op = named(list, "lightning attention");
  const double pairs = 2 * tokens * 64 * 256 * 128;
  const double state = 2 * tokens * 64 * 128 * 128;
  expect_close(op.forward.flops.si(), 2 * pairs + 2 * state);
  expect_close(op.input_gradient.flops.si(), 2 * op.forward.flops.si() + pairs + state);
  expect_close(op.forward.bytes.si(), tokens * 2 * 64 * (4 * 128));
  EXPECT_FALSE(has(list, "short convolution"));
  expect_close(named(list, "mixer activation").saved.si(), tokens * 2 * 64 * (3 * 128));
}

// Without a norm inside time steps go straight on; the scan moves what it reads and writes.
TEST(Mixers, OfMambaAreScannedInMemory) {
  const double tokens = 4096;
  const OperationList list = layer_of(kMamba, {.micro_batch = 1, .sequence = 4096, .tensor = 2});
  const Operation scan = named(list, "selective scan");
  EXPECT_EQ(scan.forward.kind, KernelKind::memory);
  expect_close(scan.forward.bytes.si(), tokens * 2 * (4 * 8192.0 / 2 + 2 * 16));
  EXPECT_TRUE(has(list, "time step, key and query norm"));
  EXPECT_FALSE(has(list, "gated norm"));
  Mixer plain = kMamba;
  plain.norm = false;
  EXPECT_FALSE(has(layer_of(plain, {.sequence = 4096}), "time step, key and query norm"));
  const Transfer sum = named(list, "time steps, keys and queries").forward_transfer;
  EXPECT_EQ(sum.kind, Collective::all_reduce);
  expect_close(sum.size.si(), tokens * 2 * (256 + 2 * 16));
}

// As attention's products: gathered before, scattered after.
TEST(Mixers, AreSplitByColumnsAndRowsAsAttentionIs) {
  const Slice slice{.micro_batch = 1, .sequence = 4096, .tensor = 8, .sequence_parallel = true};
  for (const Mixer& mixer : {kMamba2, kGatedDelta, kLightning}) {
    const OperationList list = layer_of(mixer, slice);
    const Operation in = named(list, "mixer input");
    const Operation out = named(list, "mixer output");
    EXPECT_EQ(in.forward_transfer.kind, Collective::all_gather);
    EXPECT_EQ(in.backward_transfer.kind, Collective::reduce_scatter);
    EXPECT_EQ(out.forward_transfer.kind, Collective::reduce_scatter);
    expect_close(out.forward_transfer.size.si(), 4096 * 4096 * 2);
    expect_close(in.forward.flops.si(),
                 2.0 * 4096 * 4096 * static_cast<double>(mixer.input_width()) / 8);
  }
}

// [Megatron-Core, ssm/mamba_context_parallel.py]
TEST(Mixers, TradePartsOfASequenceForHeads) {
  const Slice slice{.micro_batch = 1, .sequence = 8192, .context = 4};
  const double tokens = 8192.0 / 4;
  const OperationList list = layer_of(kMamba2, slice);
  const Operation scatter = named(list, "mixer scatter");
  EXPECT_EQ(scatter.forward_transfer.kind, Collective::all_to_all);
  EXPECT_EQ(scatter.forward_transfer.group, LayerGroup::context);
  expect_close(scatter.forward_transfer.size.si(), tokens * 2 * (2 * 128 * 64 + 2 * 8 * 128 + 128));
  // With the gates, which the norm over a group of heads needs.
  expect_close(named(list, "mixer gather").forward_transfer.size.si(), tokens * 2 * 2 * 128 * 64);
  expect_close(named(layer_of(kGatedDelta, slice), "mixer gather").forward_transfer.size.si(),
               tokens * 2 * 32 * 128);
  EXPECT_FALSE(has(layer_of(kMamba2, {.sequence = 8192}), "mixer scatter"));

  // Fewer heads of keys than ranks: copies, whose scores are made on each.
  Mixer few = kMamba2;
  few.key_heads = 1;
  const OperationList copied = layer_of(few, slice);
  expect_close(named(copied, "mixer scatter").forward_transfer.size.si(),
               tokens * 2 * (2 * 128 * 64 + 4 * 2 * 128 + 128));
  expect_close(named(copied, "chunk outputs").forward.flops.si(),
               2 * tokens * (256.0 * (4 * 128 + 128 * 64) + 128.0 * 128 * 64));
}

TEST(Mixers, LeaveProductsAloneNarrow) {
  const Slice slice{.sequence = 4096, .product_type = DataType::fp8};
  const OperationList list = layer_of(kMamba2, slice);
  EXPECT_TRUE(named(list, "mixer input").forward.narrow);
  EXPECT_TRUE(named(list, "mixer output").forward.narrow);
  EXPECT_FALSE(named(list, "chunk outputs").forward.narrow);
}

TEST(Mixers, StandInLayersOfOneBranch) {
  ModelBlocks blocks;
  list_blocks(hybrid(kMamba2), {.sequence = 4096}, blocks);
  const auto of = [&](std::size_t kind) -> const OperationList& {
    return blocks.kinds[kind].operations;
  };
  EXPECT_TRUE(has(of(0), "mixer norm") && has(of(0), "MLP norm"));
  EXPECT_TRUE(has(of(1), "mixer residual") && !has(of(1), "MLP norm"));
  EXPECT_TRUE(!has(of(2), "mixer norm") && !has(of(2), "attention norm") &&
              has(of(2), "MLP gate and up"));
  EXPECT_TRUE(has(of(3), "attention gate") && !has(of(3), "MLP norm"));
  EXPECT_EQ(blocks.kinds[0].name, "mixer layer");
  EXPECT_EQ(blocks.kinds[1].name, "mixer");
  EXPECT_EQ(blocks.kinds[2].name, "MLP");
  EXPECT_EQ(blocks.kinds[3].name, "attention");
}

// A gate keeps what the heads return, and itself: nothing else does.
TEST(AttentionGates, KeepWhatTheyWeigh) {
  Transformer model = samples::llama();
  const Slice slice{.sequence = 4096, .product_type = DataType::fp8};
  const Bytes without = saved_bytes(transformer_layer(model, slice));
  const std::int64_t parameters = layer_parameters(model, model.kinds.front()).total();
  model.attention_gate = true;
  const Bytes with = saved_bytes(transformer_layer(model, slice));
  // Without one the narrow product's input is no copy of what the heads return.
  expect_close((with - without).si(), 4096.0 * 4096 * 2);
  EXPECT_EQ(layer_parameters(model, model.kinds.front()).total() - parameters,
            std::int64_t{4096} * 4096);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
