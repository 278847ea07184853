#pragma once
// What is moved beside the passes of a block: as much as their compute hides, and the rest.

#include <algorithm>

#include "titer/cost/cost.hpp"

namespace titer {

/// A pass, and what comes to it besides what its block does by itself.
class PassSlot {
 public:
  PassSlot(const PassCost& own, double slowdown)
      : room_(std::max(Seconds{}, own.compute - (own.comm_total() - own.comm()))),
        slowdown_(slowdown) {}

  void expose(Seconds time, PassComm of) {
    more_.exposed[of] += time;
    more_.transfers[of] += time;
  }
  /// As far as there is room; the rest. Copies to and from the host take no kernels of the device,
  /// which has engines for them, and slow nothing.
  Seconds hide(Seconds time, PassComm of) {
    const Seconds hidden = std::min(time, room_);
    room_ -= hidden;
    more_.transfers[of] += hidden;
    more_.compute += (of == PassComm::host ? 0.0 : slowdown_ - 1.0) * hidden;
    return time - hidden;
  }
  void put(Seconds time, PassComm of, bool beside) { expose(beside ? hide(time, of) : time, of); }
  [[nodiscard]] const PassCost& more() const { return more_; }

 private:
  Seconds room_;
  double slowdown_;
  PassCost more_;
};

}  // namespace titer
