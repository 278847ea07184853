#pragma once
// Shipped runs as tests change them, and what is wrong with them.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenario/scenarios.hpp"

namespace titer::source_texts {

using Lines = std::vector<std::string>;
using scenarios::shipped_run;
using scenarios::shipped_source;

/// What goes wrong in `action`.
template <class Action>
inline Lines complaints(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

inline Lines complaints_about(const std::string& assignment) {
  return complaints([&] { (void)shipped_run({assignment}); });
}

}  // namespace titer::source_texts
