#pragma once
// What is moved beside the passes of a block: as much as their compute hides, and the rest.

#include <algorithm>

#include "titer/step/cost.hpp"

namespace titer {

/// Of transfers.
struct MovedTimes {
  Seconds exposed;
  Seconds all;
};

/// What comes to a pass besides what its block does by itself.
struct PassMoved {
  Seconds compute;
  MovedTimes data;
  MovedTimes host;

  void add(double times, const PassMoved& other) {
    compute += times * other.compute;
    for (MovedTimes PassMoved::*of : {&PassMoved::data, &PassMoved::host}) {
      (this->*of).exposed += times * (other.*of).exposed;
      (this->*of).all += times * (other.*of).all;
    }
  }
  /// To a pass, for one of so many places.
  void give(double share, PassCost& pass) const {
    pass.compute += share * compute;
    pass.exposed[PassComm::data] += share * data.exposed;
    pass.transfers[PassComm::data] += share * data.all;
    pass.exposed[PassComm::host] += share * host.exposed;
    pass.transfers[PassComm::host] += share * host.all;
  }
};

/// What comes to the passes of a block.
struct BlockMoved {
  PassMoved forward;
  PassMoved backward;
  PassMoved recompute;
  PassMoved input_gradient;
  PassMoved weight_gradient;

  void add(double times, const BlockMoved& other) {
    forward.add(times, other.forward);
    backward.add(times, other.backward);
    recompute.add(times, other.recompute);
    input_gradient.add(times, other.input_gradient);
    weight_gradient.add(times, other.weight_gradient);
  }
  void give(double share, BlockCost& block) const {
    forward.give(share, block.forward);
    backward.give(share, block.backward);
    recompute.give(share, block.recompute);
    input_gradient.give(share, block.input_gradient);
    weight_gradient.give(share, block.weight_gradient);
  }
};

/// A pass and what runs beside it.
class PassSlot {
 public:
  PassSlot(const PassCost& own, double slowdown)
      : room_(std::max(Seconds{}, own.compute - (own.comm_total() - own.comm()))),
        slowdown_(slowdown) {}

  void expose(Seconds time, MovedTimes PassMoved::*of) {
    (more_.*of).exposed += time;
    (more_.*of).all += time;
  }
  /// As far as there is room; the rest.
  Seconds hide(Seconds time, MovedTimes PassMoved::*of) {
    const Seconds hidden = std::min(time, room_);
    room_ -= hidden;
    (more_.*of).all += hidden;
    more_.compute += (slowdown_ - 1.0) * hidden;
    return time - hidden;
  }
  void put(Seconds time, MovedTimes PassMoved::*of, bool beside) {
    expose(beside ? hide(time, of) : time, of);
  }
  [[nodiscard]] const PassMoved& more() const { return more_; }

 private:
  Seconds room_;
  double slowdown_;
  PassMoved more_;
};

}  // namespace titer
