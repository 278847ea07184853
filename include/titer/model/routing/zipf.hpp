#pragma once
// Zipf's law of experts.

#include "titer/input/schema.hpp"

namespace titer {

/// Of its exponent; beyond the steepest all tokens go to the same few experts.
inline constexpr Range kZipfExponents = {0, 10};

}  // namespace titer
