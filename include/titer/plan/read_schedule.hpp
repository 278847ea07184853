#pragma once

#include "titer/input/reader.hpp"
#include "titer/plan/schedule.hpp"

namespace titer {

/// The member "schedule": a name, or a file of actions; 1F1B where it is left out.
[[nodiscard]] Schedule read_schedule(Reader& in);

}  // namespace titer
