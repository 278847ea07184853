#include "titer/model/frozen.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace titer {
namespace {

enum class Kept { whole, passing, none };  // of a layer's backward pass

void keep_input_gradients(Block& block) {
  block.frozen = true;
  for (Operation& op : block.operations) {
    if (op.is_adapter) {
      continue;
    }
    op.weight_gradient = {};
    op.regather_transfer = {};
    op.saved = std::max(Bytes{}, op.saved - op.weight_input);
    op.weight_input = {};
    op.output_gradient = {};
  }
}

void keep_forward(Block& block) {
  block.frozen = true;
  block.backward = false;
  block.input = {};
  for (Operation& op : block.operations) {
    op.input_gradient = {};
    op.weight_gradient = {};
    op.backward_transfer = {};
    op.regather_transfer = {};
    op.saved = {};
    op.core_saved = {};
    op.weight_input = {};
    op.output_gradient = {};
  }
}

Kept kept_of(bool is_frozen, bool trained_before) {
  if (!is_frozen) {
    return Kept::whole;
  }
  return trained_before ? Kept::passing : Kept::none;
}

/// Of the kinds of the first `layers` blocks in front.
void each_of_tower(ModelBlocks& blocks, std::int64_t layers, void (*change)(Block&)) {
  for (const LayerRun& run : blocks.order) {
    if (layers <= 0) {
      return;
    }
    change(blocks.kinds[static_cast<std::size_t>(run.kind)]);
    layers -= run.count;
  }
}

void add_layer(int kind, std::vector<LayerRun>& order) {
  if (order.empty() || order.back().kind != kind) {
    order.push_back({.kind = kind, .count = 0});
  }
  ++order.back().count;
}

/// The kinds of layers, and those that become of them.
class FrozenKinds {
 public:
  explicit FrozenKinds(std::vector<Block>& kinds) : kinds_(kinds), made_(kinds.size()) {}

  int of(int kind, Kept kept) {
    if (kept == Kept::whole) {
      return kind;
    }
    auto& made = made_[static_cast<std::size_t>(kind)][kept == Kept::passing ? 0 : 1];
    if (!made) {
      made = static_cast<int>(kinds_.size());
      Block block = kinds_[static_cast<std::size_t>(kind)];
      kept == Kept::passing ? keep_input_gradients(block) : keep_forward(block);
      kinds_.push_back(std::move(block));
    }
    return *made;
  }

 private:
  std::vector<Block>& kinds_;
  std::vector<std::array<std::optional<int>, 2>> made_;
};

}  // namespace

bool FrozenLayers::has(std::int64_t layer) const {
  return layer < first || std::ranges::binary_search(others, layer);
}

void freeze_base(ModelBlocks& blocks) {
  keep_forward(blocks.embedding);
  for (Block& kind : blocks.kinds) {
    keep_input_gradients(kind);
  }
  keep_input_gradients(blocks.head);
  each_of_tower(blocks, blocks.front, keep_forward);
}

void freeze_tower(ModelBlocks& blocks) { each_of_tower(blocks, blocks.front - 1, keep_forward); }

void freeze(ModelBlocks& blocks, const FrozenLayers& frozen) {
  if (!frozen.any()) {
    return;
  }
  if (frozen.first > 0) {
    keep_forward(blocks.embedding);
  }
  bool trained_before = frozen.first == 0 || blocks.front > 0;  // a tower's projector is trained
  FrozenKinds kinds(blocks.kinds);
  std::vector<LayerRun> order;
  std::int64_t layer = -blocks.front;
  for (const LayerRun& run : blocks.order) {
    for (std::int64_t i = 0; i < run.count; ++i, ++layer) {
      const bool is_frozen = layer >= 0 && frozen.has(layer);
      trained_before = trained_before || !is_frozen;
      add_layer(kinds.of(run.kind, kept_of(is_frozen, trained_before)), order);
    }
  }
  blocks.order = std::move(order);
}

}  // namespace titer
