#include "titer/model/unmodelled.hpp"

#include <algorithm>
#include <array>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr std::string_view kOnlyThere = "which are read from HuggingFace's config.json only";
constexpr std::array kUnmodelled = {
    Unmodelled{"megatron_mamba", "Mamba layers that Megatron's settings tell of without a pattern"},
    Unmodelled{"megatron_delta", "gated delta-net layers in Megatron's own settings"},
    Unmodelled{"megatron_falcon", "Falcon's layers in Megatron's own settings", kOnlyThere},
    Unmodelled{"falcon_h1", "attention beside Mamba-2 in the same layers"},
    Unmodelled{"zamba", "attention layers that share their weights"},
    Unmodelled{"plamo2", "Mamba layers with norms of their own"},
    Unmodelled{"rwkv", "RWKV layers in GPT-NeoX's own settings", kOnlyThere},
    Unmodelled{"recurrent_gemma", "gated linear recurrences"},
    Unmodelled{"gemma3n", "per-layer embeddings and alternating updates"},
    Unmodelled{"mllama", "cross-attention to images", kOnlyThere},
    Unmodelled{"t5", "an encoder beside a decoder", kOnlyThere},
    Unmodelled{"bart", "an encoder beside a decoder", kOnlyThere},
    Unmodelled{"ict", "two encoders, of questions and of texts"},
    Unmodelled{"retro", "cross-attention to retrieved texts"},
    Unmodelled{"llava", "a vision tower before the language model", kOnlyThere},
    Unmodelled{"vit", "an encoder of images"},
};

}  // namespace

std::span<const Unmodelled> unmodelled_architectures() { return kUnmodelled; }

std::string refusal_of(const Unmodelled& architecture) {
  return "this architecture has " + std::string(architecture.what) + ", " +
         std::string(architecture.why);
}

std::string unmodelled_refusal(std::string_view type) {
  const auto* found =
      std::ranges::find_if(kUnmodelled, [&](const auto& other) { return other.type == type; });
  ensure(found != kUnmodelled.end(), "the architecture is in the list");
  return refusal_of(*found);
}

}  // namespace titer
