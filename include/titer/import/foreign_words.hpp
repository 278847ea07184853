#pragma once
// What other programs call what this one has names of its own for: to read their files, and to
// write them.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace titer {

struct ForeignWord {
  std::string_view theirs;
  std::string_view ours;
};

/// Megatron-LM's --recompute-modules.
inline constexpr std::array<ForeignWord, 7> kMegatronModules = {
    {{"core_attn", "core_attention"},
     {"layernorm", "layer_norm"},
     {"mla_up_proj", "latent_up"},
     {"mlp", "mlp"},
     {"moe", "moe"},
     {"moe_act", "activation"},
     {"shared_experts", "shared_experts"}}};
/// Its --cp-comm-type.
inline constexpr std::array<ForeignWord, 4> kMegatronContextMethods = {
    {{"p2p", "ring"},
     {"all_gather", "all-gather"},
     {"a2a", "ulysses"},
     {"a2a+p2p", "hierarchical"}}};
/// Its --cuda-graph-scope; "moe" is the router, too.
inline constexpr std::array<ForeignWord, 6> kMegatronGraphScopes = {{{"attn", "attention"},
                                                                     {"mlp", "mlp"},
                                                                     {"moe", "experts"},
                                                                     {"moe_router", "router"},
                                                                     {"moe_preprocess", "router"},
                                                                     {"mamba", "mixer"}}};
/// Its --data-parallel-sharding-strategy.
inline constexpr std::array<ForeignWord, 4> kMegatronShardings = {
    {{"no_shard", "none"},
     {"optim", "zero1"},
     {"optim_grads", "zero2"},
     {"optim_grads_params", "zero3"}}};

template <class Words>
[[nodiscard]] std::optional<std::string_view> our_word(const Words& words,
                                                       std::string_view theirs) {
  const auto* const found = std::find_if(
      words.begin(), words.end(), [&](const auto& word) { return word.theirs == theirs; });
  return found == words.end() ? std::nullopt : std::optional(found->ours);
}
/// The first that stands for it.
template <class Words>
[[nodiscard]] std::optional<std::string_view> their_word(const Words& words,
                                                         std::string_view ours) {
  const auto* const found =
      std::ranges::find_if(words, [&](const auto& word) { return word.ours == ours; });
  return found == words.end() ? std::nullopt : std::optional(found->theirs);
}

/// A model of torchtitan's code and the shipped one that it is.
struct TorchtitanFlavor {
  std::string_view model;
  std::string_view flavor;
  std::string_view shipped;
};
inline constexpr std::array<TorchtitanFlavor, 4> kTorchtitanFlavors = {
    {{"llama3", "8B", "llama3-8b"},
     {"llama3", "70B", "llama3-70b"},
     {"llama3", "405B", "llama3-405b"},
     {"deepseek_v3", "671B", "deepseek-v3"}}};

/// A schedule of torchtitan's.
struct TorchtitanSchedule {
  std::string_view theirs;
  std::string_view ours;
  bool has_chunks;  // two stages on a rank
};
inline constexpr std::array<TorchtitanSchedule, 7> kTorchtitanSchedules = {
    {{"1F1B", "1f1b", false},
     {"GPipe", "gpipe", false},
     {"Interleaved1F1B", "1f1b", true},
     {"LoopedBFS", "breadth-first", true},
     {"ZBVZeroBubble", "zb-v", false},
     {"DualPipeV", "dualpipev", false},
     {"ZBV", "zb-v", false}}};

}  // namespace titer
