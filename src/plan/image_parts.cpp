#include "titer/plan/image_parts.hpp"

#include <algorithm>

namespace titer {

std::vector<int> parts_beside(const Plan& plan, int member) {
  const auto columns = static_cast<int>(plan.image_columns);
  const auto parts = static_cast<int>(plan.tensor);
  const int column = member % columns;
  std::vector<int> beside;
  const auto add = [&](bool exists, int other) {
    if (exists) {
      beside.push_back(other);
    }
  };
  add(member >= columns, member - columns);
  add(column > 0, member - 1);
  add(column + 1 < columns, member + 1);
  add(member + columns < parts, member + columns);
  return beside;
}

int most_parts_beside(const Plan& plan) {
  const auto along = [](std::int64_t parts) {
    return static_cast<int>(std::min<std::int64_t>(parts - 1, 2));
  };
  return along(plan.image_columns) + along(plan.tensor / plan.image_columns);
}

}  // namespace titer
