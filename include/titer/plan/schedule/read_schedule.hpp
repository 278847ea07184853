#pragma once

#include <cstddef>
#include <span>

#include "titer/input/reader.hpp"
#include "titer/plan/schedule/schedule.hpp"

namespace titer {

/// The schedules that have a name, and their places in the list.
[[nodiscard]] std::span<const Choice<std::size_t>> schedule_choices();
/// With what they are also called where ranks have several chunks: "interleaved".
[[nodiscard]] std::span<const Choice<std::size_t>> schedule_words();

/// The member "schedule": a name, or a file of actions; 1F1B where it is left out. A name that says
/// that ranks have several chunks needs how many.
[[nodiscard]] Schedule read_schedule(Reader& in);

}  // namespace titer
