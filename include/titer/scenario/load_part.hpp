#pragma once
// A part of a scenario by itself: a name or an object, with changes whose paths begin with the
// part's name.

#include <span>

#include "titer/scenario/source.hpp"

namespace titer {

/// Throws InputError.
[[nodiscard]] Cluster load_cluster(Value cluster, std::span<const Assignment> changes = {});
[[nodiscard]] Cluster load_cluster(const Document& cluster, std::span<const Assignment> changes);
[[nodiscard]] Model load_model(Value model, std::span<const Assignment> changes = {});

}  // namespace titer
