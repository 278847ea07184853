#pragma once
// How the exchanges of experts may be overlapped.

#include <vector>

#include "titer/scenario/scenario.hpp"

namespace titer {

/// What is wrong with how exchanges of experts are overlapped: tokens that are gathered are
/// beside nothing else, and there is one way to overlap at a time.
[[nodiscard]] std::vector<Violation> refused_overlaps(ExpertDispatch dispatch,
                                                      bool overlap,
                                                      bool shared);

}  // namespace titer
