#pragma once
// What a question is about, made of what was given.

#include "titer/ask/asked.hpp"
#include "titer/scenario/load_part.hpp"

namespace titer {

/// Whether there is any: a document, or a name.
[[nodiscard]] inline bool is_asked(const Asked& asked) {
  const auto* const name = std::get_if<std::string>(&asked.what);
  return name == nullptr || !name->empty();
}

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

/// A cluster with its changes.
[[nodiscard]] inline Cluster cluster_of(const Asked& asked) {
  return resolved(
      asked,
      [&](const std::string& name) { return load_cluster(Value(name), asked.changes); },
      [&](const Document& document) { return load_cluster(document, asked.changes); });
}

}  // namespace titer
