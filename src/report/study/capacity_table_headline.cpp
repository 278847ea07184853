#include "capacity_table_headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capacity_figures.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// "llama3-70b on dgx-b200: 896 devices (58.3 days, 3.2M dollars)"
std::string row_words(const CapacityRow& row) {
  return fmt::format("{} on {}: {} devices ({})",
                     row.of->model,
                     row.of->cluster,
                     row.point->devices,
                     cost_words(*row.of->question, *row.point));
}

bool has_dollars(const CapacityRow& row) {
  return row.point && row.point->bill && row.point->bill->dollars;
}

/// Of the rows that will do those that are the best by something, each once.
Figures best_of_all(CapacityRows rows) {
  Figures figures;
  for (const auto& [order, words] : {std::pair(RowOrder::devices, "fewest devices"),
                                     std::pair(RowOrder::dollars, "cheapest"),
                                     std::pair(RowOrder::days, "soonest")}) {
    sort_rows(order, rows);
    const CapacityRow& best = rows.front();
    if (!best.possible() || (order == RowOrder::dollars && !has_dollars(best))) {
      continue;
    }
    const std::string found = row_words(best);
    const auto same = std::ranges::find_if(
        figures, [&](const Figure& figure) { return figure.datum.words() == found; });
    if (same == figures.end()) {
      figures.push_back({"", found, words});
    } else {
      same->label += std::string(", ") + words;
    }
  }
  return figures;
}

}  // namespace

Figures best_rows(const CapacityRows& rows) {
  std::vector<std::string> models;
  for (const CapacityRow& row : rows) {
    if (!includes(models, row.of->model)) {
      models.push_back(row.of->model);
    }
  }
  if (models.size() < 2) {
    return best_of_all(rows);
  }
  Figures figures;
  for (const std::string& model : models) {
    CapacityRows own = rows;
    std::erase_if(own, [&](const CapacityRow& row) { return row.of->model != model; });
    sort_rows(RowOrder::dollars, own);
    const bool by_dollars = own.front().possible() && has_dollars(own.front());
    if (!by_dollars) {
      sort_rows(RowOrder::devices, own);
    }
    if (own.front().possible()) {
      figures.push_back(
          {"",
           row_words(own.front()),
           fmt::format("{} for {}", by_dollars ? "cheapest" : "fewest devices", model)});
    }
  }
  return figures;
}

}  // namespace titer
