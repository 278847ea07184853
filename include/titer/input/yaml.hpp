#pragma once
// YAML as a document: other programs' files are written in it.

#include <string>
#include <string_view>

#include "titer/input/document.hpp"

namespace titer {

inline constexpr int kMostForeignValues = 100'000;  // of a document of another program's

/// The first document of a YAML text. Plain words are typed as YAML 1.1 usually is (true, 12, 1e-5,
/// null); aliases are written out; of a key given twice the last one counts. Throws InputError with
/// the place of a syntax error, a number that is not finite, nesting deeper than kDeepest, or more
/// than kMostForeignValues.
[[nodiscard]] Document parse_yaml(std::string_view text, std::string source_name);

}  // namespace titer
