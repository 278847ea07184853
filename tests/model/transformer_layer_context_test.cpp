// Layers of ranks that have parts of the same sequences, and which tokens attend to which.
#include <gtest/gtest.h>

#include <functional>

#include "model/samples.hpp"
#include "titer/model/transformer/transformer_layer.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;
using samples::named;

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kSequence = 8192;
constexpr double kTokens = 1.0 * kBatch * kSequence;
constexpr double kQuery = 32 * 128;  // columns of llama's queries
constexpr double kKey = 8 * 128;

Slice slice_of(std::int64_t context, ContextMethod method, std::int64_t tensor = 1) {
  return {.micro_batch = kBatch,
          .sequence = kSequence,
          .tensor = tensor,
          .sequence_parallel = tensor > 1,
          .context = context,
          .context_method = method};
}

void expect_transfer(const Transfer& transfer, Collective kind, LayerGroup group, double bytes) {
  EXPECT_EQ(transfer.kind, kind);
  EXPECT_EQ(transfer.group, group);
  EXPECT_DOUBLE_EQ(transfer.size.si(), bytes);
}

TEST(ContextParts, DivideAllThatALayerKeeps) {
  for (const auto& model : {samples::gpt3(), samples::llama(), samples::deepseek()}) {
    const Slice whole = slice_of(1, ContextMethod::ring, 2);
    for (const ContextMethod method : {ContextMethod::ring, ContextMethod::all_gather}) {
      const Slice part = slice_of(4, method, 2);
      expect_close(saved_bytes(transformer_layer(model, part)).si(),
                   saved_bytes(transformer_layer(model, whole)).si() / 4);
      expect_close(saved_bytes(output_head(model, part)).si(),
                   saved_bytes(output_head(model, whole)).si() / 4);
      EXPECT_EQ(layer_input_bytes(model, part), layer_input_bytes(model, whole) / 4.0);
    }
  }
}

TEST(ContextRing, PassesKeysAndValuesAndBackTheirGradients) {
  const OperationList list =
      transformer_layer(samples::llama(), slice_of(4, ContextMethod::ring, 2));
  const Operation core = named(list, "flash attention");
  const double all = 2 * kTokens * 2 * kKey / 2;
  EXPECT_TRUE(core.beside);
  expect_transfer(core.forward_transfer, Collective::all_gather, LayerGroup::context, all);
  expect_transfer(core.backward_transfer, Collective::all_gather, LayerGroup::context, 2 * all);
  // One block of keys and values that comes and one that goes: 2 x 4 k d s b / cp.
  EXPECT_DOUBLE_EQ(core.working.si(), 2 * (4 * kKey) * kTokens / 4 / 2);
}

TEST(ContextRing, AddsUpWhatEachBlockOfKeysAndValuesTellsOfResultsAndGradients) {
  const auto of_blocks = [](std::int64_t context, ContextMethod method, AttentionKernel kernel) {
    Slice slice = slice_of(context, method);
    slice.context_inner = method == ContextMethod::hierarchical ? 2 : 1;
    slice.attention = kernel;
    Operation sums;
    for (const Operation& op : transformer_layer(samples::llama(), slice)) {
      sums = op.name == "sums over blocks" ? op : sums;
    }
    return sums;
  };
  using enum AttentionKernel;
  // A block's read, the sum's read and written: whatever the parts, as each has a part of tokens.
  const double sum = 3 * 2 * kTokens;
  for (const std::int64_t context : {2, 8}) {
    const Operation sums = of_blocks(context, ContextMethod::ring, flash);
    EXPECT_DOUBLE_EQ(sums.forward.bytes.si(), sum * kQuery);
    EXPECT_DOUBLE_EQ(sums.input_gradient.bytes.si(), sum * (kQuery + 2 * kKey));
    EXPECT_EQ(sums.saved, Bytes{});
  }
  const Operation outer = of_blocks(8, ContextMethod::hierarchical, flash);
  EXPECT_DOUBLE_EQ(outer.forward.bytes.si(), sum * kQuery / 2)
      << "four blocks, an eighth of tokens";
  EXPECT_FALSE(of_blocks(1, ContextMethod::ring, flash).forward.exists());
  EXPECT_FALSE(of_blocks(8, ContextMethod::all_gather, flash).forward.exists());
  EXPECT_FALSE(of_blocks(8, ContextMethod::ulysses, flash).forward.exists());
  EXPECT_FALSE(of_blocks(8, ContextMethod::ring, materialised).forward.exists());
}

TEST(ContextGather, BringsKeysAndValuesBeforeAttention) {
  const OperationList list =
      transformer_layer(samples::llama(), slice_of(4, ContextMethod::all_gather));
  const double all = 2 * kTokens * 2 * kKey;
  const Operation gather = named(list, "key and value gather");
  expect_transfer(gather.forward_transfer, Collective::all_gather, LayerGroup::context, all);
  expect_transfer(gather.backward_transfer, Collective::reduce_scatter, LayerGroup::context, all);
  // Not kept, but gathered again for the backward pass.
  const Operation core = named(list, "flash attention");
  expect_transfer(core.backward_transfer, Collective::all_gather, LayerGroup::context, all);
  EXPECT_FALSE(core.beside);
  EXPECT_DOUBLE_EQ(core.working.si(), all);
}

TEST(Ulysses, ExchangesPartsOfTheSequenceForHeads) {
  for (const std::int64_t context : {2, 8, 16}) {
    const OperationList list =
        transformer_layer(samples::llama(), slice_of(context, ContextMethod::ulysses));
    const double tokens = kTokens / static_cast<double>(context);
    const double copies = context == 16 ? 2 : 1;  // eight key-value heads for sixteen ranks
    expect_transfer(named(list, "head scatter").forward_transfer,
                    Collective::all_to_all,
                    LayerGroup::context,
                    2 * tokens * (kQuery + copies * 2 * kKey));
    expect_transfer(named(list, "head gather").backward_transfer,
                    Collective::all_to_all,
                    LayerGroup::context,
                    2 * tokens * kQuery);
    // What attention wrote is kept for it, and for the product what came back of it.
    EXPECT_DOUBLE_EQ(named(list, "flash attention").core_saved.si(),
                     tokens * (4 * 32 + 2 * kQuery));
    EXPECT_FALSE(named(list, "flash attention").forward_transfer.exists());
  }
}

TEST(HierarchicalContext, IsARingOfGroupsThatExchangeHeads) {
  Slice slice = slice_of(8, ContextMethod::hierarchical);
  slice.context_inner = 4;
  const OperationList list = transformer_layer(samples::llama(), slice);
  const double tokens = kTokens / 8;
  expect_transfer(named(list, "head scatter").forward_transfer,
                  Collective::all_to_all,
                  LayerGroup::context_inner,
                  2 * tokens * (kQuery + 2 * kKey));
  expect_transfer(named(list, "flash attention").forward_transfer,
                  Collective::all_gather,
                  LayerGroup::context_outer,
                  2 * (2 * tokens * 2 * kKey));
}

double core_flops(const Transformer& model, const Slice& slice) {
  return named(transformer_layer(model, slice), "flash attention").forward.flops.si();
}

TEST(ContextParts, OfACausalSequenceAreUnequalUnlessBalanced) {
  for (const std::int64_t context : {2, 4, 16}) {
    const auto cp = static_cast<double>(context);
    for (const ContextMethod method :
         {ContextMethod::ring, ContextMethod::all_gather, ContextMethod::ulysses}) {
      const Slice balanced = slice_of(context, method);
      Slice unbalanced = balanced;
      unbalanced.context_balanced = false;
      // The last part attends to all: of cp^2 blocks cp - 1 and a half of cp.
      const double busiest = method == ContextMethod::ulysses ? 1.0 : (cp - 0.5) / (cp / 2);
      expect_close(core_flops(samples::llama(), unbalanced),
                   busiest * core_flops(samples::llama(), balanced));
      Transformer encoder = samples::llama();
      encoder.causal = false;
      expect_close(core_flops(encoder, unbalanced), core_flops(encoder, balanced));
    }
  }
  // Of windows much shorter than a part only the first part has less.
  Slice unbalanced = slice_of(2, ContextMethod::ring);
  unbalanced.context_balanced = false;
  const double s = kSequence;
  const double w = 1024;
  expect_close(core_flops(samples::windowed(), unbalanced), kBatch * 4 * kQuery * (s / 2) * w);
  EXPECT_LT(core_flops(samples::windowed(), slice_of(2, ContextMethod::ring)),
            kBatch * 4 * kQuery * (s / 2) * w);
}

/// Pairs by going through them: half of a token's pair with itself, as s^2 / 2 counts it.
double counted_pairs(int length, const std::function<bool(int, int)>& sees) {
  double pairs = 0;
  for (int query = 0; query < length; ++query) {
    for (int key = 0; key <= query; ++key) {
      pairs += sees(query, key) ? (key == query ? 0.5 : 1.0) : 0.0;
    }
  }
  return pairs;
}

TEST(AttendedPairs, AreThoseOfWindowsChunksAndDocuments) {
  const int s = 600;
  Slice slice = slice_of(1, ContextMethod::ring);
  slice.sequence = s;
  const auto computed = [&](const LayerKind& kind) {
    Transformer model = samples::llama();
    model.kinds = {kind};
    return core_flops(model, slice) / (kBatch * 4 * kQuery);
  };
  EXPECT_DOUBLE_EQ(computed({}), counted_pairs(s, [](int, int) { return true; }));
  for (const int w : {1, 7, 128, 599, 600, 700}) {
    // A window's far end is counted by half, as its near end is: w / 2 in each full one.
    const double counted = counted_pairs(s, [&](int q, int k) { return q - k < w; });
    EXPECT_NEAR(computed({.window = w}), counted, s / 2.0) << w;
    EXPECT_DOUBLE_EQ(computed({.window = w, .chunked = true}),
                     counted_pairs(s, [&](int q, int k) { return q / w == k / w; }))
        << w;
  }
  // Documents of 100, 200 and 300 tokens: sum L^2 / sum L.
  slice.attended_length = (100.0 * 100 + 200.0 * 200 + 300.0 * 300) / 600;
  const auto document = [](int token) { return token < 100 ? 0 : token < 300 ? 1 : 2; };
  EXPECT_DOUBLE_EQ(computed({}),
                   counted_pairs(s, [&](int q, int k) { return document(q) == document(k); }));
}

TEST(Indexer, PicksWhatCoreAttentionGoesThrough) {
  Transformer sparse = samples::deepseek();
  sparse.indexer = {.heads = 64, .head_dim = 128, .top_k = 2048};
  const Slice slice = slice_of(1, ContextMethod::ring);
  Transformer window = samples::deepseek();
  window.kinds[0].window = 2048;
  EXPECT_DOUBLE_EQ(core_flops(sparse, slice), core_flops(window, slice));
  const Operation scores = named(transformer_layer(sparse, slice), "indexer scores");
  EXPECT_DOUBLE_EQ(scores.forward.flops.si(), 2 * kTokens * kSequence / 2 * 64 * 128);
  // Queries of all its heads, a key, a weight per head; and four bytes for each token picked.
  EXPECT_DOUBLE_EQ(scores.saved.si(), kTokens * (2 * (64 * 128 + 128 + 64) + 4 * 2048));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
