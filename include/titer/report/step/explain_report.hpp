#pragma once
// An explanation, as it is read.

#include <vector>

#include "titer/explain/explain.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row for each term.
[[nodiscard]] View explain_view(const std::vector<Section>& sections);

}  // namespace titer
