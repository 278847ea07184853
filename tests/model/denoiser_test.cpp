// Transformers that denoise images and films.
#include "titer/model/transformer/denoiser.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/published_counts.hpp"
#include "titer/input/document.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;

constexpr std::array kDiffusers = {
    Published{"FLUX.1 dev",
              R"({"_class_name": "FluxTransformer2DModel", "_diffusers_version": "0.30.0.dev0",
                  "attention_head_dim": 128, "guidance_embeds": true, "in_channels": 64,
                  "joint_attention_dim": 4096, "num_attention_heads": 24, "num_layers": 19,
                  "num_single_layers": 38, "patch_size": 1, "pooled_projection_dim": 768})",
              11'901'408'320},
    Published{"FLUX.1 schnell",
              R"({"_class_name": "FluxTransformer2DModel", "attention_head_dim": 128,
                  "guidance_embeds": false, "in_channels": 64, "joint_attention_dim": 4096,
                  "num_attention_heads": 24, "num_layers": 19, "num_single_layers": 38,
                  "patch_size": 1, "pooled_projection_dim": 768})",
              11'891'178'560},
    Published{"Stable Diffusion 3 medium",
              R"({"_class_name": "SD3Transformer2DModel", "_diffusers_version": "0.29.0.dev0",
                  "attention_head_dim": 64, "caption_projection_dim": 1536, "in_channels": 16,
                  "joint_attention_dim": 4096, "num_attention_heads": 24, "num_layers": 24,
                  "out_channels": 16, "patch_size": 2, "pooled_projection_dim": 2048,
                  "pos_embed_max_size": 192, "sample_size": 128})",
              2'028'328'000},
    Published{"Stable Diffusion 3.5 large",
              R"({"_class_name": "SD3Transformer2DModel", "attention_head_dim": 64,
                  "caption_projection_dim": 2432, "dual_attention_layers": [],
                  "in_channels": 16, "joint_attention_dim": 4096, "num_attention_heads": 38,
                  "num_layers": 38, "out_channels": 16, "patch_size": 2,
                  "pooled_projection_dim": 2048, "pos_embed_max_size": 192,
                  "qk_norm": "rms_norm", "sample_size": 128})",
              8'056'627'520},
    Published{"HunyuanVideo",
              R"({"_class_name": "HunyuanVideoTransformer3DModel", "attention_head_dim": 128,
                  "guidance_embeds": true, "in_channels": 16, "mlp_ratio": 4.0,
                  "num_attention_heads": 24, "num_layers": 20, "num_refiner_layers": 2,
                  "num_single_layers": 40, "out_channels": 16, "patch_size": 2,
                  "patch_size_t": 1, "pooled_projection_dim": 768, "qk_norm": "rms_norm",
                  "rope_axes_dim": [16, 56, 56], "rope_theta": 256.0, "text_embed_dim": 4096})",
              12'821'012'544},
    Published{"PixArt-alpha XL/2, 256 pixels",
              R"({"_class_name": "PixArtTransformer2DModel", "attention_head_dim": 72,
                  "caption_channels": 4096, "in_channels": 4, "num_attention_heads": 16,
                  "num_layers": 28, "out_channels": 8, "patch_size": 2, "sample_size": 32})",
              610'856'096},
    Published{"Wan2.1 14B",
              R"({"_class_name": "WanTransformer3DModel", "attention_head_dim": 128,
                  "cross_attn_norm": true, "eps": 1e-06, "ffn_dim": 13824, "freq_dim": 256,
                  "in_channels": 16, "num_attention_heads": 40, "num_layers": 40,
                  "out_channels": 16, "patch_size": [1, 2, 2], "qk_norm":
                  "rms_norm_across_heads", "rope_max_seq_len": 1024, "text_dim": 4096})",
              14'288'491'584},
    Published{"Wan2.1 1.3B",
              R"({"_class_name": "WanTransformer3DModel", "attention_head_dim": 128,
                  "ffn_dim": 8960, "num_attention_heads": 12, "num_layers": 30})",
              1'418'996'800},
};

TEST(Denoiser, HasAsManyParametersAsPublished) { expect_counts(kDiffusers); }

TEST(Denoiser, IsShippedAsPublished) {
  // Without what says how much the text counts: 256 x 3072 + 3072 x 3072, and biases.
  EXPECT_EQ(
      parameters(samples::shipped("flux.1-dev")) - parameters(samples::shipped("flux.1-schnell")),
      3072 * (256 + 3072 + 2));
  EXPECT_EQ(parameters(samples::shipped("flux.1-dev")), kDiffusers[0].parameters);
  EXPECT_EQ(parameters(samples::shipped("sd3-medium")), kDiffusers[2].parameters);
  EXPECT_EQ(parameters(samples::shipped("sd3.5-large")), kDiffusers[3].parameters);
  EXPECT_EQ(parameters(samples::shipped("hunyuan-video")), kDiffusers[4].parameters);
  EXPECT_EQ(parameters(samples::shipped("wan2.1-14b")), kDiffusers[6].parameters);
  // 675 M with its table of positions, which is not trained. [Peebles and Xie 2023, table 4]
  EXPECT_EQ(parameters(samples::shipped("dit-xl-2")) + 256 * 1152, 675'129'632);
}

TEST(Denoiser, IsWrittenAsItIsRead) {
  for (const std::string name :
       {"flux.1-dev", "sd3-medium", "hunyuan-video", "dit-xl-2", "wan2.1-14b"}) {
    const Value written = transformer_document(samples::shipped(name));
    const Transformer again = samples::read_model(to_json(written));
    EXPECT_EQ(to_json(transformer_document(again)), to_json(written)) << name;
    EXPECT_EQ(parameters(again), parameters(samples::shipped(name))) << name;
  }
}

/// Of all blocks on one rank.
Flops forward_on_one_rank(const ModelBlocks& blocks) {
  Flops all;
  const auto add = [&](double times, const Block& block) {
    for (const Operation& op : block.operations) {
      all += times * op.forward.flops;
    }
  };
  add(1, blocks.embedding);
  add(1, blocks.head);
  for (const LayerRun& run : blocks.order) {
    add(static_cast<double>(run.count), blocks.kinds[static_cast<std::size_t>(run.kind)]);
  }
  return all;
}

TEST(Denoiser, ComputesWhatItsFlopsSay) {
  for (const std::string name :
       {"flux.1-dev", "sd3-medium", "hunyuan-video", "dit-xl-2", "wan2.1-14b"}) {
    const Transformer model = samples::shipped(name);
    const ModelBlocks blocks = blocks_of(model, {.micro_batch = 2, .sequence = model.max_sequence});
    const ForwardFlops flops = forward_flops(model, 2, model.max_sequence, AttentionCount::full);
    expect_close(forward_on_one_rank(blocks).si() / flops.total().si(), 1);
  }
}

TEST(Denoiser, SharesItsParametersOutOverBlocks) {
  for (const std::string name : {"flux.1-dev", "sd3-medium", "hunyuan-video"}) {
    const Transformer model = samples::shipped(name);
    const ModelBlocks blocks = blocks_of(model, {.micro_batch = 1, .sequence = model.max_sequence});
    std::int64_t sum = blocks.embedding.parameters.total() + blocks.head.parameters.total();
    for (const LayerRun& run : blocks.order) {
      sum += run.count * blocks.kinds[static_cast<std::size_t>(run.kind)].parameters.total();
    }
    EXPECT_EQ(sum, parameters(model));
  }
}

/// Of the last layer of Stable Diffusion 3, the text is attended to and goes no further.
TEST(Denoiser, LeavesTextsBehindTheirLastLayer) {
  const Transformer model = samples::shipped("sd3-medium");
  const ModelBlocks blocks = blocks_of(model, {.micro_batch = 1, .sequence = 4250});
  const auto rows_of = [&](std::size_t kind, std::string_view name) {
    std::vector<float> rows;
    for (const Operation& op : blocks.kinds[kind].operations) {
      if (op.name == name) {
        rows.push_back(op.forward.shape.rows);
      }
    }
    return rows;
  };
  EXPECT_EQ(rows_of(0, "MLP up"), (std::vector<float>{154, 4096}));
  EXPECT_EQ(rows_of(1, "query, key, value"), (std::vector<float>{154, 4096}));
  EXPECT_EQ(rows_of(1, "attention output"), (std::vector<float>{4096}));
  EXPECT_EQ(rows_of(1, "MLP up"), (std::vector<float>{4096}));
}

TEST(Denoiser, TakesTextsThroughWeightsOfTheirOwn) {
  const Transformer model = samples::shipped("flux.1-dev");
  const ModelBlocks blocks = blocks_of(model, {.micro_batch = 1, .sequence = 4608});
  std::vector<float> rows;
  for (const Operation& op : blocks.kinds[0].operations) {
    if (op.name == "MLP up") {
      rows.push_back(op.forward.shape.rows);
    }
  }
  EXPECT_EQ(rows, (std::vector<float>{512, 4096}));
  // One attention of all tokens to all.
  const auto attends = [](const Operation& op) { return op.name == "flash attention"; };
  const OperationList& layer = blocks.kinds[0].operations;
  ASSERT_EQ(std::count_if(layer.begin(), layer.end(), attends), 1);
  const Operation& core = *std::find_if(layer.begin(), layer.end(), attends);
  expect_close(core.forward.flops.si(), 2.0 * 2.0 * 4608 * 4608 * 3072);
}

/// What is said of FLUX.1 with something else in the place of a part of its file.
std::string refusal(const std::string& part, const std::string& instead) {
  std::string text = to_json(transformer_document(samples::shipped("flux.1-dev")));
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  try {
    static_cast<void>(samples::read_model(text.replace(at, part.size(), instead)));
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

TEST(Denoiser, IsRefusedWhatItCannotBe) {
  EXPECT_NE(refusal("\"max_sequence\"", "\"causal\": true, \"max_sequence\"").find("denoiser"),
            std::string::npos);
  EXPECT_NE(refusal("\"max_sequence\"", "\"vocabulary\": 9, \"max_sequence\"").find("vocabulary"),
            std::string::npos);
  EXPECT_NE(refusal("\"side\": 1", "\"side\": 0").find("side"), std::string::npos);
  EXPECT_NE(refusal("\"width\": 4096", "\"width\": 0").find("width"), std::string::npos);
  EXPECT_NE(refusal("\"modulation\": \"layers\"", "\"modulation\": \"none\"").find("modulation"),
            std::string::npos);
  EXPECT_NE(
      refusal("\"two_streams\": true", "\"two_streams\": true, \"mlp\": false").find("two_streams"),
      std::string::npos);
}

/// What is not modelled of Stable Diffusion 3 is refused by its name.
TEST(Denoiser, IsRefusedASecondAttentionOfImages) {
  const std::string text = R"({"_class_name": "SD3Transformer2DModel", "num_attention_heads": 24,
      "caption_projection_dim": 1536, "num_layers": 24, "dual_attention_layers": [0, 1]})";
  try {
    static_cast<void>(samples::read_model(text));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.lines.front().find("dual_attention_layers"), std::string::npos);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
