#include "course_document.hpp"

#include <fmt/format.h>

#include "titer/scenario/named_scenario.hpp"

namespace titer {

CourseDocument::CourseDocument(Document file, std::span<const Assignment> changes)
    : document(std::move(file)) {
  for (const Assignment& change : changes) {
    if (scenario_part(change.path)) {
      for_scenarios.push_back(change);
    } else {
      assign(document, change);
    }
  }
}

ScenarioSource CourseDocument::source(const Value& written) const {
  ScenarioSource source(scenario_document(document, written));
  for (const Assignment& change : for_scenarios) {
    source.assign(change);
  }
  return source;
}

std::vector<Assignment> read_set(Reader& in, const Document& document) {
  std::vector<Assignment> changes;
  auto set = in.maybe_object("set");
  if (!set) {
    return changes;
  }
  for (const std::string& path : set->keys()) {
    const Value* value = set->raw(path);
    if (!scenario_part(path)) {
      set->fail(path,
                "expected a path into model, cluster, stack, plan, training, formula or "
                "conditions, such as \"plan.data\"");
      continue;
    }
    changes.push_back({.path = path, .value = *value, .source = document.where(value->origin)});
  }
  return changes;
}

Scenario changed(ScenarioSource& source,
                 const std::vector<Assignment>& changes,
                 const std::string& whose) {
  try {
    for (const Assignment& change : changes) {
      source.assign(change);
    }
    return source.read();
  } catch (const InputError& error) {
    std::vector<std::string> lines = error.lines;
    for (std::string& line : lines) {
      line += fmt::format(" (in {})", whose);
    }
    throw InputError(lines);
  }
}

Seconds read_duration(Reader& in) {
  const auto time = in.quantity<Seconds>("time");
  if (in.has("time") && time == Seconds{}) {
    in.fail("time", "expected a time above zero");
  }
  return time;
}

}  // namespace titer
