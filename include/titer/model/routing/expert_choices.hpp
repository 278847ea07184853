#pragma once
// Which experts tokens choose: what a router makes of a batch expert by expert, where
// routing.hpp has the busiest rank only.

#include <cstdint>
#include <optional>
#include <vector>

#include "titer/model/routing/routing.hpp"

namespace titer {

struct ExpertChoices {
  double per_token = 1.0;      // experts that a token wants, on average
  std::vector<double> wanted;  // each expert's share of all choices; they add up to one
  std::vector<double> sent;    // of all choices, what is sent to each: none dropped, all padding
  std::optional<double> capacity{};  // of an expert, for the tokens of one rank
};

/// Arguments and requirements are those of expert_load().
[[nodiscard]] ExpertChoices expert_choices(const Routing& routing,
                                           std::int64_t experts,
                                           std::int64_t per_token,
                                           std::int64_t expert_ranks,
                                           std::int64_t tokens);

}  // namespace titer
