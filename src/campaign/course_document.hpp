#pragma once
// What all courses' files have: scenarios with changes, names and durations.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/campaign/course.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"
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

/// "time": how long something lasts.
[[nodiscard]] Seconds read_duration(Reader& in);

inline constexpr Range kAmount = {1, 1e15};  // of samples, clients, …

/// A part of a course as its file has it.
struct WrittenPart {
  const Document* document = nullptr;
  std::string name{};
  const Value* scenario = nullptr;
  std::vector<Assignment> changes{};
};

template <class T>
constexpr Field<T> scenario_field(std::string_view about) {
  return fields::of_schema<T, schema::named_data>(
      "scenario",
      [](const Field<T>& /*own*/, Reader& in, T& object) { object.scenario = scenario_value(in); },
      about);
}

template <class T>
constexpr Field<T> changes_field() {
  return fields::special<T>(
             "set",
             {[](const Field<T>& /*own*/, Reader& in, T& object) {
                object.changes = read_set(in, *object.document);
              },
              [](const Field<T>& /*own*/) { return Value::make_object().add("type", "object"); },
              nullptr},
             "what is different in it: paths into the scenario with their values")
      .or_else("nothing");
}

/// Objects of a list with a table of their own; `also` has a look at each.
template <class Part, const auto& table>
std::vector<Part> read_parts(
    Reader& in,
    std::string_view key,
    const Part& empty,
    void (*also)(Reader&) = [](Reader& /*nothing more*/) {}) {
  std::vector<Part> parts;
  for (Reader& one : in.objects(key)) {
    Part part = empty;
    part.name += " " + std::to_string(parts.size() + 1);
    read_fields<Part>(table, one, part);
    also(one);
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Of courses of these kinds what the file says, and what it may say.
[[nodiscard]] TrainingPhases read_phases(Reader& in,
                                         const CourseDocument& file,
                                         Problems& problems,
                                         ScenarioNotes& notes);
[[nodiscard]] Value phases_schema();
[[nodiscard]] SharedJobs read_jobs(Reader& in,
                                   const CourseDocument& file,
                                   Problems& problems,
                                   ScenarioNotes& notes);
[[nodiscard]] Value jobs_schema();

}  // namespace titer
