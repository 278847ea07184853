#pragma once
// The scenario that a study's file names, or holds.

#include "titer/scenario/source.hpp"

namespace titer {

/// Notes "scenario" as known and returns it; nullptr, with the problem reported, where it is no
/// name, file or object.
[[nodiscard]] const Value* scenario_value(Reader& in);

/// What finds the scenario called `written` from the working folder, too.
[[nodiscard]] std::string run_name(const std::string& written, const Document& scenario);

/// `written` is a value of the study's document.
[[nodiscard]] Document scenario_document(const Document& study, const Value& written);

}  // namespace titer
