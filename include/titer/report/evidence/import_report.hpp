#pragma once
// What was imported, as a short text.

#include <string>

#include "titer/import/import_figures.hpp"

namespace titer {

[[nodiscard]] std::string import_summary(const Transformer& model, const ImportedRun& imported);

/// What was not understood, what is left open and what was assumed: a line each.
[[nodiscard]] std::string import_remarks(const ImportedRun& imported);

}  // namespace titer
