#pragma once
// Computing a sweep's points on several threads, and handing on their rows in order.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "titer/study/sweep.hpp"

namespace titer {

struct SweepOptions {
  unsigned threads = 1;
  Fidelity fidelity = Fidelity::closed;
};

/// Computes all points on `threads` threads; `format` makes a point's text (called on any thread),
/// `emit` takes the texts in order, with the number of points done (called on this thread).
void run_sweep(const Sweep& sweep,
               const SweepOptions& options,
               const std::function<std::string(const SweepPoint&)>& format,
               const std::function<void(std::string_view, std::size_t)>& emit);

}  // namespace titer
