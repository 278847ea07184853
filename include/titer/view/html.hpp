#pragma once
// An answer as a report: one HTML file that needs no other and no network.

#include <string>

#include "titer/view/view.hpp"

namespace titer {

/// Where a report comes from.
struct ReportOrigin {
  std::string command;  // to be typed, to make it again
  std::string version;  // of the program
};

/// Headline, notes, pictures, then all that the text has, appendices and the tree. It is
/// well-formed XML, too. The same view and origin are the same bytes.
[[nodiscard]] std::string html_of(const View& view, const ReportOrigin& origin);

/// Headline, notes, pictures and text alone, as elements that a page with html_style() holds.
[[nodiscard]] std::string html_fragment_of(const View& view);
/// How reports look: for a page that shows answers.
[[nodiscard]] std::string html_style();

}  // namespace titer
