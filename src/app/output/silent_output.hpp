#pragma once
// Standard output that leads nowhere, while a command is run for its answer alone.

namespace titer {

class SilentOutput {
 public:
  /// Throws InputError where the system refuses it.
  SilentOutput();
  SilentOutput(const SilentOutput&) = delete;
  SilentOutput& operator=(const SilentOutput&) = delete;
  /// As it was before.
  ~SilentOutput();

 private:
  int before_;
};

}  // namespace titer
