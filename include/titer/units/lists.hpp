#pragma once
// Lists as a whole: whether something is among their members, what each comes to.

#include <algorithm>
#include <functional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace titer {

/// Whether one of the list, or what `of` (a member or a function) says of it, is that value.
template <std::ranges::input_range List, class T, class Of = std::identity>
[[nodiscard]] constexpr bool includes(const List& list, const T& value, const Of& of = {}) {
  return std::ranges::find(list, value, of) != std::ranges::end(list);
}

/// The first of a list of which `of` says that value; none: nullptr.
template <std::ranges::input_range List, class T, class Of = std::identity>
[[nodiscard]] constexpr auto* first_with(List& list, const T& value, const Of& of = {}) {
  const auto found = std::ranges::find(list, value, of);
  return found == std::ranges::end(list) ? nullptr : &*found;
}

/// What `of` says of each of a list.
template <std::ranges::input_range List, class Of>
[[nodiscard]] auto each_of(List&& list, const Of& of) {
  std::vector<std::decay_t<std::invoke_result_t<const Of&, std::ranges::range_reference_t<List>>>>
      all;
  if constexpr (std::ranges::sized_range<List>) {
    all.reserve(std::ranges::size(list));
  }
  for (auto&& one : list) {
    all.push_back(std::invoke(of, one));
  }
  return all;
}

}  // namespace titer
