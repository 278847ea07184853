#include "titer/simulate/messages.hpp"

#include "titer/units/ensure.hpp"

namespace titer {

std::vector<std::uint32_t> units_of(const ActionList& actions) {
  std::vector<std::uint32_t> units;
  for (std::size_t i = 0; i < actions.size(); i += done_together(actions, i)) {
    units.push_back(static_cast<std::uint32_t>(i));
  }
  return units;
}

FewOf<std::size_t, 2> sending_order(const ActionList& actions, std::size_t first) {
  FewOf<std::size_t, 2> order;
  if (!actions[first].with_next) {
    order.add(first);
    return order;
  }
  const OppositePasses both = opposite_passes(actions[first].pass, first);
  order.add(both.backward);
  order.add(both.forward);
  return order;
}

Messages::Messages(const StepCosts& costs, const std::vector<ActionList>& lists)
    : placement_(costs.placement),
      shape_(costs.shape),
      stages_(costs.stages),
      costs_(&costs),
      messages_(2UL * static_cast<std::size_t>(stages_) *
                static_cast<std::size_t>(shape_.micro_batches)) {
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    send_all(static_cast<int>(rank), lists[rank]);
  }
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    receive_all(static_cast<int>(rank), lists[rank]);
  }
}

const PipelineMessage* Messages::after(StagePlace place, const Action& action) const {
  const auto at = output(place, action);
  return at && messages_[*at] ? &*messages_[*at] : nullptr;
}

const PipelineMessage* Messages::before(StagePlace place, const Action& action) const {
  const auto at = input(place, action);
  return at && messages_[*at] ? &*messages_[*at] : nullptr;
}

std::size_t Messages::slot(bool gradient, int stage, int micro_batch) const {
  const auto row =
      static_cast<std::size_t>(stage) + static_cast<std::size_t>(gradient ? stages_ : 0);
  return row * static_cast<std::size_t>(shape_.micro_batches) +
         static_cast<std::size_t>(micro_batch);
}

/// By the stage that takes it: the next one's activation, or the previous one's gradient.
std::optional<std::size_t> Messages::output(StagePlace place, const Action& action) const {
  const bool gradient = action.pass != Pass::forward;
  const int taker = stage_of(placement_, place, shape_) + (gradient ? -1 : 1);
  if (action.pass == Pass::weight_gradient || taker < 0 || taker == stages_) {
    return std::nullopt;
  }
  return slot(gradient, taker, action.micro_batch);
}

std::optional<std::size_t> Messages::input(StagePlace place, const Action& action) const {
  const int stage = stage_of(placement_, place, shape_);
  const bool gradient = action.pass != Pass::forward;
  if (action.pass == Pass::weight_gradient || stage == (gradient ? stages_ - 1 : 0)) {
    return std::nullopt;
  }
  return slot(gradient, stage, action.micro_batch);
}

void Messages::send_all(int rank, const ActionList& list) {
  std::array<std::uint32_t, 2> sent{};
  for (const std::uint32_t first : units_of(list)) {
    for (const std::size_t index : sending_order(list, first)) {
      send({.rank = rank, .chunk = list[index].chunk}, list[index], sent);
    }
  }
}

void Messages::send(StagePlace place, const Action& action, std::array<std::uint32_t, 2>& sent) {
  const auto at = output(place, action);
  if (!at) {
    return;
  }
  const int stage = stage_of(placement_, place, shape_);
  const int taker = action.pass == Pass::forward ? stage + 1 : stage - 1;
  const int to = place_of(placement_, taker, place.chunk, shape_).rank;
  if (to == place.rank) {
    return;
  }
  const bool onward = to == (place.rank + 1) % shape_.stages;
  ensure(onward || place.rank == (to + 1) % shape_.stages, "stages that follow are on neighbours");
  messages_[*at] = PipelineMessage{.from = place.rank,
                                   .to = to,
                                   .onward = onward,
                                   .number = ++sent[onward ? 1 : 0],
                                   .unit = 0,
                                   .duration = to_ticks(costs_->send_after(place, action.pass))};
}

void Messages::receive_all(int rank, const ActionList& list) {
  const std::vector<std::uint32_t> units = units_of(list);
  for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
    const std::size_t first = units[unit];
    for (std::size_t i = first; i < first + done_together(list, first); ++i) {
      const auto at = input({.rank = rank, .chunk = list[i].chunk}, list[i]);
      if (at && messages_[*at]) {
        messages_[*at]->unit = unit;
      }
    }
  }
}

}  // namespace titer
