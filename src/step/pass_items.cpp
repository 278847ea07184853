#include "titer/step/pass_items.hpp"

#include <utility>

#include "pass_list.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

struct ItemLists {
  struct List {
    PassItems items{};
    void operator()(const PassItem& item) { items.push_back(item); }
  };
  List forward{};
  List recompute{};
  List backward{};
  List input_gradient{};
  List weight_gradient{};
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
  ItemLists lists;
  BlockList(operations, clock, lists).list(repeats);
  return {
      .forward = stretched(std::move(lists.forward.items), cost.forward),
      .backward = stretched(std::move(lists.backward.items), cost.backward),
      .recompute = stretched(std::move(lists.recompute.items), cost.recompute),
      .input_gradient = stretched(std::move(lists.input_gradient.items), cost.input_gradient),
      .weight_gradient = stretched(std::move(lists.weight_gradient.items), cost.weight_gradient)};
}

}  // namespace

const PassItems& BlockItems::of(Pass pass) const {
  switch (pass) {
    case Pass::forward:
      return forward;
    case Pass::backward:
      return backward;
    case Pass::input_gradient:
      return input_gradient;
    case Pass::weight_gradient:
      return weight_gradient;
  }
  ensure(false, "a pass is one of the enumerated ones");
  return forward;
}

ModelItems model_items(const Scenario& scenario, const StepCosts& costs) {
  const BlockClock clock = block_clock(scenario);
  ModelItems items{
      .kinds = {},
      .embedding = block_items(costs.blocks.embedding.operations, costs.embedding, {}, clock),
      .head = block_items(costs.blocks.head.operations, costs.head, {}, clock)};
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    items.kinds.push_back(block_items(
        costs.blocks.kinds[kind].operations, costs.kinds[kind], repeats_of(scenario.plan), clock));
  }
  return items;
}

}  // namespace titer
