#pragma once
// Views of an explanation.

#include <string>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/step/explain.hpp"

namespace titer {

[[nodiscard]] std::string explain_text(const std::vector<Section>& sections);
/// Columns: section, term, formula, numbers, value, source.
[[nodiscard]] std::string explain_csv(const std::vector<Section>& sections);
[[nodiscard]] Value explain_json(const std::vector<Section>& sections);

}  // namespace titer
