#pragma once
// Ctrl-C, and a scheduler's request to end, for commands that can be gone on with.

#include <atomic>

namespace titer {

/// As long as it lives, the first SIGINT or SIGTERM sets requested(); a second one ends the process
/// at once, as does the first without this. There is one at a time.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  [[nodiscard]] const std::atomic<bool>& requested() const;
};

}  // namespace titer
