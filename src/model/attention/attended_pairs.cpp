#include "attended_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace titer {
namespace {

/// Of a chunk's first `length` tokens.
double pairs_in_chunk(const View& view, double length) {
  const double seen = std::min(length, view.window);
  return length * seen - (view.causal ? 0.5 * seen * seen : 0.0);
}

/// Of a document's first `length` tokens; the last chunk may be short.
double pairs_in_document(const View& view, double length) {
  const double chunks = std::floor(length / view.chunk);
  return chunks * pairs_in_chunk(view, view.chunk) +
         pairs_in_chunk(view, length - chunks * view.chunk);
}

/// Of a sequence's first `length` tokens.
double pairs(const View& view, double length) {
  const double documents = std::floor(length / view.document);
  return documents * pairs_in_document(view, view.document) +
         pairs_in_document(view, length - documents * view.document);
}

}  // namespace

View view_of(const Transformer& model, const LayerKind& kind, const Slice& slice) {
  View view{.length = static_cast<double>(slice.sequence),
            .causal = model.causal && !kind.bidirectional};
  view.document = std::min(view.length, slice.attended_length.value_or(view.length));
  const auto window =
      std::min(view.document, kind.window ? static_cast<double>(*kind.window) : view.document);
  view.chunk = kind.chunked ? window : view.document;
  view.window = window;
  return view;
}

/// Documents of unequal lengths, of which `document` is the mean over tokens, have as many pairs
/// as equal ones of that length, of which a sequence need not be a multiple.
double attended_share(const View& view) {
  const double documents = view.length / view.document;
  return documents * pairs_in_document(view, view.document) / (view.length * view.length);
}

/// In a document of L tokens, of which the t-th sees min(t / m, k) entries.
double seen_entries(const View& view, double entry_tokens, double most) {
  const double seen = std::min(view.document / entry_tokens, most);
  return seen - (view.causal ? 0.5 * entry_tokens * seen * seen / view.document : 0.0);
}

double busiest_part(const View& view, double parts) {
  if (!view.causal) {
    return 1.0;
  }
  const double all = pairs(view, view.length);
  return parts * (all - pairs(view, view.length - view.length / parts)) / all;
}

}  // namespace titer
