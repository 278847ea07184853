#pragma once
// What a question is about, made of what was given.

#include "titer/ask/asked.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// What `load` makes of a name, or `read` of a document.
template <class Load, class Read>
[[nodiscard]] auto resolved(const Asked& asked, const Load& load, const Read& read) {
  const auto* const name = std::get_if<std::string>(&asked.what);
  return name != nullptr ? load(*name) : read(std::get<Document>(asked.what));
}

/// The scenario with its changes, not yet checked.
[[nodiscard]] inline ScenarioSource source_of(const Asked& asked) {
  ScenarioSource source = resolved(
      asked,
      [](const std::string& name) { return ScenarioSource::load(name); },
      [](const Document& document) { return ScenarioSource(document); });
  for (const Assignment& change : asked.changes) {
    source.assign(change);
  }
  return source;
}

}  // namespace titer
