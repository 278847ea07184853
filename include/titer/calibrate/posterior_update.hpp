#pragma once
// A scenario's figures as the user's own measured runs have them, put into it as `--set` would,
// before anything is asked of it.

#include <span>
#include <string>
#include <vector>

#include "titer/calibrate/posterior.hpp"
#include "titer/input/document.hpp"

namespace titer {

/// What runs change of a scenario.
struct LearnedChanges {
  std::vector<Assignment> changes;  // of its figures, their sources, and error bars
  std::vector<std::string> notes;   // what was told by which runs, a line each
};

/// What runs tell of what a source asks; of all runs alike where it leaves something open.
[[nodiscard]] Posterior learn_for(const ScenarioSource& source, std::span<const MeasuredRun> runs);

/// `posterior`: of `runs`, which were read from `files`. Figures at which one of `given` puts a
/// value keep it. Error bars change where runs of the scenario's software on its chip are among
/// them: where four of five measured iterations are, by predicted_spread() of the scenario where
/// the posterior is of runs like it, else of the runs. Throws InputError where the runs have
/// neither the scenario's stack nor its chip nor its cluster.
[[nodiscard]] LearnedChanges learned_changes(const Posterior& posterior,
                                             std::span<const MeasuredRun> runs,
                                             const std::string& files,
                                             const ScenarioSource& source,
                                             std::span<const Assignment> given);

}  // namespace titer
