#pragma once
// Core attention: from queries, keys and values to what the heads return.

#include "attended_pairs.hpp"
#include "model/layer_builder.hpp"

namespace titer {

/// Columns on one of the tensor-parallel ranks.
struct AttentionWidths {
  double query = 0;
  double key = 0;
  double value = 0;
  double output = 0;
  double query_head = 0;  // of one head
  double value_head = 0;
};

struct CoreAttention {
  AttentionWidths widths;
  View view;
  double entries = 0;       // that a token attends to beside the view
  double entry_tokens = 0;  // from one of them to the next; 0: there are none
  // Of a window: what ranks that have parts of a sequence need of one another. Otherwise all of it.
  std::optional<double> exchanged{};  // tokens and entries
  std::optional<double> attended{};   // tokens of images to attend to, which every rank has whole
  Modules modules = 0;                // core attention among them
  Modules freed_by = 0;               // queries, keys and values
};

/// With what ranks that have parts of the same sequence send each other.
void add_core_attention(LayerBuilder& layer, const CoreAttention& attention);

}  // namespace titer
