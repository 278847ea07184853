#pragma once
// How many pairs of tokens an attention computes.

#include "titer/model/transformer/transformer.hpp"

namespace titer {

/// Which of a sequence's tokens a token attends to.
struct View {
  double length = 0;    // of a sequence
  double document = 0;  // of the parts of a sequence that attend to themselves only
  double chunk = 0;     // likewise, of a document
  double window = 0;    // tokens that one sees at the most
  bool causal = true;   // only those before it
};

[[nodiscard]] View view_of(const Transformer& model, const LayerKind& kind, const Slice& slice);

/// Pairs over s^2. Causal: s^2 / 2; of a window of w <= s tokens: s w - w^2 / 2.
[[nodiscard]] double attended_share(const View& view);

/// Entries that a token attends to on average, of which each sums up so many tokens that it sees
/// whole, and at most so many are seen.
[[nodiscard]] double seen_entries(const View& view, double entry_tokens, double most);

/// Pairs of the busiest of so many parts of a sequence, one after the other, over their mean: the
/// last one's, which sees all before it. For causal attention 2 - 1 / parts.
[[nodiscard]] double busiest_part(const View& view, double parts);

}  // namespace titer
