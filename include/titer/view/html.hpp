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

}  // namespace titer
