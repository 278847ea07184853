#pragma once
// The numbered equations of the documents that Titer set out to reproduce, by name: what each takes
// and gives as plain numbers in SI units, and where it is at home. Each calls its home; none is
// written here.

#include <span>
#include <string_view>

#include "titer/input/expression.hpp"

namespace titer {

struct NamedEquation {
  std::string_view name;     // "E13"
  std::string_view title;    // "parameter servers"
  std::string_view home;     // "titer/collectives/algorithm/server.hpp"
  std::string_view inputs;   // names, with blanks between them
  std::string_view outputs;  // likewise
  NamedNumbers (*compute)(std::span<const double> inputs);  // in the order of `inputs`
  std::string_view executed = {};  // those outputs that come of executing something
};

[[nodiscard]] std::span<const NamedEquation> equations();

/// Whether an output of an equation comes of executing what the equation is about (tasks, passes,
/// products), not of the formula itself.
[[nodiscard]] bool is_executed(std::string_view equation, std::string_view output);

/// Throws InputError for a name that is not known (with the closest), and for inputs that are
/// missing or too many.
[[nodiscard]] NamedNumbers compute_equation(std::string_view name, const NamedNumbers& inputs);

}  // namespace titer
