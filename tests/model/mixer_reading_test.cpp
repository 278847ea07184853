// Mixers in this program's own keys.
#include <gtest/gtest.h>

#include "model/mixers.hpp"
#include "titer/input/document.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::string_view kHead =
    R"({"name": "own", "layers": 4, "hidden": 64, "ffn": 96, "norm": "rmsnorm", "bias": false,
        "dropout": false, "positions": "none", "vocabulary": 100, "max_sequence": 64,
        "attention": "flash", )";

std::string problem_of(const std::string& rest) {
  try {
    static_cast<void>(samples::read_model(std::string(kHead) + rest + "}"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Mixers, AreReadAndWrittenInTheirOwnKeys) {
  for (const std::string_view name :
       {"mamba2-2.7b", "nemotron-h-8b", "qwen3-next-80b-a3b", "minimax-text-01"}) {
    const Transformer model = samples::shipped(std::string(name));
    const Transformer back = samples::read_model(to_json(transformer_document(model)));
    EXPECT_EQ(back.mixer, model.mixer) << name;
    EXPECT_EQ(back.kinds, model.kinds) << name;
    EXPECT_EQ(back.runs(), model.runs()) << name;
    EXPECT_EQ(parameters(back), parameters(model)) << name;
  }
  for (const Mixer& mixer : samples::kMixers) {
    const Transformer model = samples::hybrid(mixer);
    EXPECT_EQ(samples::read_model(to_json(transformer_document(model))).mixer, mixer);
  }
  // Chunks as the kernels of each method have them.
  const auto chunk = [](const std::string& kind) {
    return samples::read_model(std::string(kHead) + R"("mixer": {"kind": ")" + kind +
                               R"(", "heads": 4, "head_dim": 16, "key_dim": 16)" +
                               (kind == "lightning" ? "" : R"(, "key_heads": 2)") +
                               R"(}, "pattern": [{"count": 4, "tokens": "mixer"}]})")
        .mixer->chunk;
  };
  EXPECT_EQ(chunk("mamba2"), 256);
  EXPECT_EQ(chunk("gated-delta"), 64);
  EXPECT_EQ(chunk("lightning"), 256);
}

TEST(Mixers, AreRefusedWhereTheyContradictTheLayers) {
  const std::string mixer =
      R"("mixer": {"kind": "lightning", "heads": 4, "head_dim": 16, "key_dim": 16})";
  struct Row {
    std::string rest;
    std::string_view line;
  };
  const std::array rows = {
      Row{mixer, "pattern: missing; expected which layers have the mixer"},
      Row{mixer + R"(, "pattern": [{"count": 4, "tokens": "none"}])",
          "expected layers with \"tokens\": \"mixer\", since the model has one"},
      Row{R"("heads": 4, "pattern": [{"count": 4, "tokens": "mixer"}])",
          "expected a \"mixer\" of the model, since some layers have it"},
      Row{mixer + R"(, "pattern": [{"count": 3, "tokens": "mixer"}, {}])",
          "heads: missing; expected the heads of the layers with attention"},
      Row{mixer + R"(, "pattern": [{"count": 4, "tokens": "mixer", "window": 8}])",
          "expected attention, since the layer says how it attends"},
      Row{mixer + R"(, "pattern": [{"count": 4, "tokens": "none", "mlp": false}])",
          "mlp: false: expected a layer that has something in it"},
      Row{mixer + R"(, "causal": false, "pattern": [{"count": 4, "tokens": "mixer"}])",
          "causal: false: expected true: a mixer's state goes from token to token"},
      Row{mixer +
              R"(, "parallel": true, "pattern": [{"count": 4, "tokens": "mixer", "mlp": false}])",
          "expected layers with two branches, one beside the other"},
      Row{R"("mixer": {"kind": "mamba2", "heads": 4, "head_dim": 16, "key_heads": 3, "key_dim": 16},
             "pattern": [{"count": 4, "tokens": "mixer"}])",
          "expected heads of keys that divide the 4 heads of values"},
      Row{R"("mixer": {"kind": "mamba", "heads": 128, "key_dim": 16},
             "pattern": [{"count": 4, "tokens": "mixer"}])",
          "mixer.rank: missing"}};
  for (const Row& row : rows) {
    EXPECT_NE(problem_of(row.rest).find(row.line), std::string::npos) << problem_of(row.rest);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
