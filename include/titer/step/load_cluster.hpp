#pragma once

#include <span>

#include "titer/step/source.hpp"

namespace titer {

/// A cluster by itself: a name, or an object, with changes whose paths begin with "cluster".
/// Throws InputError.
[[nodiscard]] Cluster load_cluster(Value cluster, std::span<const Assignment> changes);

}  // namespace titer
