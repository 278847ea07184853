#pragma once
// What is added to an answer: what was asked, in tables; what reports alone have.

#include <string>

#include "titer/ask/asked.hpp"
#include "titer/estimate/result.hpp"
#include "titer/scenario/source.hpp"
#include "titer/trace/training_log.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// "llama3-70b-64xh100 --set plan.tensor=4": a document by its title or name.
[[nodiscard]] std::string words_of(const Asked& asked);
/// Of each row of its table, what was asked in words and what else tells of it.
void add_asked(const Asked& asked, const Figures& columns, View& view);
/// The same of a scenario.
void add_asked(const Asked& asked, const Scenario& scenario, View& view);
/// A note where a log is of another batch than the step, of so many samples, that it is compared
/// with: else the answer misleads.
void note_other_batch(const TrainingLog& log, double samples, const StepResult& step, View& view);
/// Every term of the scenario's closed form, where it has one.
void add_terms(const Scenario& scenario, View& view);
/// The whole scenario, figures, sources and all, as a file to run. `name`: "the scenario".
void add_inputs(const ScenarioSource& source, const std::string& name, View& view);

}  // namespace titer
