#pragma once
// Growing an array by a copy of a part of itself.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace titer {

// `more` may be a view of `list` itself (a task that waits for what another one waits for), so the
// old storage has to live until the copy is made.
inline void append(std::vector<std::uint32_t>& list, std::span<const std::uint32_t> more) {
  const std::size_t needed = list.size() + more.size();
  if (needed <= list.capacity()) {
    for (const std::uint32_t id : more) {
      list.push_back(id);
    }
    return;
  }
  std::vector<std::uint32_t> larger;
  larger.reserve(std::max(needed, 2 * list.size()));
  larger.insert(larger.end(), list.begin(), list.end());
  larger.insert(larger.end(), more.begin(), more.end());
  list.swap(larger);
}

}  // namespace titer
