#pragma once
// One reader for each class of HuggingFace's models that differs from others in shape.

#include "titer/input/reader.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer::huggingface {

// Of the time of GPT: layernorms, biases.
void read_gpt2(Reader& in, Transformer& model);
void read_gptj(Reader& in, Transformer& model);
void read_gpt_neox(Reader& in, Transformer& model);
void read_opt(Reader& in, Transformer& model);
void read_bloom(Reader& in, Transformer& model);
void read_falcon(Reader& in, Transformer& model);
void read_phi(Reader& in, Transformer& model);

// Of the time of Llama: RMSNorm, rotary positions, gated MLPs.
void read_llama(Reader& in, Transformer& model);
void read_mistral(Reader& in, Transformer& model);
void read_qwen2(Reader& in, Transformer& model);
void read_qwen3(Reader& in, Transformer& model);
void read_phi3(Reader& in, Transformer& model);
void read_gemma(Reader& in, Transformer& model);
void read_gemma2(Reader& in, Transformer& model);
void read_gemma3(Reader& in, Transformer& model);

// Mixtures of experts.
void read_mixtral(Reader& in, Transformer& model);
void read_qwen2_moe(Reader& in, Transformer& model);
void read_qwen3_moe(Reader& in, Transformer& model);
void read_gpt_oss(Reader& in, Transformer& model);
void read_llama4(Reader& in, Transformer& model);
void read_deepseek_v2(Reader& in, Transformer& model);
void read_deepseek_v3(Reader& in, Transformer& model);
void read_deepseek_v32(Reader& in, Transformer& model);

// Mixers of tokens without attention, alone or between layers with it.
void read_mamba(Reader& in, Transformer& model);
void read_mamba2(Reader& in, Transformer& model);
void read_bamba(Reader& in, Transformer& model);
void read_granite_hybrid(Reader& in, Transformer& model);
void read_jamba(Reader& in, Transformer& model);
void read_nemotron_h(Reader& in, Transformer& model);
void read_qwen3_next(Reader& in, Transformer& model);
void read_minimax(Reader& in, Transformer& model);
void read_kimi_linear(Reader& in, Transformer& model);

}  // namespace titer::huggingface
