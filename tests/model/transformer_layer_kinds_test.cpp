// Layers of every kind: what they compute in all is what the model's FLOPs are.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/samples.hpp"
#include "paths.hpp"
#include "titer/input/file.hpp"
#include "titer/model/transformer/transformer_layer.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::named;

constexpr std::int64_t kBatch = 2;

/// Of all layers and the output head on one rank.
Flops forward_on_one_rank(const Transformer& model, const Slice& slice) {
  ModelBlocks blocks;
  list_blocks(model, slice, blocks);
  const auto sum = [](const OperationList& list) {
    Flops flops;
    for (const Operation& op : list) {
      flops += op.forward.flops;
    }
    return flops;
  };
  Flops all = sum(blocks.head.operations);
  for (const LayerRun& run : blocks.order) {
    const auto kind = static_cast<std::size_t>(run.kind);
    all += static_cast<double>(run.count) * sum(blocks.kinds[kind].operations);
  }
  return all;
}

Transformer with_indexer() {
  Transformer model = samples::deepseek();
  model.indexer = {.heads = 64, .head_dim = 128, .top_k = 2048};
  return model;
}

Transformer with_straight_queries() {
  Transformer model = samples::deepseek();
  model.latent->q_rank = 0;
  model.experts->shared_gate = true;
  return model;
}

Transformer encoder_and_decoder() {
  Transformer model = samples::mixtral();
  model.layers = 8;
  model.kinds = {{.bidirectional = true},
                 {.experts = true, .bidirectional = true},
                 {.cross_attention = true},
                 {.experts = true, .cross_attention = true}};
  model.order = {{0, 2}, {1, 2}, {2, 2}, {3, 2}};
  return model;
}

Transformer chunked() {
  Transformer model = samples::windowed();
  model.kinds[0] = {.window = 3000, .chunked = true};
  return model;
}

Transformer parallel(int norms) {
  Transformer model = samples::llama();
  model.parallel = true;
  model.norms = norms;
  return model;
}

struct Case {
  const char* name;
  Transformer model;
  bool split = true;  // over tensor-parallel ranks; an indexer is not
};
std::vector<Case> cases() {
  return {{"dense", samples::llama()},
          {"latent attention and experts", samples::deepseek()},
          {"queries without a latent", with_straight_queries()},
          {"indexer", with_indexer(), false},
          {"experts", samples::mixtral()},
          {"windows", samples::windowed()},
          {"chunks", chunked()},
          {"encoder and decoder", encoder_and_decoder()},
          {"parallel branches", parallel(1)}};
}

struct Split {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  ContextMethod method = ContextMethod::ring;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
};
constexpr std::array kSplits = {Split{},
                                Split{2, 1, ContextMethod::ring, 4, 2},
                                Split{8, 1, ContextMethod::ring, 8, 1},
                                Split{1, 4, ContextMethod::ring, 2, 1},
                                Split{2, 4, ContextMethod::all_gather, 8, 1},
                                Split{1, 8, ContextMethod::ulysses},
                                Split{4, 2, ContextMethod::ulysses, 2, 4}};

Slice slice_of(const Split& split, std::int64_t sequence) {
  return {.micro_batch = kBatch,
          .sequence = sequence,
          .tensor = split.tensor,
          .sequence_parallel = split.tensor > 1,
          .context = split.context,
          .context_method = split.method,
          .expert = split.expert,
          .expert_tensor = split.expert_tensor};
}

TEST(KindsOfLayers, ComputeTheModelsFlopsOnAllRanksTogether) {
  for (auto [name, model, is_split] : cases()) {
    model.vocabulary_multiple = 1;  // the model's FLOPs are without padding
    for (const std::int64_t sequence : {1024, 8192}) {
      const Flops whole = forward_flops(model, kBatch, sequence, AttentionCount::causal).total();
      for (const Split& split : kSplits) {
        if (!is_split && split.tensor > 1) {
          continue;
        }
        SCOPED_TRACE(std::string(name) + ", t " + std::to_string(split.tensor) + ", cp " +
                     std::to_string(split.context) + ", s " + std::to_string(sequence));
        const auto ranks = static_cast<double>(split.tensor * split.context);
        const Flops all = ranks * forward_on_one_rank(model, slice_of(split, sequence));
        EXPECT_NEAR(all / whole, 1.0, 1e-12);
      }
    }
  }
}

TEST(KindsOfLayers, OfEveryShippedModelComputeItsFlops) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::root() / "models")) {
    const Document document = load_json(entry.path());
    Problems problems;
    Reader in(document, problems);
    if (!in.has("heads")) {
      continue;  // no transformer
    }
    Transformer model = read_transformer(in);
    problems.raise();
    const bool has_one_group =
        model.mixer && model.mixer->kind == MixerKind::mamba2 && model.mixer->key_heads == 1;
    if (model.denoiser || has_one_group) {
      continue;  // every rank repeats what is done once for a sequence, or for a group of heads
    }
    model.vocabulary_multiple = 1;
    if (model.experts) {
      model.experts->routing.dense_group.reset();  // products with masks are none of the model's
    }
    const auto whole = [&](AttentionCount count) {
      return forward_flops(model, kBatch, 2048, count).total();
    };
    Slice slice = slice_of({1, 2, ContextMethod::ring, 2, 1}, 2048);
    EXPECT_NEAR(2 * forward_on_one_rank(model, slice) / whole(AttentionCount::causal), 1, 1e-12)
        << model.name;
    const bool sees_all = std::none_of(model.kinds.begin(),
                                       model.kinds.end(),
                                       [](const auto& kind) { return kind.window.has_value(); });
    slice.attention = AttentionKernel::materialised;
    if (sees_all) {
      EXPECT_NEAR(2 * forward_on_one_rank(model, slice) / whole(AttentionCount::full), 1, 1e-12)
          << model.name;
    }
    ++models;
  }
  EXPECT_GE(models, 20);
}

TEST(KindsOfLayers, HaveGradientsAsLargeAsTheirForwardProducts) {
  for (const auto& [name, model, is_split] : cases()) {
    ModelBlocks blocks;
    list_blocks(model, slice_of({2, 2, ContextMethod::ring, 4, 2}, 4096), blocks);
    for (const Block& block : blocks.kinds) {
      for (const Operation& op : block.operations) {
        const bool has_weights = op.weight_gradient.exists();
        EXPECT_EQ(has_weights, op.forward.kind == KernelKind::matrix) << name << ": " << op.name;
        EXPECT_EQ(op.output_gradient > Bytes{}, has_weights) << name << ": " << op.name;
        EXPECT_LE(op.weight_input, op.saved) << name << ": " << op.name;
        if (has_weights) {
          EXPECT_NEAR(op.weight_gradient.flops / op.forward.flops, 1.0, 1e-15) << op.name;
        }
        // The indexer's loss is its own.
        if (has_weights && op.input_gradient.exists()) {
          EXPECT_NEAR(op.input_gradient.flops / op.forward.flops, 1.0, 1e-15) << op.name;
        }
      }
    }
  }
}

TEST(KindsOfLayers, AreFilledAgainAsTheyWere) {
  ModelBlocks again;
  for (const auto& [name, model, is_split] : cases()) {
    const Slice slice = slice_of({}, 4096);
    list_blocks(model, slice, again);
    list_blocks(model, slice, again);
    ModelBlocks fresh;
    list_blocks(model, slice, fresh);
    ASSERT_EQ(again.kinds.size(), model.kinds.size()) << name;
    EXPECT_EQ(again.order, model.runs()) << name;
    for (std::size_t i = 0; i < fresh.kinds.size(); ++i) {
      EXPECT_EQ(again.kinds[i].operations.size(), fresh.kinds[i].operations.size()) << name;
      EXPECT_EQ(saved_bytes(again.kinds[i].operations), saved_bytes(fresh.kinds[i].operations));
      EXPECT_EQ(again.kinds[i].parameters, layer_parameters(model, model.kinds[i])) << name;
      EXPECT_EQ(again.kinds[i].input, layer_input_bytes(model, slice)) << name;
    }
  }
}

int norms_of(const OperationList& list) {
  int count = 0;
  for (const Operation& op : list) {
    count += op.name.ends_with("norm") && op.name != "query and key norm" ? 1 : 0;
  }
  return count;
}

TEST(KindsOfLayers, HaveAsManyNormsAsTheirModel) {
  const Slice slice = slice_of({}, 1024);
  EXPECT_EQ(norms_of(transformer_layer(samples::llama(), slice)), 2);
  EXPECT_EQ(norms_of(transformer_layer(samples::windowed(), slice)), 4);
  EXPECT_EQ(norms_of(transformer_layer(parallel(1), slice)), 1);
  EXPECT_EQ(norms_of(transformer_layer(parallel(2), slice)), 2);
  ModelBlocks blocks;
  list_blocks(encoder_and_decoder(), slice, blocks);
  EXPECT_EQ(norms_of(blocks.kinds[2].operations), 3);
  EXPECT_EQ(blocks.kinds[3].name, "decoder layer with experts");
  // The encoder's output goes on beside the decoder's.
  EXPECT_EQ(blocks.kinds[2].output, 2.0 * blocks.kinds[0].output);
}

TEST(ParallelBranches, AreSummedOverTheRanksOnce) {
  for (const int norms : {1, 2}) {
    int forward = 0;
    int backward = 0;
    Slice slice = slice_of({4}, 1024);
    slice.sequence_parallel = false;
    const OperationList list = transformer_layer(parallel(norms), slice);
    for (const Operation& op : list) {
      forward += op.forward_transfer.exists() ? 1 : 0;
      backward += op.backward_transfer.exists() ? 1 : 0;
    }
    EXPECT_EQ(forward, 1);
    EXPECT_EQ(backward, norms);  // each norm's gradient needs that of its own output
    // Both norms read the layer's input, which is kept once; one norm's output is kept once, too.
    const double h = 4096;
    const double x = 2.0 * kBatch * 1024 * h;
    const Slice two_slice = slice;
    const double apart = saved_bytes(transformer_layer(samples::llama(), two_slice)).si();
    samples::expect_close(saved_bytes(list).si(), apart - (norms == 1 ? 2 * x : x));
  }
}

TEST(LatentAttention, KeepsLatentsAndWhatIsProjectedUpFromThem) {
  // (s b / t) [8h + 4 (q + kv) + 2 r + 2 a (2 (n + r) + 2 v) + 6 f] + 4 a b s / t
  const Transformer model = samples::deepseek();
  const double h = 7168;
  const double heads = 128;
  const double latents = 2 * (1536 + 512 + 64) + 2 * (1536 + 512);
  const double projected = 2 * heads * ((128 + 64) + (128 + 64) + 128 + 128);
  for (const std::int64_t t : {1, 2, 8}) {
    const double sb = 4096.0 * kBatch / static_cast<double>(t);
    samples::expect_close(saved_bytes(transformer_layer(model, slice_of({t}, 4096))).si(),
                          sb * (8 * h + latents + projected + 6 * 18432 + 4 * heads));
  }
}

TEST(LatentAttention, GathersLatentsInsteadOfHiddenStates) {
  const OperationList list = transformer_layer(samples::deepseek(), slice_of({8}, 4096));
  const double tokens = 4096.0 * kBatch;
  EXPECT_FALSE(named(list, "latent down").forward_transfer.exists());
  EXPECT_EQ(named(list, "query up").forward_transfer.size.si(), 2 * tokens * 1536);
  // With the part of the keys that has positions.
  EXPECT_EQ(named(list, "key and value up").forward_transfer.size.si(), 2 * tokens * (512 + 64));
}

TEST(QueryAndKeyNorms, KeepWhatTheyRead) {
  Transformer plain = samples::windowed();
  plain.qk_norm = false;
  const Slice slice = slice_of({4}, 4096);
  const double more = saved_bytes(transformer_layer(samples::windowed(), slice)).si() -
                      saved_bytes(transformer_layer(plain, slice)).si();
  EXPECT_DOUBLE_EQ(more, 2.0 * 4096 * kBatch * (4096 + 8 * 128) / 4);
}

TEST(Rotary, IsOnlyInLayersThatHaveIt) {
  Transformer model = samples::llama();
  const Slice slice = slice_of({}, 1024);
  const std::size_t with = transformer_layer(model, slice).size();
  model.kinds = {{.rotary = false}};
  EXPECT_EQ(transformer_layer(model, slice).size(), with - 1);
}

TEST(FurtherTokens, HaveAProjectionALayerAndTheirLogits) {
  const Transformer model = samples::deepseek();
  Transformer plain = model;
  plain.predicted_tokens = 0;
  const Slice slice = slice_of({2, 1, ContextMethod::ring, 8, 2}, 4096);
  ModelBlocks with;
  ModelBlocks without;
  list_blocks(model, slice, with);
  list_blocks(plain, slice, without);
  // 8 bytes of a token's id, two norms' inputs and the projection's, one more norm's; logits.
  const double tokens = 4096.0 * kBatch;
  const double h = 7168;
  const double x = 2 * tokens * h / 2;
  const double further = saved_bytes(with.head.operations).si() -
                         saved_bytes(without.head.operations).si() -
                         saved_bytes(with.kinds[1].operations).si();
  samples::expect_close(further, 8 * tokens + 2 * x + 2 * x + x + x + 4 * tokens * 129280 / 2);
  // The token table is used at both ends then.
  EXPECT_EQ(without.tied_table, 0);
  EXPECT_EQ(with.tied_table, 129280LL * 7168);
}

TEST(FinalAndEmbeddingNorms, AreThereOnlyIfTheModelHasThem) {
  Transformer model = samples::llama();
  model.final_norm = false;
  model.embedding_norm = true;
  const Slice slice = slice_of({}, 1024);
  EXPECT_EQ(output_head(model, slice).front().name, "logits");
  EXPECT_EQ(embedding(model, slice).back().name, "embedding norm");
  EXPECT_EQ(output_head(samples::llama(), slice).front().name, "final norm");
  EXPECT_EQ(embedding(samples::llama(), slice).size(), 1U);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
