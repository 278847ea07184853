#pragma once
// How well a few runs of a family tell of its others.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/calibrate/calibration.hpp"
#include "titer/measured/measured_runs.hpp"

namespace titer {

/// Runs of one family, by one software on one chip, of which some are given.
struct GivenTrial {
  std::string family;
  std::string stack;
  std::string chip;
  std::vector<std::string> given;      // names of the runs that were
  Accuracy before;                     // of the others, without any
  Accuracy after;                      // of them, with what the given runs tell
  std::optional<double> coverage80{};  // share of the others inside their error bar, with it
};

/// A family needs so many runs to be tried, and more than are given.
inline constexpr std::size_t kLeastTried = 10;

/// Every family, software and chip of kLeastTried runs or more, by name. Given are of its runs, in
/// the order of what is predicted of them, `given` that are spread evenly: the shortest, …, the
/// longest. Nothing of what was measured of others is used. REQUIRES given > 0. `watch`: trials
/// done, and all of them.
[[nodiscard]] std::vector<GivenTrial> try_given(
    std::span<const MeasuredRun> runs,
    std::size_t given,
    const std::function<void(std::size_t, std::size_t)>& watch = {});

}  // namespace titer
