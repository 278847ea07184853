#pragma once
// A question as JSON, and its answer as JSON: what the page asks, in a browser or of `titer serve`,
// and any other program that would rather write JSON than link the library.

#include <array>
#include <functional>
#include <string_view>
#include <utility>

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

/// What a question may ask for in place of figures.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kAnswerForms = {
    {{"report", "a page of HTML in place of the figures"}, {"csv", "a table in place of them"}}};
/// What a question as JSON may hold; the page's own are left out.
[[nodiscard]] Value question_schema();

}  // namespace titer
