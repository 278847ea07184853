#pragma once
// Which knobs of a run to turn: the same model, devices and batch, with one value of the plan or of
// the number formats after another in the place of what the run has, then two of the best together.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "titer/plan/abilities.hpp"
#include "titer/whatif/scenario_probe.hpp"

namespace titer {

/// A value that a change puts in the place of another; of what the plan leaves to the stack or the
/// model, in the place of theirs.
struct KnobValue {
  std::string path;  // "plan.recompute"
  Value from;
  Value to;  // null: left out
};

/// What became of a change.
enum class TuneOutcome {
  faster,
  same,  // to the rounding of durations
  slower,
  over_memory,      // does not fit, or leaves too little free
  beyond_software,  // the run's software cannot do it
  unsound,
};
inline constexpr std::array<Choice<TuneOutcome>, 6> kTuneOutcomes = {
    {{"faster", TuneOutcome::faster},
     {"same", TuneOutcome::same},
     {"slower", TuneOutcome::slower},
     {"over_memory", TuneOutcome::over_memory},
     {"beyond_software", TuneOutcome::beyond_software},
     {"unsound", TuneOutcome::unsound}}};
[[nodiscard]] constexpr std::string_view name(TuneOutcome outcome) {
  return kTuneOutcomes[static_cast<std::size_t>(outcome)].name;
}

struct Tuning {
  std::vector<std::string> knobs;  // "recompute", "tensor and data"; two of a pair
  std::vector<KnobValue> values;
  TuneOutcome outcome = TuneOutcome::unsound;
  std::string reason{};  // of the last two and over_memory

  // What follows is of a change that is sound.
  Seconds iteration_time{};
  double gain = 0;  // of the run's time: 0.02 is 2 % less of it
  Bytes peak{};
  Bytes spare{};             // of the fullest device's memory; below zero where it does not fit
  double odds = 0;           // that measured runs come in the same order (gain_odds)
  bool same_numbers = true;  // no number format is another

  [[nodiscard]] std::vector<Assignment> assignments() const;
  /// What is measured of this change where `measured` is of the run as it is.
  [[nodiscard]] Seconds of_measured(Seconds measured) const { return (1 - gain) * measured; }
};

struct TuneAnswer {
  std::vector<Tuning> singles;  // every change by itself: by outcome, the fastest first
  std::vector<Tuning> pairs;    // two knobs together that are faster than either alone, likewise
  std::size_t pairs_tried = 0;
  bool run_fits = true;
  Bytes kept_free{};  // of a device's memory: what leaves less is over_memory

  [[nodiscard]] std::size_t count(TuneOutcome outcome) const;
  /// The fastest change that fits; without `other_numbers` of those that keep the number formats.
  /// nullptr where that is the run as it is, or where it does not fit and nothing else does.
  [[nodiscard]] const Tuning* best(bool other_numbers) const;
};

/// How sure a predicted gain is: the share of pairs of measured runs, the same but for their plans
/// and predicted to be so far apart, that came in the predicted order. Mean over the families of
/// runs that have such pairs. (tests/measured/gain_odds_test.cpp counts them.)
struct GainOdds {
  double least_gain = 0;  // from this on, of the slower one's time
  double odds = 0;
};
inline constexpr std::array<GainOdds, 3> kGainOdds = {{{0.0, 0.68}, {0.05, 0.83}, {0.2, 0.99}}};
[[nodiscard]] double gain_odds(double gain);

/// "sure" where nine of ten measured pairs came in the predicted order, "likely" seven of ten,
/// otherwise "within error".
[[nodiscard]] std::string_view odds_words(double odds);

/// Tries what the abilities allow. Changes keep kMemoryError of a device's memory free, or as much
/// as the run itself. Two together are tried of the best by themselves with each of the others;
/// simulated ones, which take longer, only of those that gain and fit.
[[nodiscard]] TuneAnswer tune(ScenarioProbe& probe, const Abilities& abilities);

}  // namespace titer
