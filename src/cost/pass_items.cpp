#include "titer/cost/pass_items.hpp"

#include "pass_list.hpp"

namespace titer {
namespace {

struct ItemList {
  PassItems items;
  void operator()(const PassItem& item) { items.push_back(item); }
};

/// The kernels stretched to take as long as the pass computes.
PassItems stretched(PassItems items, const PassCost& cost) {
  Seconds kernels;
  for (const PassItem& item : items) {
    kernels += item.is_transfer() ? Seconds{} : item.time;
  }
  if (cost.compute > kernels && kernels > Seconds{}) {
    const double stretch = cost.compute / kernels;
    for (PassItem& item : items) {
      item.time = item.is_transfer() ? item.time : stretch * item.time;
    }
  }
  return items;
}

BlockItems block_items(const OperationList& operations,
                       const BlockCost& cost,
                       const Repeats& repeats,
                       const BlockClock& clock) {
  EachPass<ItemList> lists;
  BlockList(operations, clock, lists).list(repeats);
  return map_passes(
      [](const ItemList& list, const PassCost& pass) { return stretched(list.items, pass); },
      lists,
      cost);
}

}  // namespace

ModelItems model_items(const Scenario& scenario, const StepCosts& costs) {
  const BlockClock clock = block_clock(scenario);
  ModelItems items{
      .kinds = {},
      .embedding = block_items(costs.blocks.embedding.operations, costs.embedding, {}, clock),
      .head = block_items(costs.blocks.head.operations, costs.head, {}, clock)};
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    const Block& block = costs.blocks.kinds[kind];
    const Repeats repeats = repeats_of(scenario, block);
    items.kinds.push_back(block_items(block.operations, costs.kinds[kind], repeats, clock));
  }
  return items;
}

}  // namespace titer
