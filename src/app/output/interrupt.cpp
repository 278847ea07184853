#include "interrupt.hpp"

#include <csignal>

namespace titer {
namespace {

// What a signal handler reaches can only be global.
std::atomic<bool> interrupt_requested = false;  // NOLINT(*-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_interrupt(int signal) {
  interrupt_requested = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  interrupt_requested = false;
  for (const int signal : {SIGINT, SIGTERM}) {
    // A command in the background of a script has Ctrl-C ignored, and keeps it so.
    if (std::signal(signal, note_interrupt) == SIG_IGN) {
      std::signal(signal, SIG_IGN);
    }
  }
}

Interrupt::~Interrupt() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) {
      std::signal(signal, SIG_IGN);
    }
  }
}

const std::atomic<bool>& Interrupt::requested() const { return interrupt_requested; }

}  // namespace titer
