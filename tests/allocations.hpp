#pragma once
// Counts what the whole test program takes from the free store, so that a test can claim that
// something allocates nothing.

#include <cstddef>

namespace titer::testing {

/// Calls of any form of the global operator new since the program began, on all threads. A claim
/// compares the counts before and after; make no assertion in between, GoogleTest may allocate.
[[nodiscard]] std::size_t allocations();

}  // namespace titer::testing
