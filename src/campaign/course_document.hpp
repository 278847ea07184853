#pragma once
// What all courses' files have: scenarios with changes, names and durations.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/scenario/source.hpp"

namespace titer {

/// The document with the changes that are not of scenarios, and those that are.
struct CourseDocument {
  Document document;
  std::vector<Assignment> for_scenarios;

  CourseDocument(Document file, std::span<const Assignment> changes);
  /// REQUIRES a value of the document that scenario_value() took.
  [[nodiscard]] ScenarioSource source(const Value& written) const;
};

/// "set": values by the paths of a scenario.
[[nodiscard]] std::vector<Assignment> read_set(Reader& in, const Document& document);

/// The source with these changes, and the scenario that it makes; `whose` goes behind what is
/// wrong.
[[nodiscard]] Scenario changed(ScenarioSource& source,
                               const std::vector<Assignment>& changes,
                               const std::string& whose);

/// "name"; otherwise "phase 3".
[[nodiscard]] std::string read_name(Reader& in, std::string_view kind, std::size_t index);

/// "time": how long something lasts.
[[nodiscard]] Seconds read_duration(Reader& in);

}  // namespace titer
