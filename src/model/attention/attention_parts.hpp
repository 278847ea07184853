#pragma once
// What kinds of attention have in common.

#include "core_attention.hpp"

namespace titer {

inline constexpr Modules kAttention = bit(Module::attention);
inline constexpr Modules kCore =
    bits(Module::attention, Module::core_attention, Module::attention_result);
inline constexpr Modules kOutput = bits(Module::attention, Module::attention_output);
inline constexpr Modules kResult = bits(Module::attention, Module::attention_result);
inline constexpr Modules kLatentUp = bits(Module::attention, Module::latent_up);

[[nodiscard]] inline double columns(std::int64_t count) { return static_cast<double>(count); }

/// Read and written, forward and backward, so many columns.
void add_rotary(LayerBuilder& layer, double moved, Modules modules);

/// Entries of so many columns, each of the tokens from one to the next or, where they overlap, of
/// those before, too: sums weighed by a softmax over the tokens, of numbers and weights that one
/// product has made of each; and their norm.
struct Entries {
  double width = 0;
  double tokens = 0;  // from one to the next
  bool overlap = false;

  /// Columns of the product for a token.
  [[nodiscard]] double projected() const { return (overlap ? 4.0 : 2.0) * width; }
};
/// Of so many tokens.
void add_entries(LayerBuilder& layer, std::string_view name, const Entries& entries, double tokens);

/// What an indexer picks from.
struct Scored {
  double q_rank = 0;        // columns of the queries' latent
  double scored = 0;        // keys that a token scores, on average
  double all = 0;           // keys of a sequence
  double picked = 0;        // of these, by a token that sees enough
  double entry_tokens = 0;  // from one key to the next, where they are entries
};
void add_indexer(LayerBuilder& layer, const Indexer& indexer, const Scored& keys);

/// From the normalised hidden state to attention's output.
void add_shared_head(LayerBuilder& layer, const LayerKind& kind, const SharedHead& shared);

}  // namespace titer
