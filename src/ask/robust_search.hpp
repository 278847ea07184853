#pragma once
// How long the plans of a search take over the spread of the figures behind them.

#include "titer/calibrate/posterior.hpp"
#include "titer/search/search.hpp"

namespace titer {

/// find_chances() with the plans' times drawn. `told`: as drawn_times() has it.
void tell_chances(const Search& search, const Posterior* told, SearchAnswer& answer);

/// The plans with the least expected times.
[[nodiscard]] SearchAnswer most_robust(const Search& search,
                                       const SearchOptions& options,
                                       const Posterior* told);

}  // namespace titer
