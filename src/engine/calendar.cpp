#include "titer/engine/calendar.hpp"

#include <algorithm>
#include <bit>

namespace titer {
namespace {

template <class Node>
[[nodiscard]] Ticks earliest_of(const Node& node) {
  return std::min(std::min(std::min(node[0], node[1]), std::min(node[2], node[3])),
                  std::min(std::min(node[4], node[5]), std::min(node[6], node[7])));
}

/// Bit c is set if child c has this tick.
template <class Node>
[[nodiscard]] unsigned children_at(const Node& node, Ticks tick) {
  unsigned children = 0;
  for (unsigned c = 0; c < node.size(); ++c) {
    children |= static_cast<unsigned>(node[c] == tick) << c;
  }
  return children;
}

}  // namespace

void Calendar::reset(std::size_t slots) {
  std::size_t nodes = 0;
  std::size_t width = slots;
  height_ = 0;
  do {
    width = (width + fan_out - 1) / fan_out;
    level_begin_[height_++] = nodes;
    nodes += std::max<std::size_t>(width, 1);
  } while (width > 1);
  Node empty;
  empty.fill(never);
  nodes_.assign(nodes, empty);
  found_.resize(nodes);
}

void Calendar::move(std::uint32_t slot, Ticks tick) {
  std::size_t child = slot;
  for (std::size_t level = 0; level < height_; ++level) {
    Node& siblings = node(level, child / fan_out);
    Ticks& mine = siblings[child % fan_out];
    if (mine == tick) {
      return;
    }
    mine = tick;
    tick = earliest_of(siblings);
    child /= fan_out;
  }
}

Ticks Calendar::earliest() const { return earliest_of(nodes_.back()); }

Ticks Calendar::take_earliest(std::vector<std::uint32_t>& due) {
  due.clear();
  const Ticks tick = earliest_of(nodes_.back());
  if (tick != never && !take_only(tick, due)) {
    find(tick);
    for (std::size_t i = found_begin_[0]; i < found_end_[0]; ++i) {
      Node& slots = node(0, found_[i]);
      for (unsigned at = children_at(slots, tick); at != 0; at &= at - 1) {
        const auto child = static_cast<std::uint32_t>(std::countr_zero(at));
        slots[child] = never;
        due.push_back(found_[i] * fan_out + child);
      }
    }
    settle();
  }
  return tick;
}

// Most ticks have one alarm: a single path down and up again. If there are more, takes none.
bool Calendar::take_only(Ticks tick, std::vector<std::uint32_t>& due) {
  std::uint32_t slot = 0;
  for (std::size_t level = height_; level-- > 0;) {
    const unsigned at = children_at(node(level, slot), tick);
    if ((at & (at - 1)) != 0) {
      return false;
    }
    slot = slot * fan_out + static_cast<std::uint32_t>(std::countr_zero(at));
  }
  due.push_back(slot);
  Ticks earliest_below = never;
  for (std::size_t level = 0; level < height_; ++level) {
    Node& siblings = node(level, slot / fan_out);
    siblings[slot % fan_out] = earliest_below;
    earliest_below = earliest_of(siblings);
    slot /= fan_out;
  }
  return true;
}

void Calendar::find(Ticks tick) {
  std::size_t end = 0;
  found_begin_[height_ - 1] = end;
  found_[end++] = 0;
  found_end_[height_ - 1] = end;
  for (std::size_t level = height_ - 1; level > 0; --level) {
    found_begin_[level - 1] = end;
    for (std::size_t i = found_begin_[level]; i < found_end_[level]; ++i) {
      for (unsigned at = children_at(node(level, found_[i]), tick); at != 0; at &= at - 1) {
        found_[end++] = found_[i] * fan_out + static_cast<std::uint32_t>(std::countr_zero(at));
      }
    }
    found_end_[level - 1] = end;
  }
}

// Right after the alarms are taken, not when the next are asked for: the processor can do this
// while it waits for the tasks that the alarms are about.
void Calendar::settle() {
  for (std::size_t level = 0; level + 1 < height_; ++level) {
    for (std::size_t i = found_begin_[level]; i < found_end_[level]; ++i) {
      const std::uint32_t index = found_[i];
      node(level + 1, index / fan_out)[index % fan_out] = earliest_of(node(level, index));
    }
  }
}

}  // namespace titer
