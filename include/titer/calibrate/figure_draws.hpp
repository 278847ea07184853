#pragma once
// How long plans take where the figures that predictions rest on are others, as far off as their
// evidence lets them be.

#include <cstddef>
#include <span>
#include <vector>

#include "titer/calibrate/posterior.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// Half of the draws are the others with the opposite sign: what a figure moves one way, it moves
/// the other way as often.
inline constexpr std::size_t kFigureDraws = 64;

/// Of plans in place of the scenario's, which was read from there: the time of each with the
/// figures of each draw, over that with the scenario's; kFigureDraws for each plan, the same for
/// all. `told`: the figures were learned from runs, and are off as these leave it. Where the first
/// plan's error bar is narrower than they make it, all are off by as much less: what a fit to many
/// runs leaves open of one figure, others make up for.
[[nodiscard]] std::vector<std::vector<double>> drawn_times(const ScenarioSource& source,
                                                           const Scenario& scenario,
                                                           std::span<const Plan> plans,
                                                           const Posterior* told = nullptr);

}  // namespace titer
