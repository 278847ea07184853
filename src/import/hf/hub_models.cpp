// Models of the HuggingFace Hub by their names.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "hf_parts.hpp"
#include "hub_models.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

struct ShippedModel {
  std::string_view name;  // as bare_name() makes it
  std::string_view shipped;
};
constexpr std::array<ShippedModel, 33> kShipped = {{{"llama27b", "llama2-7b"},
                                                    {"llama213b", "llama2-13b"},
                                                    {"llama270b", "llama2-70b"},
                                                    {"llama38b", "llama3-8b"},
                                                    {"llama370b", "llama3-70b"},
                                                    {"llama31405b", "llama3-405b"},
                                                    {"llama321b", "llama3.2-1b"},
                                                    {"llama323b", "llama3.2-3b"},
                                                    {"llama4scout17b16e", "llama4-scout"},
                                                    {"mixtral8x7b", "mixtral-8x7b"},
                                                    {"mixtral8x22b", "mixtral-8x22b"},
                                                    {"qwen330ba3b", "qwen3-30b-a3b"},
                                                    {"qwen3235ba22b", "qwen3-235b-a22b"},
                                                    {"qwen3next80ba3b", "qwen3-next-80b-a3b"},
                                                    {"deepseekv3", "deepseek-v3"},
                                                    {"deepseek3671b", "deepseek-v3"},
                                                    {"deepseekr1", "deepseek-v3"},
                                                    {"deepseekv2lite", "deepseek-v2-lite"},
                                                    {"kimik2", "kimi-k2"},
                                                    {"gptoss20b", "gpt-oss-20b"},
                                                    {"gptoss120b", "gpt-oss-120b"},
                                                    {"dbrx", "dbrx"},
                                                    {"gemma29b", "gemma2-9b"},
                                                    {"starcoder215b", "starcoder2-15b"},
                                                    {"olmo271124", "olmo2-7b"},
                                                    {"olmo211247b", "olmo2-7b"},
                                                    {"olmo2032532b", "olmo2-32b"},
                                                    {"deepseekv216b", "deepseek-v2-lite"},
                                                    {"deepseek216b", "deepseek-v2-lite"},
                                                    {"llama417b16e", "llama4-scout"},
                                                    {"grok1", "grok-1"},
                                                    {"glm45", "glm-4.5"},
                                                    {"glm45air", "glm-4.5-air"}}};

/// Of dense models, the shapes that their config.json on the Hub have.
constexpr auto kDense = std::to_array<HubShape>({
    {"llama318b", "llama", 32, 4096, 14336, 32, 8, 128256, 131072},
    {"llama3170b", "llama", 80, 8192, 28672, 64, 8, 128256, 131072},
    {"llama3370b", "llama", 80, 8192, 28672, 64, 8, 128256, 131072},
    {"lfm2350m", "lfm2", 16, 1024, 6656, 16, 8, 65536, 128000, true},
    {"lfm2700m", "lfm2", 16, 1536, 10240, 24, 8, 65536, 128000, true},
    {"lfm212b", "lfm2", 16, 2048, 12288, 32, 8, 65536, 128000, true},
    {"tinyllama11b", "llama", 22, 2048, 5632, 32, 4, 32000, 2048},
    {"microllama300m", "llama", 12, 1024, 5632, 16, 4, 32000, 2048},
    {"codellama7b", "llama", 32, 4096, 11008, 32, 32, 32016, 16384},
    {"codellama13b", "llama", 40, 5120, 13824, 40, 40, 32016, 16384},
    {"codellama34b", "llama", 48, 8192, 22016, 64, 8, 32000, 16384},
    {"yi6b", "llama", 32, 4096, 11008, 32, 4, 64000, 4096},
    {"yi34b", "llama", 60, 7168, 20480, 56, 8, 64000, 4096},
    {"llama7b", "llama", 32, 4096, 11008, 32, 32, 32000, 2048},
    {"llama13b", "llama", 40, 5120, 13824, 40, 40, 32000, 2048},
    {"llama30b", "llama", 60, 6656, 17920, 52, 52, 32000, 2048},
    {"llama65b", "llama", 80, 8192, 22016, 64, 64, 32000, 2048},
    {"openllama3b", "llama", 26, 3200, 8640, 32, 32, 32000, 2048},
    {"openllama7b", "llama", 32, 4096, 11008, 32, 32, 32000, 2048},
    {"openllama13b", "llama", 40, 5120, 13824, 40, 40, 32000, 2048},
    {"yi156b", "llama", 32, 4096, 11008, 32, 4, 64000, 4096},
    {"yi159b", "llama", 48, 4096, 11008, 32, 4, 64000, 4096},
    {"yi1534b", "llama", 60, 7168, 20480, 56, 8, 64000, 4096},
    {"deepseek13b", "llama", 24, 2048, 5504, 16, 16, 32256, 16384},
    {"deepseek67b", "llama", 32, 4096, 11008, 32, 32, 32256, 16384},
    {"deepseek33b", "llama", 62, 7168, 19200, 56, 8, 32256, 16384},
    {"deepseekllm7b", "llama", 30, 4096, 11008, 32, 32, 102400, 4096},
    {"deepseekllm67b", "llama", 95, 8192, 22016, 64, 8, 102400, 4096},
    {"eurollm17b", "llama", 24, 2048, 5632, 16, 8, 128000, 4096},
    {"eurollm9b", "llama", 42, 4096, 12288, 32, 8, 128000, 4096},
    {"smollm135m", "llama", 30, 576, 1536, 9, 3, 49152, 2048, true},
    {"smollm360m", "llama", 32, 960, 2560, 15, 5, 49152, 2048, true},
    {"smollm17b", "llama", 24, 2048, 8192, 32, 32, 49152, 2048, true},
    {"smollm33b", "smollm3", 36, 2048, 11008, 16, 4, 128256, 65536, true},
    {"smollm2135m", "llama", 30, 576, 1536, 9, 3, 49152, 8192, true},
    {"smollm2360m", "llama", 32, 960, 2560, 15, 5, 49152, 8192, true},
    {"smollm217b", "llama", 24, 2048, 8192, 32, 32, 49152, 8192, true},
    {"mistral7bv01", "mistral", 32, 4096, 14336, 32, 8, 32000, 32768, false, 0, 4096},
    {"mistral7bv02", "mistral", 32, 4096, 14336, 32, 8, 32000, 32768},
    {"mistral7bv03", "mistral", 32, 4096, 14336, 32, 8, 32768, 32768},
    {"mistral7b", "mistral", 32, 4096, 14336, 32, 8, 32000, 32768, false, 0, 4096},
    {"mistralnemo2407", "mistral", 40, 5120, 14336, 32, 8, 131072, 131072, false, 128},
    {"mistralsmall24b2501", "mistral", 40, 5120, 32768, 32, 8, 131072, 32768, false, 128},
    {"mistralsmall3124b2503",
     "mistral",
     40,
     5120,
     32768,
     32,
     8,
     131072,
     131072,
     false,
     128,
     0,
     true},
    {"mistralsmall3224b2506",
     "mistral",
     40,
     5120,
     32768,
     32,
     8,
     131072,
     131072,
     false,
     128,
     0,
     true},
    {"magistralsmall2506", "mistral", 40, 5120, 32768, 32, 8, 131072, 40960, false, 128},
    {"magistralsmall2509", "mistral", 40, 5120, 32768, 32, 8, 131072, 131072, false, 128, 0, true},
    {"mistrallarge2407", "mistral", 88, 12288, 28672, 96, 8, 32768, 131072},
    {"codestral22b", "mistral", 56, 6144, 16384, 48, 8, 32768, 32768},
    {"mathstral7b", "mistral", 32, 4096, 14336, 32, 8, 32768, 32768},
    {"qwen18b", "qwen2", 24, 2048, 5504, 16, 16, 151936, 8192},
    {"qwen7b", "qwen2", 32, 4096, 11008, 32, 32, 151936, 32768},
    {"qwen14b", "qwen2", 40, 5120, 13696, 40, 40, 152064, 8192},
    {"qwen72b", "qwen2", 80, 8192, 24576, 64, 64, 152064, 32768},
    {"qwen1505b", "qwen2", 24, 1024, 2816, 16, 16, 151936, 32768, true},
    {"qwen1518b", "qwen2", 24, 2048, 5504, 16, 16, 151936, 32768},
    {"qwen154b", "qwen2", 40, 2560, 6912, 20, 20, 151936, 32768},
    {"qwen157b", "qwen2", 32, 4096, 11008, 32, 32, 151936, 32768},
    {"qwen1514b", "qwen2", 40, 5120, 13696, 40, 40, 152064, 32768},
    {"qwen1532b", "qwen2", 64, 5120, 27392, 40, 8, 152064, 32768},
    {"qwen1572b", "qwen2", 80, 8192, 24576, 64, 64, 152064, 32768},
    {"qwen15110b", "qwen2", 80, 8192, 49152, 64, 8, 152064, 32768},
    {"qwen205b", "qwen2", 24, 896, 4864, 14, 2, 151936, 131072, true},
    {"qwen215b", "qwen2", 28, 1536, 8960, 12, 2, 151936, 131072, true},
    {"qwen27b", "qwen2", 28, 3584, 18944, 28, 4, 152064, 131072},
    {"qwen272b", "qwen2", 80, 8192, 29568, 64, 8, 152064, 131072},
    {"qwen2505b", "qwen2", 24, 896, 4864, 14, 2, 151936, 32768, true},
    {"qwen2515b", "qwen2", 28, 1536, 8960, 12, 2, 151936, 131072, true},
    {"qwen253b", "qwen2", 36, 2048, 11008, 16, 2, 151936, 32768, true},
    {"qwen257b", "qwen2", 28, 3584, 18944, 28, 4, 152064, 131072},
    {"qwen2514b", "qwen2", 48, 5120, 13824, 40, 8, 152064, 131072},
    {"qwen2532b", "qwen2", 64, 5120, 27648, 40, 8, 152064, 131072},
    {"qwen2572b", "qwen2", 80, 8192, 29568, 64, 8, 152064, 131072},
    {"qwq32b", "qwen2", 64, 5120, 27648, 40, 8, 152064, 131072},
    {"qwen306b", "qwen3", 28, 1024, 3072, 16, 8, 151936, 40960, true, 128},
    {"qwen317b", "qwen3", 28, 2048, 6144, 16, 8, 151936, 40960, true, 128},
    {"qwen34b", "qwen3", 36, 2560, 9728, 32, 8, 151936, 40960, true, 128},
    {"qwen38b", "qwen3", 36, 4096, 12288, 32, 8, 151936, 40960, false, 128},
    {"qwen314b", "qwen3", 40, 5120, 17408, 40, 8, 151936, 40960, false, 128},
    {"qwen332b", "qwen3", 64, 5120, 25600, 64, 8, 151936, 40960, false, 128},
    {"gemma2b", "gemma", 18, 2048, 16384, 8, 1, 256000, 8192, true, 256},
    {"gemma7b", "gemma", 28, 3072, 24576, 16, 16, 256000, 8192, true, 256},
    {"gemma22b", "gemma2", 26, 2304, 9216, 8, 4, 256000, 8192, true, 256},
    {"gemma227b", "gemma2", 46, 4608, 36864, 32, 16, 256000, 8192, true, 128},
    {"gemma31b", "gemma3_text", 26, 1152, 6912, 4, 1, 262144, 32768, true, 256, 512},
    {"gemma34b", "gemma3_text", 34, 2560, 10240, 8, 4, 262208, 131072, true, 256, 1024, true},
    {"gemma312b", "gemma3_text", 48, 3840, 15360, 16, 8, 262208, 131072, true, 256, 1024, true},
    {"gemma327b", "gemma3_text", 62, 5376, 21504, 32, 16, 262208, 131072, true, 128, 1024, true},
    {"phi3mini4k", "phi3", 32, 3072, 8192, 32, 32, 32064, 4096},
    {"phi3mini", "phi3", 32, 3072, 8192, 32, 32, 32064, 4096},
    {"phi4", "phi3", 40, 5120, 17920, 40, 10, 100352, 16384},
    {"phi414b", "phi3", 40, 5120, 17920, 40, 10, 100352, 16384},
    {"phi35mini", "phi3", 32, 3072, 8192, 32, 32, 32064, 131072},
    {"phi3medium4k", "phi3", 40, 5120, 17920, 40, 10, 32064, 4096},
    {"phi2", "phi", 32, 2560, 10240, 32, 32, 51200, 2048},
    {"olmo2112413b", "olmo2", 40, 5120, 13824, 40, 40, 100352, 4096},
    {"starcoder23b", "starcoder2", 30, 3072, 12288, 24, 2, 49152, 16384, true},
    {"starcoder27b", "starcoder2", 32, 4608, 18432, 36, 4, 49152, 16384, true},
    {"pythia14m", "gpt_neox", 6, 128, 512, 4, 4, 50304, 512},
    {"pythia31m", "gpt_neox", 6, 256, 1024, 8, 8, 50304, 1024},
    {"pythia70m", "gpt_neox", 6, 512, 2048, 8, 8, 50304, 2048},
    {"pythia160m", "gpt_neox", 12, 768, 3072, 12, 12, 50304, 2048},
    {"pythia410m", "gpt_neox", 24, 1024, 4096, 16, 16, 50304, 2048},
    {"pythia1b", "gpt_neox", 16, 2048, 8192, 8, 8, 50304, 2048},
    {"pythia14b", "gpt_neox", 24, 2048, 8192, 16, 16, 50304, 2048},
    {"pythia28b", "gpt_neox", 32, 2560, 10240, 32, 32, 50304, 2048},
    {"pythia69b", "gpt_neox", 32, 4096, 16384, 32, 32, 50432, 2048},
    {"pythia12b", "gpt_neox", 36, 5120, 20480, 40, 40, 50688, 2048},
    {"gptneox20b", "gpt_neox", 44, 6144, 24576, 64, 64, 50432, 2048},
    {"gpt2", "gpt2", 12, 768, 3072, 12, 12, 50257, 1024, true},
    {"gpt2medium", "gpt2", 24, 1024, 4096, 16, 16, 50257, 1024, true},
    {"gpt2large", "gpt2", 36, 1280, 5120, 20, 20, 50257, 1024, true},
    {"gpt2xl", "gpt2", 48, 1600, 6400, 25, 25, 50257, 1024, true},
    {"falcon7b", "falcon", 32, 4544, 18176, 71, 1, 65024, 2048, true},
    {"falcon40b", "falcon", 60, 8192, 32768, 128, 8, 65024, 2048, true},
    {"falcon11b", "falcon", 60, 4096, 16384, 32, 8, 65024, 8192},
    {"opt125m", "opt", 12, 768, 3072, 12, 12, 50272, 2048, true},
    {"opt13b", "opt", 24, 2048, 8192, 32, 32, 50272, 2048, true},
    {"opt27b", "opt", 32, 2560, 10240, 32, 32, 50272, 2048, true},
    {"opt67b", "opt", 32, 4096, 16384, 32, 32, 50272, 2048, true},
    {"opt30b", "opt", 48, 7168, 28672, 56, 56, 50272, 2048, true},
    {"opt66b", "opt", 64, 9216, 36864, 72, 72, 50272, 2048, true},
    {"gptj6b", "gptj", 28, 4096, 16384, 16, 16, 50400, 2048},
    {"bloom560m", "bloom", 24, 1024, 4096, 16, 16, 250880, 2048, true},
    {"bloom1b1", "bloom", 24, 1536, 6144, 16, 16, 250880, 2048, true},
    {"bloom1b7", "bloom", 24, 2048, 8192, 16, 16, 250880, 2048, true},
    {"bloom3b", "bloom", 30, 2560, 10240, 32, 32, 250880, 2048, true},
    {"bloom7b1", "bloom", 30, 4096, 16384, 32, 32, 250880, 2048, true},
    {"shearedllama13b", "llama", 24, 2048, 5504, 16, 16, 32000, 4096},
    {"shearedllama27b", "llama", 32, 2560, 6912, 20, 20, 32000, 4096},
    {"solar107b", "llama", 48, 4096, 14336, 32, 8, 32000, 4096},
    {"chinesellama27b", "llama", 32, 4096, 11008, 32, 32, 55296, 4096},
    {"falcon31b", "llama", 18, 2048, 8192, 8, 4, 131072, 4096, false, 256},
    {"falcon33b", "llama", 22, 3072, 9216, 12, 4, 131072, 32768, false, 256},
    {"falcon37b", "llama", 28, 3072, 23040, 12, 4, 131072, 32768, false, 256},
    {"falcon310b", "llama", 40, 3072, 23040, 12, 4, 131072, 32768, false, 256},
    {"llavav157b", "llama", 32, 4096, 11008, 32, 32, 32064, 4096, false, 0, 0, true},
    {"llava157b", "llama", 32, 4096, 11008, 32, 32, 32064, 4096, false, 0, 0, true},
    {"llavav1513b", "llama", 40, 5120, 13824, 40, 40, 32064, 4096, false, 0, 0, true},
    {"llava1513b", "llama", 40, 5120, 13824, 40, 40, 32064, 4096, false, 0, 0, true},
    {"ministral8b2410", "mistral", 36, 4096, 12288, 32, 8, 131072, 32768, false, 128},
    {"qwen2vl2b", "qwen2", 28, 1536, 8960, 12, 2, 151936, 32768, true, 0, 0, true},
    {"qwen2vl7b", "qwen2", 28, 3584, 18944, 28, 4, 152064, 32768, false, 0, 0, true},
    {"qwen25vl3b", "qwen2", 36, 2048, 11008, 16, 2, 151936, 128000, true, 0, 0, true},
    {"qwen2vl72b", "qwen2", 80, 8192, 29568, 64, 8, 152064, 32768, false, 0, 0, true},
    {"qwen25vl7b", "qwen2", 28, 3584, 18944, 28, 4, 152064, 128000, false, 0, 0, true},
    {"qwen25vl32b", "qwen2", 64, 5120, 27648, 40, 8, 152064, 128000, false, 0, 0, true},
    {"qwen25vl72b", "qwen2", 80, 8192, 29568, 64, 8, 152064, 128000, false, 0, 0, true},
    {"qwen3vl2b", "qwen3", 28, 2048, 6144, 16, 8, 151936, 262144, true, 128, 0, true},
    {"qwen3vl4b", "qwen3", 36, 2560, 9728, 32, 8, 151936, 262144, true, 128, 0, true},
    {"qwen3vl8b", "qwen3", 36, 4096, 12288, 32, 8, 151936, 262144, false, 128, 0, true},
    {"qwen3vl32b", "qwen3", 64, 5120, 25600, 64, 8, 151936, 262144, false, 128, 0, true},
    {"qwen359b", "qwen3_5_text", 32, 4096, 12288, 16, 4, 248320, 262144, false, 256, 0, true},
    {"qwen3527b", "qwen3_5_text", 64, 5120, 17408, 24, 4, 248320, 262144, false, 256, 0, true},
    {"phi1", "phi", 24, 2048, 8192, 32, 32, 51200, 2048},
    {"phi15", "phi", 24, 2048, 8192, 32, 32, 51200, 2048},
    {"phi4mini", "phi3", 32, 3072, 8192, 24, 8, 200064, 131072, true},
    {"olmo1b", "olmo", 16, 2048, 8192, 16, 16, 50304, 2048, true},
    {"olmo7b", "olmo", 32, 4096, 11008, 32, 32, 50304, 2048},
    {"olmo204251b", "olmo2", 16, 2048, 8192, 16, 16, 100352, 4096},
    {"baichuan27b", "baichuan", 32, 4096, 11008, 32, 32, 125696, 4096},
    {"baichuan213b", "baichuan", 40, 5120, 13696, 40, 40, 125696, 4096},
    {"internlm218b", "internlm2", 24, 2048, 8192, 16, 8, 92544, 32768},
    {"internlm2518b", "internlm2", 24, 2048, 8192, 16, 8, 92544, 32768},
    {"internlm27b", "internlm2", 32, 4096, 14336, 32, 8, 92544, 32768},
    {"internlm257b", "internlm2", 32, 4096, 14336, 32, 8, 92544, 32768},
    {"internlm220b", "internlm2", 48, 6144, 16384, 48, 8, 92544, 32768},
    {"stablelm216b", "stablelm", 24, 2048, 5632, 32, 32, 100352, 4096},
    {"stablelm3b4e1t", "stablelm", 32, 2560, 6912, 32, 32, 50304, 4096},
    {"granite302b", "granite", 40, 2048, 8192, 32, 8, 49155, 4096, true},
    {"granite312b", "granite", 40, 2048, 8192, 32, 8, 49155, 131072, true},
    {"granite308b", "granite", 40, 4096, 12800, 32, 8, 49155, 4096, true},
    {"granite318b", "granite", 40, 4096, 12800, 32, 8, 49155, 131072, true},
    {"c4aicommandr", "cohere", 40, 8192, 22528, 64, 64, 256000, 131072, true},
    {"aya238b", "cohere", 32, 4096, 14336, 32, 8, 256000, 8192, true},
    {"minicpm2b", "minicpm", 40, 2304, 5760, 36, 36, 122753, 4096, true},
    {"seedoss36b", "seed_oss", 64, 5120, 27648, 80, 8, 155136, 524288, false, 128},
    {"distilgpt2", "gpt2", 6, 768, 3072, 12, 12, 50257, 1024, true},
    {"gptneo125m", "gpt_neo", 12, 768, 3072, 12, 12, 50257, 2048, true},
    {"gptneo13b", "gpt_neo", 24, 2048, 8192, 16, 16, 50257, 2048, true},
    {"gptneo27b", "gpt_neo", 32, 2560, 10240, 20, 20, 50257, 2048, true},
    {"starcoderbase1b", "gpt_bigcode", 24, 2048, 8192, 16, 1, 49152, 8192, true},
    {"starcoderbase3b", "gpt_bigcode", 36, 2816, 11264, 22, 1, 49152, 8192, true},
    {"starcoderbase", "gpt_bigcode", 40, 6144, 24576, 48, 1, 49152, 8192, true},
    {"starcoder", "gpt_bigcode", 40, 6144, 24576, 48, 1, 49152, 8192, true},
    {"codegen350mmono", "codegen", 20, 1024, 4096, 16, 16, 51200, 2048},
    {"codegen350mmulti", "codegen", 20, 1024, 4096, 16, 16, 51200, 2048},
    {"codegen2bmono", "codegen", 32, 2560, 10240, 32, 32, 51200, 2048},
    {"codegen2bmulti", "codegen", 32, 2560, 10240, 32, 32, 51200, 2048},
    {"codegen6bmono", "codegen", 33, 4096, 16384, 16, 16, 51200, 2048},
    {"mpt7b", "mpt", 32, 4096, 16384, 32, 32, 50432, 2048, true},
    {"mpt30b", "mpt", 48, 7168, 28672, 64, 64, 50432, 8192, true},
    {"chatglm26b", "chatglm", 28, 4096, 13696, 32, 2, 65024, 32768},
    {"chatglm36b", "chatglm", 28, 4096, 13696, 32, 2, 65024, 8192},
    {"glm49b", "chatglm", 40, 4096, 13696, 32, 2, 151552, 131072},
});

/// Models that differ from another one in weights alone.
constexpr auto kLikenesses = std::to_array<ShippedModel>({
    {"deepseekr1distillllama8b", "llama318b"},
    {"deepseekr1distillllama70b", "llama3370b"},
    {"deepseekr1distillqwen15b", "qwen2515b"},
    {"deepseekr1distillqwen7b", "qwen257b"},
    {"deepseekr1distillqwen14b", "qwen2514b"},
    {"deepseekr1distillqwen32b", "qwen2532b"},
    {"deepseekr1qwen38b", "qwen38b"},
    {"hermes3llama318b", "llama318b"},
    {"hermes2promistral7b", "mistral7bv01"},
    {"zephyr7bbeta", "mistral7bv01"},
    {"zephyr7b", "mistral7bv01"},
    {"openhermes25mistral7b", "mistral7bv01"},
    {"vicuna7b", "llama27b"},
    {"vicuna13b", "llama213b"},
    {"dbrxconverted", "dbrx"},
    {"smollm33bcheckpoints", "smollm33b"},
    {"llamaguard38b", "llama318b"},
    {"llama3138b", "llama318b"},
    {"llama31370b", "llama3170b"},
    {"deepseek7b", "deepseekllm7b"},
    {"starlinglm7balpha", "mistral7bv01"},
    {"starlinglm7bbeta", "mistral7bv01"},
    {"metamathmistral7b", "mistral7bv01"},
    {"notus7b", "mistral7bv01"},
    {"openchat35", "mistral7bv01"},
    {"llama31nemotron70b", "llama3170b"},
    {"llama3swallow8b", "llama38b"},
    {"llama2chinese7b", "llama27b"},
    {"chinesealpaca27b", "chinesellama27b"},
});

template <class Models>
const typename Models::value_type* named(const Models& models, std::string_view name) {
  const auto found = std::find_if(
      models.begin(), models.end(), [&](const auto& model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

std::optional<HubModel> model_called(std::string bare) {
  const std::size_t version = bare.rfind('v');
  const bool is_known = named(kDense, bare) != nullptr || named(kShipped, bare) != nullptr;
  if (!is_known && version != std::string::npos && version > 0 &&
      bare.find_first_not_of("0123456789", version + 1) == std::string::npos) {
    bare.resize(version);  // v0.1
  }
  if (const ShippedModel* like = named(kLikenesses, bare)) {
    bare = like->shipped;
  }
  if (const ShippedModel* shipped = named(kShipped, bare)) {
    return HubModel{.shipped = shipped->shipped, .config = {}};
  }
  if (const HubShape* dense = named(kDense, bare)) {
    return HubModel{.shipped = {}, .config = config_of(*dense), .sees = dense->sees};
  }
  return std::nullopt;
}

}  // namespace

std::optional<HubModel> hub_model(std::string_view name) {
  const std::vector<std::string> words = words_of_shape(name);
  auto found = model_called(bare_name(words));
  if (const std::vector<std::string> begin = words_to_size(words);
      !found && !begin.empty() && begin.size() < words.size()) {
    found = model_called(bare_name(begin));
    if (found) {
      found->tuned = true;
    }
  }
  return found;
}

}  // namespace titer
