// Parameter counts of models of texts and images, and of sounds, to the parameter: those of the
// published weights.
#include "model/published_counts.hpp"
#include "titer/model/transformer/tower.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array kTowers = {
    // CLIP's large model, two products. [Liu 2023]
    Published{"LLaVA-1.5 7B",
              R"({"model_type": "llava", "text_config": {"model_type": "llama",
                  "max_position_embeddings": 4096, "vocab_size": 32064},
                  "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024,
                  "image_size": 336, "intermediate_size": 4096, "num_attention_heads": 16,
                  "num_hidden_layers": 24, "patch_size": 14, "projection_dim": 768,
                  "vocab_size": 32000}, "vision_feature_layer": -2,
                  "vision_feature_select_strategy": "default"})",
              7'063'427'072},
    // SigLIP, means of 4 x 4 patches. [Gemma 3 2025]
    Published{"Gemma 3 4B",
              R"({"model_type": "gemma3", "mm_tokens_per_image": 256, "text_config": {
                  "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
                  "num_hidden_layers": 34, "sliding_window": 1024},
                  "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
                  "image_size": 896, "intermediate_size": 4304, "num_attention_heads": 16,
                  "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}})",
              4'300'079'472},
    // Patches of two frames, 2 x 2 of them a token. [Wang 2024]
    Published{"Qwen2-VL 7B",
              R"({"model_type": "qwen2_vl", "num_hidden_layers": 28, "hidden_size": 3584,
                  "num_attention_heads": 28, "num_key_value_heads": 4,
                  "intermediate_size": 18944, "vocab_size": 152064,
                  "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4,
                  "num_heads": 16, "in_chans": 3, "hidden_size": 3584, "patch_size": 14,
                  "spatial_merge_size": 2, "spatial_patch_size": 14, "temporal_patch_size": 2}})",
              8'291'375'616},
    // RMSNorm, a gated MLP, windows. [Bai 2025]
    Published{"Qwen2.5-VL 7B",
              R"({"model_type": "qwen2_5_vl", "num_hidden_layers": 28, "hidden_size": 3584,
                  "num_attention_heads": 28, "num_key_value_heads": 4,
                  "intermediate_size": 18944, "vocab_size": 152064,
                  "vision_config": {"depth": 32, "hidden_act": "silu", "hidden_size": 1280,
                  "intermediate_size": 3420, "num_heads": 16, "in_chans": 3,
                  "out_hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2,
                  "spatial_patch_size": 14, "window_size": 112,
                  "fullatt_block_indexes": [7, 15, 23, 31], "tokens_per_second": 2,
                  "temporal_patch_size": 2}})",
              8'292'166'656},
    // Learned positions, results of three layers projected, too. [Qwen3-VL 2025]
    Published{"Qwen3-VL 8B",
              R"({"model_type": "qwen3_vl", "text_config": {
                  "model_type": "qwen3_vl_text", "num_hidden_layers": 36, "hidden_size": 4096,
                  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
                  "intermediate_size": 12288, "vocab_size": 151936},
                  "vision_config": {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304,
                  "num_heads": 16, "in_channels": 3, "patch_size": 16, "spatial_merge_size": 2,
                  "temporal_patch_size": 2, "out_hidden_size": 4096,
                  "num_position_embeddings": 2304, "deepstack_visual_indexes": [8, 16, 24]}})",
              8'767'123'696},
    // Eight layers of cross-attention to four tiles. [Llama 3 2024, section 7]
    Published{"Llama 3.2 11B Vision",
              R"({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model",
                  "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38],
                  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 40,
                  "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
                  "max_position_embeddings": 131072, "tie_word_embeddings": false},
                  "vision_config": {"model_type": "mllama_vision_model", "hidden_size": 1280,
                  "attention_heads": 16, "intermediate_size": 5120, "image_size": 560,
                  "num_hidden_layers": 32, "num_global_layers": 8, "patch_size": 14,
                  "max_num_tiles": 4, "num_channels": 3, "vision_output_dim": 7680,
                  "intermediate_layers_indices": [3, 7, 15, 23, 30]}})",
              10'670'220'835},
    // Squares of patches through three products. [Meta 2025]
    Published{"Llama 4 Scout",
              R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
                  "num_hidden_layers": 48, "hidden_size": 5120, "num_attention_heads": 40,
                  "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192,
                  "intermediate_size_mlp": 16384, "num_local_experts": 16,
                  "num_experts_per_tok": 1, "vocab_size": 202048,
                  "max_position_embeddings": 10485760, "interleave_moe_layer_step": 1},
                  "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 1408,
                  "image_size": 336, "intermediate_size": 5632, "num_attention_heads": 16,
                  "num_hidden_layers": 34, "patch_size": 14, "num_channels": 3,
                  "pixel_shuffle_ratio": 0.5, "projector_input_dim": 4096,
                  "projector_output_dim": 4096, "vision_output_dim": 4096,
                  "multi_modal_projector_bias": false}})",
              108'641'793'536},
    // Convolutions over spectra, keys without biases. [Radford 2022]
    Published{"Whisper large-v3",
              R"({"model_type": "whisper", "d_model": 1280, "encoder_layers": 32,
                  "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_layers": 32,
                  "decoder_attention_heads": 20, "decoder_ffn_dim": 5120, "vocab_size": 51866,
                  "num_mel_bins": 128, "max_source_positions": 1500,
                  "max_target_positions": 448})",
              1'543'490'560},
};

TEST(HuggingFace, CountsTowersToTheParameter) { expect_counts(kTowers); }

TEST(HuggingFace, CutsImagesIntoTokensAsTheModelsDo) {
  const auto tokens = [](std::size_t row, std::int64_t pixels) {
    const Transformer model = imported_from(parse_json(kTowers[row].config, "config.json")).model;
    return tokens_of(*model.tower, {.of_sequence = 1, .size = pixels});
  };
  EXPECT_EQ(tokens(0, 336).encoded, 24 * 24 + 1);
  EXPECT_EQ(tokens(0, 336).returned, 24 * 24);
  EXPECT_EQ(tokens(1, 896).encoded, 64 * 64);
  EXPECT_EQ(tokens(1, 896).returned, 256);
  EXPECT_EQ(tokens(3, 1024).encoded, 72 * 72);
  EXPECT_EQ(tokens(3, 1024).returned, 36 * 36);
  EXPECT_EQ(tokens(5, 560).returned, 4 * (40 * 40 + 1));
  EXPECT_EQ(tokens(6, 336).returned, 12 * 12);
  EXPECT_EQ(tokens(7, 0).returned, 1500);
}

TEST(HuggingFace, TellsWindowsOfATowersLayersApart) {
  const Transformer model = imported_from(parse_json(kTowers[3].config, "config.json")).model;
  std::int64_t windows = 0;
  for (const LayerRun& run : model.tower->encoder.runs()) {
    const LayerKind& kind = model.tower->encoder.kinds[static_cast<std::size_t>(run.kind)];
    windows += kind.window ? run.count : 0;
    EXPECT_EQ(kind.window.value_or(64), 64) << "8 x 8 patches of 14 pixels in 112";
  }
  EXPECT_EQ(windows, 32 - 4);
}

TEST(HuggingFace, RefusesWhatNoTowerCanBe) {
  const auto refusal = [](const std::string& text) -> std::vector<std::string> {
    try {
      static_cast<void>(imported_from(parse_json(text, "config.json")));
    } catch (const InputError& error) {
      return error.lines;
    }
    return {};
  };
  const std::string text = R"("text_config": {"model_type": "gemma3_text", "hidden_size": 64,
      "intermediate_size": 64, "num_hidden_layers": 2}, "vision_config": {"hidden_size": 48,
      "num_attention_heads": 4, "image_size": 64, "patch_size": 16})";
  EXPECT_EQ(
      refusal(R"({"model_type": "gemma3", "mm_tokens_per_image": 9, )" + text + "}"),
      std::vector<std::string>{"config.json:1:49: mm_tokens_per_image: 9: expected the square "
                               "of a divisor of the 4 patches along an image"});
  EXPECT_TRUE(
      refusal(R"({"model_type": "gemma3", "mm_tokens_per_image": 4, )" + text + "}").empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
