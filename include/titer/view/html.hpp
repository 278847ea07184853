#pragma once
// Reports of several answers, and parts of pages that show one.

#include <string>
#include <vector>

#include "titer/view/view.hpp"

namespace titer {

/// A question of a document with several, and its answer.
struct AnsweredQuestion {
  std::string question;  // "": what the answer calls itself
  std::string text;      // what its author says of it; may be ""
  std::string command;   // to be typed, to answer it again
  View view;
  bool is_good = true;  // see Answer
};
struct AnswerDocument {
  std::string title;
  std::string text;    // what its author says of all of it; may be ""
  Appendix questions;  // as they were asked
  std::vector<AnsweredQuestion> answers;
};
/// A page with each question and the figures that are read first of its answer, then every answer
/// as a report of its own has it.
[[nodiscard]] std::string html_of(const AnswerDocument& document, const ReportOrigin& origin);

/// Headline, notes, pictures and text alone, as elements that a page with html_style() holds.
[[nodiscard]] std::string html_fragment_of(const View& view);
/// How reports look: for a page that shows answers.
[[nodiscard]] std::string html_style();

}  // namespace titer
