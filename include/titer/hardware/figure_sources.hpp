#pragma once
// What the figures of a data file name as their sources, and the "sources" that the file lists.

#include <set>
#include <string>

#include "titer/input/document.hpp"

namespace titer {

/// Hands every short name of a source that a figure below names to `act`, to read or to change.
template <class AnyValue, class Act>
void each_source(AnyValue& value, const Act& act) {
  if (auto* source = value.find("source"); source != nullptr && source->kind == Value::Kind::text) {
    act(source->text);
  }
  for (auto& [key, member] : value.members) {
    each_source(member, act);
  }
  for (auto& item : value.items) {
    each_source(item, act);
  }
}

/// The sources that figures name.
[[nodiscard]] std::set<std::string> named_sources(const Value& file);

/// Takes those of `among` off the file's list that no figure names.
void drop_unnamed_sources(Value& file, const std::set<std::string>& among);

}  // namespace titer
