#pragma once
// The terminal that standard output is, where it is one.

#include "titer/view/text_view.hpp"

namespace titer {

/// How standard output shows a text: as it is, where it is a file or a pipe.
[[nodiscard]] TextStyle terminal_style();

}  // namespace titer
