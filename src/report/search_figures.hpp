#pragma once
// What a plan that was found comes to, as columns of views.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/search/search.hpp"

namespace titer {

/// What a plan comes to, as columns. Costs are of an iteration.
struct FoundFigure {
  std::string_view name;    // of the column in text
  std::string_view column;  // in CSV and JSON, where results have no such
  bool (*exists)(const FoundPlan&);
  std::string (*text)(const FoundPlan&);
  double (*number)(const FoundPlan&);
};
[[nodiscard]] std::span<const FoundFigure> found_figures();
/// Those that some of the plans have.
[[nodiscard]] std::vector<const FoundFigure*> found_figures(const SearchAnswer& answer);

}  // namespace titer
