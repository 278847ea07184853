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

/// The items of blocks as passes alone have them, or overlapped ones.
class ItemLister {
 public:
  ItemLister(const Scenario& scenario, bool overlapped)
      : clock_(block_clock(scenario)), overlapped_(overlapped) {
    clock_.experts_apart = clock_.experts_apart && overlapped;
  }

  [[nodiscard]] BlockItems list(const OperationList& operations,
                                const BlockCost& cost,
                                const Repeats& repeats) const {
    EachPass<ItemList> lists;
    BlockList(operations, clock_, lists).list(repeats);
    return map_passes(
        [this](const ItemList& list, const PassCost& pass) {
          return stretched(list.items, overlapped_ ? pass.overlapped() : pass);
        },
        lists,
        cost);
  }

 private:
  BlockClock clock_;
  bool overlapped_;
};

}  // namespace

ModelItems model_items(const Scenario& scenario, const StepCosts& costs, bool overlapped) {
  const ItemLister lister(scenario, overlapped);
  ModelItems items{.kinds = {},
                   .embedding = lister.list(costs.blocks.embedding.operations, costs.embedding, {}),
                   .head = lister.list(costs.blocks.head.operations, costs.head, {})};
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    const Block& block = costs.blocks.kinds[kind];
    items.kinds.push_back(
        lister.list(block.operations, costs.kinds[kind], repeats_of(scenario, block)));
  }
  return items;
}

}  // namespace titer
