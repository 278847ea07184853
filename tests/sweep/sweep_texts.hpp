#pragma once
// What is wrong with sweeps.

#include <string>
#include <string_view>
#include <vector>

#include "sweep/sweeps.hpp"
#include "titer/input/input_error.hpp"

namespace titer::testing::sweep_texts {

using Lines = std::vector<std::string>;

/// What is wrong with a sweep of the small scenario.
inline Lines problems_of(std::string_view rest) {
  try {
    static_cast<void>(read_small_sweep(rest));
  } catch (const InputError& error) {
    Lines lines = error.lines;
    for (std::string& line : lines) {
      line.erase(0, line.find(": ") + 2);  // the place
    }
    return lines;
  }
  return {};
}

}  // namespace titer::testing::sweep_texts
