#include "titer/units/listed.hpp"

#include <cstddef>

namespace titer {

void add_listed(std::string& list, std::string_view part, std::string_view between) {
  if (!list.empty()) {
    list += between;
  }
  list += part;
}

std::string listed_to_last(std::span<const std::string> items, std::string_view before_last) {
  std::string list;
  for (std::size_t i = 0; i < items.size(); ++i) {
    add_listed(list, items[i], i + 1 == items.size() ? before_last : ", ");
  }
  return list;
}

}  // namespace titer
