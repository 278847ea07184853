// DeepSeek-V4: one head of keys and values, windows with entries behind them, several streams.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/operations.hpp"
#include "model/published_counts.hpp"
#include "plan/shipped.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// The keys of the published configurations that tell about time and memory. `layers`: which
/// attention they have.
std::string config(std::string_view sizes, std::string_view layers) {
  return fmt::format(
      R"({{"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4",
          "attention_bias": false, "attention_dropout": 0.0, "head_dim": 512, "hc_mult": 4,
          "hc_sinkhorn_iters": 20, "hidden_act": "silu", "index_head_dim": 128,
          "index_n_heads": 64, "max_position_embeddings": 1048576, "n_shared_experts": 1,
          "num_experts_per_tok": 6, "num_hash_layers": 3, "num_key_value_heads": 1,
          "num_nextn_predict_layers": 1, "o_lora_rank": 1024, "qk_rope_head_dim": 64,
          "rms_norm_eps": 1e-06, "scoring_func": "sqrtsoftplus", "sliding_window": 128,
          "swiglu_limit": 10.0, "tie_word_embeddings": false, "topk_method": "noaux_tc",
          "vocab_size": 129280, {}{}}})",
      sizes,
      layers);
}
constexpr std::string_view kFlash =
    R"("hidden_size": 4096, "index_topk": 512, "moe_intermediate_size": 2048,
       "n_routed_experts": 256, "num_attention_heads": 64, "num_hidden_layers": 43, "o_groups": 8,
       "q_lora_rank": 1024)";
constexpr std::string_view kPro =
    R"("hidden_size": 7168, "index_topk": 1024, "moe_intermediate_size": 3072,
       "n_routed_experts": 384, "num_attention_heads": 128, "num_hidden_layers": 61,
       "o_groups": 16, "q_lora_rank": 1536)";

/// Tokens of an entry, layer by layer, and of the module for a further token.
std::string ratios(int layers, int first) {
  std::string text = fmt::format("{}, {}", first, first);
  for (int i = 2; i < layers; ++i) {
    text += i % 2 == 0 ? ", 4" : ", 128";
  }
  return fmt::format(R"(, "compress_ratios": [{}, 0])", text);
}

TEST(DeepSeekV4, IsReadAsItIsShipped) {
  const std::array<std::pair<std::string, std::string_view>, 2> files = {
      {{config(kFlash, ratios(43, 0)), "deepseek-v4-flash"},
       {config(kPro, ratios(61, 128)), "deepseek-v4-pro"}}};
  for (const auto& [text, name] : files) {
    const ImportedModel read = imported_from(parse_json(text, "config.json"));
    const Transformer model = shipped::model(name);
    EXPECT_TRUE(read.ignored.empty()) << read.ignored.front();
    EXPECT_EQ(read.model.kinds, model.kinds) << name;
    EXPECT_EQ(read.model.runs(), model.runs()) << name;
    EXPECT_EQ(read.model.shared_head, model.shared_head) << name;
    EXPECT_EQ(read.model.indexer, model.indexer) << name;
    EXPECT_EQ(read.model.experts, model.experts) << name;
    EXPECT_EQ(read.model.streams, model.streams) << name;
    EXPECT_EQ(read.model.predicted_layer, model.predicted_layer) << name;
    EXPECT_EQ(parameters(read.model), parameters(model)) << name;
  }
}

/// Weight by weight of the class in HuggingFace's transformers, modules for further tokens by
/// DeepSeek's own: 284 billion and 1.6 trillion, of which a token goes through 13 and 49, the table
/// aside.  [DeepSeek-V4 2026, section 2]
TEST(DeepSeekV4, HasThePublishedParameters) {
  const Transformer flash = shipped::model("deepseek-v4-flash");
  EXPECT_EQ(parameters(flash), 284'332'241'239);
  EXPECT_EQ(active_parameters(flash) - flash.vocabulary * flash.hidden, 13'270'102'359);
  EXPECT_EQ(prediction_parameters(flash).total(), 6'610'048'891);
  const Transformer pro = shipped::model("deepseek-v4-pro");
  EXPECT_EQ(parameters(pro), 1'572'997'202'915);
  EXPECT_EQ(active_parameters(pro) - pro.vocabulary * pro.hidden, 48'852'403'171);
  EXPECT_EQ(prediction_parameters(pro).total(), 25'840'145'979);
}

TEST(DeepSeekV4, MayTellItsLayersInOtherWays) {
  const std::string_view sizes =
      R"("hidden_size": 64, "index_topk": 8, "moe_intermediate_size": 32, "n_routed_experts": 8,
         "num_attention_heads": 8, "num_hidden_layers": 4, "o_groups": 4, "q_lora_rank": 16)";
  const auto entries = [&](std::string_view layers) {
    const ImportedModel read = imported_from(parse_json(config(sizes, layers), "config.json"));
    std::vector<std::int64_t> tokens;
    for (const LayerRun& run : read.model.runs()) {
      const LayerKind& kind = read.model.kinds.at(static_cast<std::size_t>(run.kind));
      EXPECT_EQ(kind.picks_entries, kind.entry_tokens == 4 || kind.entry_tokens == 2);
      tokens.insert(tokens.end(), static_cast<std::size_t>(run.count), kind.entry_tokens);
    }
    return tokens;
  };
  using Tokens = std::vector<std::int64_t>;
  EXPECT_EQ(entries(""), (Tokens{128, 128, 128, 4}));
  EXPECT_EQ(entries(R"(, "layer_types": ["sliding_attention", "compressed_sparse_attention",
      "heavily_compressed_attention", "sliding_attention"],
      "compress_rates": {"compressed_sparse_attention": 2, "heavily_compressed_attention": 64})"),
            (Tokens{0, 2, 64, 0}));
  const auto refusal = [&](std::string_view layers) {
    try {
      static_cast<void>(imported_from(parse_json(config(sizes, layers), "config.json")));
    } catch (const InputError& error) {
      return error.lines.front();
    }
    return std::string("none");
  };
  EXPECT_NE(
      refusal(R"(, "compress_ratios": [0, 4, 8, 4])").find("expected 0, 4 or 128 only, not 8"),
      std::string::npos);
  EXPECT_NE(refusal(R"(, "layer_types": ["full_attention"])").find("not full_attention"),
            std::string::npos);
  EXPECT_NE(refusal(R"(, "compress_ratios": [0, 4])").find("each of the 4 layers, not 2"),
            std::string::npos);
}

/// The t-th token sees the entries that are whole before it, or those that are picked of them.
TEST(Entries, ThatATokenSeesAreThoseBeforeIt) {
  Transformer model = shipped::model("deepseek-v4-flash");
  model.predicted_tokens = 0;
  model.layers = 1;
  model.order.clear();
  for (const LayerKind& kind : shipped::model("deepseek-v4-flash").kinds) {
    model.kinds = {kind};
    for (const std::int64_t length : {2048, 8192, 32768}) {
      const double entry = static_cast<double>(kind.entry_tokens);
      double seen = 0;
      double scored = 0;
      for (double token = 0; token < static_cast<double>(length); ++token) {
        const double before = entry > 0 ? (token + 0.5) / entry : 0.0;
        seen += std::min(token + 0.5, 128.0) + std::min(kind.picks_entries ? 512.0 : 1e9, before);
        scored += kind.picks_entries ? before : 0.0;
      }
      const double products = 2.0 * 64 * 512 * seen + 64 * 128 * scored;
      const ForwardFlops flops = forward_flops(model, 1, length, AttentionCount::causal);
      EXPECT_NEAR(flops.core_attention.si() / (2 * products), 1.0, 1e-3) << entry << " " << length;
    }
  }
}

Slice slice_of(std::int64_t tensor) {
  return {.micro_batch = 1,
          .sequence = 4096,
          .tensor = tensor,
          .sequence_parallel = tensor > 1,
          .expert = 1,
          .expert_tensor = tensor};
}

const Operation& named(const OperationList& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Operation& op) { return op.name == name; });
  EXPECT_NE(found, list.end()) << name;
  return *found;
}

TEST(Streams, AreHandedOnByEveryLayer) {
  const Transformer flash = shipped::model("deepseek-v4-flash");
  Transformer one = flash;
  one.streams = 1;
  const ModelBlocks blocks = blocks_of(flash, slice_of(1));
  const ModelBlocks plain = blocks_of(one, slice_of(1));
  EXPECT_EQ(blocks.kinds.front().input, 4.0 * plain.kinds.front().input);
  EXPECT_EQ(blocks.kinds.front().output, 4.0 * plain.kinds.front().output);
  const OperationList& list = blocks.kinds.front().operations;
  const auto sums = std::count_if(
      list.begin(), list.end(), [](const Operation& op) { return op.name == "sum of streams"; });
  EXPECT_EQ(sums, 2);  // before attention and experts
  EXPECT_EQ(named(list, "weights of streams").forward.flops,
            Flops::from_si(2.0 * 4096 * (4 * 4096) * 24));
  EXPECT_EQ(layer_parameters(flash, flash.kinds.front()).total() -
                layer_parameters(one, one.kinds.front()).total(),
            2 * (24 * (4 * 4096 + 1) + 3));
}

/// Queries and the latents of groups are split by heads; the one key is whole on every rank.
TEST(SharedHead, IsSplitByGroupsOfHeads) {
  const Transformer flash = shipped::model("deepseek-v4-flash");
  const OperationList whole = blocks_of(flash, slice_of(1)).kinds.at(1).operations;
  const OperationList split = blocks_of(flash, slice_of(4)).kinds.at(1).operations;
  for (const std::string_view name : {"query up",
                                      "latents of heads",
                                      "attention output",
                                      "flash attention",
                                      "query latent and key",
                                      "entries' numbers and weights"}) {
    EXPECT_NEAR(
        4.0 * named(split, name).forward.flops / named(whole, name).forward.flops, 1.0, 1e-12)
        << name;
  }
  const Bytes key = Bytes::from_si(2.0 * 4096 * 512);
  const Bytes queries = 64.0 * key;
  const Bytes keys = 1.25 * key;  // and an entry for each four
  EXPECT_EQ(named(whole, "flash attention").saved, queries + keys);
  EXPECT_EQ(named(split, "flash attention").saved, 0.25 * queries + keys);
}

/// Of other ranks' parts of a sequence the window before one's own and all entries.
TEST(SharedHead, NeedsLittleOfOtherPartsOfASequence) {
  Slice slice = slice_of(1);
  slice.context = 4;
  slice.context_method = ContextMethod::all_gather;
  const Transformer flash = shipped::model("deepseek-v4-flash");
  const OperationList picked = blocks_of(flash, slice).kinds.at(1).operations;
  EXPECT_EQ(named(picked, "key and value gather").forward_transfer.size,
            Bytes::from_si(4 * (1024 / 4 + 128) * 512 * 2));
}

TEST(DeepSeekV4, TakesTheSameInEvents) {
  const std::string text = R"({"model": "deepseek-v4-flash", "cluster": "dgx-h100",
      "plan": {"pipeline": 4, "tensor": 2, "data": 16, "expert": 16, "expert_tensor": 1,
               "sequence_parallel": true, "sharding": "zero1"},
      "training": {"global_batch": 64, "sequence": 4096, "precision": "fp8"}})";
  const Scenario scenario = ScenarioSource(parse_json(text, "run.json")).read();
  const StepResult closed = estimate(scenario);
  EXPECT_EQ(simulate(scenario).result.iteration_time, closed.iteration_time);
  EXPECT_GT(closed.mfu, 0.05);
  EXPECT_LT(closed.mfu, 0.6);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
