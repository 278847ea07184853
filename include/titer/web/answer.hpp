#pragma once
// A question as JSON, and its answer as JSON: what the page asks, in a browser or of `titer serve`,
// and any other program that would rather write JSON than link the library.

#include <functional>
#include <string_view>

#include "titer/input/document.hpp"

namespace titer {

/// How a question may be answered.
struct WebLimits {
  unsigned threads = 1;
  bool may_read_files = false;  // those that a scenario names beside shipped data
  /// True: a search answers with what it has found so far.
  std::function<bool()> is_late = {};
};

/// Answers {"question": "run", …}; docs/guide/page.md has all of them. What is wrong with the
/// question is the answer: {"errors": […]}. `source` is what errors call the text.
[[nodiscard]] Value web_answer(std::string_view question,
                               std::string_view source,
                               const WebLimits& limits);

}  // namespace titer
