#pragma once
// A reader for each class of HuggingFace's models that differs from others by more than a row of a
// table says.

#include "titer/input/reader.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer::huggingface {

void read_bloom(Reader& in, Transformer& model);
void read_falcon(Reader& in, Transformer& model);
void read_t5(Reader& in, Transformer& model);
void read_mt5(Reader& in, Transformer& model);
void read_bart(Reader& in, Transformer& model);
void read_llama4(Reader& in, Transformer& model);
void read_deepseek_v2(Reader& in, Transformer& model);
void read_deepseek_v3(Reader& in, Transformer& model);
void read_deepseek_v32(Reader& in, Transformer& model);
void read_deepseek_v4(Reader& in, Transformer& model);
/// What of the tokens each attends to is chosen first.
void read_indexer(Reader& in, Transformer& model);
/// Experts beside one that all tokens go through, as far as its gate lets them.
void read_gated_experts(Reader& in, Transformer& model);
void read_glm_sparse(Reader& in, Transformer& model);
void read_glm_lite(Reader& in, Transformer& model);
void read_minicpm3(Reader& in, Transformer& model);

// That attend to what a tower makes of images or sounds.
void read_mllama(Reader& in, Transformer& model);
void read_whisper(Reader& in, Transformer& model);

// Denoisers, as the diffusers library has them.
void read_flux(Reader& in, Transformer& model);
void read_hunyuan_video(Reader& in, Transformer& model);
void read_sd3(Reader& in, Transformer& model);
void read_pixart(Reader& in, Transformer& model);
void read_wan(Reader& in, Transformer& model);

// Mixers of tokens without attention, alone or between layers with it.
void read_mamba(Reader& in, Transformer& model);
void read_mamba2(Reader& in, Transformer& model);
void read_bamba(Reader& in, Transformer& model);
void read_granite_hybrid(Reader& in, Transformer& model);
void read_jamba(Reader& in, Transformer& model);
void read_nemotron_h(Reader& in, Transformer& model);
void read_qwen3_next(Reader& in, Transformer& model);
void read_qwen35(Reader& in, Transformer& model);
void read_qwen35_moe(Reader& in, Transformer& model);
void read_minimax(Reader& in, Transformer& model);
void read_kimi_linear(Reader& in, Transformer& model);
void read_lfm2(Reader& in, Transformer& model);
void read_lfm2_moe(Reader& in, Transformer& model);
void read_rwkv4(Reader& in, Transformer& model);
void read_rwkv5(Reader& in, Transformer& model);
void read_rwkv6(Reader& in, Transformer& model);
void read_rwkv7(Reader& in, Transformer& model);

}  // namespace titer::huggingface
