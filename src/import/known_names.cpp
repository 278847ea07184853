// Tokenizers by the rows of their tables.

#include <algorithm>
#include <array>

#include "import_parts.hpp"

namespace titer {
namespace {

/// Rows of published models' token tables, as "vocab_size" of their config.json on the Hugging Face
/// Hub has them; of tokenizers without a model the size of their own files. Of several that are
/// part of a name the first one counts.
constexpr std::array<KnownTokenizer, 60> kTokenizers = {
    {{"bertwordpiececase", 28996},
     {"bertwordpiece", 30522},
     {"gpt2bpetokenizer", 50257},
     {"gpt2-vocab", 50257},
     {"20b_tokenizer", 50277},
     {"gpt-neox-20b", 50277},
     {"pythia", 50277},
     {"tokenizer-no-norm-250k", 250680},
     {"bloom", 250880},
     {"llama-4", 202048},
     {"meta-llama-3", 128256},
     {"llama-3", 128256},
     {"llama3", 128256},
     {"codellama", 32016},
     {"llama2", 32000},
     {"llama-2", 32000},
     {"llama_tokenizer", 32000},
     {"llamatokenizer", 32000},
     {"mixtral", 32000},
     {"mistral-nemo", 131072},
     {"mistral-7b-v0.3", 32768},
     {"mistral-7b", 32000},
     {"mistraltokenizer", 32000},
     {"deepseek-v3", 129280},
     {"deepseekv3", 129280},
     {"deepseek-r1", 129280},
     {"deepseek-v2", 102400},
     {"deepseekv2", 102400},
     {"qwen2-7b", 152064},
     {"qwen2-72b", 152064},
     {"qwen2.5-7b", 152064},
     {"qwen2.5-14b", 152064},
     {"qwen2.5-32b", 152064},
     {"qwen2.5-72b", 152064},
     {"qwen3", 151936},
     {"qwen", 151936, "152064 of Qwen2 and 2.5 from 7B on"},
     {"kimi-k2", 163840},
     {"nemotron_2_256k", 256000},
     {"gemma-3", 262144},
     {"gemma", 256000},
     {"falcon", 65024},
     {"phi-3", 32064},
     {"phi-4", 100352},
     {"facebook/opt", 50272},
     {"glm-4", 151552},
     {"01-ai/yi", 64000},
     {"baichuan2", 125696},
     {"internlm2", 92544},
     {"starcoder", 49152},
     {"gpt-oss", 201088},
     {"o200k_harmony", 201088},
     {"cl100k", 100277},
     {"dolma2", 100278},
     {"olmo-1b", 50280},
     {"olmo-7b", 50280},
     {"marin-tokenizer", 128256},
     {"llm-jp-tokenizer/models/ver3", 99584},
     {"llm-jp-tokenizer/models/ver2", 97024},
     {"t5-", 32128},
     {"gpt2", 50257}}};

}  // namespace

const KnownTokenizer* known_tokenizer(std::string_view names) {
  const auto* found =
      std::find_if(kTokenizers.begin(), kTokenizers.end(), [&](const KnownTokenizer& known) {
        return names.find(known.part) != std::string_view::npos;
      });
  return found == kTokenizers.end() ? nullptr : found;
}

}  // namespace titer
