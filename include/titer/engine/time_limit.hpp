#pragma once
// Timelines that picoseconds of 64 bits cannot count.

#include "titer/units/ensure.hpp"

namespace titer {

/// A timeline that would go on beyond kMaxTicks. Whoever runs durations that a user asked for
/// catches it; otherwise it is a defect like any other.
struct TimelineTooLong : Defect {
  TimelineTooLong() : Defect("a timeline must end before 2^62 picoseconds") {}
};

inline void ensure_in_time(bool condition) {
  if (!condition) {
    throw TimelineTooLong();
  }
}

}  // namespace titer
