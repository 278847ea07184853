#pragma once
// How the answers of two scenarios compare, and whether they answer the same question.

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/whatif/difference.hpp"

namespace titer {

/// What a step is to do, or with how many devices: a time alone says nothing where it differs.
struct AskedValue {
  std::string_view key;    // in JSON and CSV
  std::string_view words;  // in text
  Value a;
  Value b;
  bool differs = false;
};
[[nodiscard]] std::vector<AskedValue> asked_values(const Difference& found);

/// Of B over A, by their names in JSON and CSV.
[[nodiscard]] std::array<std::pair<std::string_view, double>, 4> named_ratios(
    const Difference& found);

/// "B takes 19.17 s on 32 devices where A takes 18.01 s on 64: 1.06 times as long, 0.532 times the
/// device-seconds", and what else of the question differs.
[[nodiscard]] std::string verdict_text(const Difference& found);

}  // namespace titer
