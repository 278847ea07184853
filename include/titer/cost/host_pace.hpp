#pragma once
// The host that launches what a device does, beside the device.

#include <algorithm>
#include <optional>

#include "titer/units/quantity.hpp"

namespace titer {

/// Of blocks one after another that are alike, what each takes longer than the device is busy: a
/// kernel starts when it was launched and all before it are done, and the host launches one after
/// the other, as far ahead of the device as it gets. Where it waits for the device it has no lead
/// left: from one wait to the next, over the end of a block, both start together. Without waits the
/// slower of them sets the pace.
///
/// A part of a block takes host and device from (h, d) to (h + H, max(d + D, h + B)): the path
/// through the last kernel that waited for its launch is B.
class HostPace {
 public:
  void launch(Seconds time) {
    part_.host += time;
    host_ += time;
  }
  void keep_busy(Seconds time) {
    part_.both = std::max(part_.both, part_.host) + time;
    part_.device += time;
    device_ += time;
  }
  void wait() {
    if (first_) {
      waited_ += part_.both;
    } else {
      first_ = part_;
    }
    part_ = {};
  }

  [[nodiscard]] Seconds host() const { return host_; }
  [[nodiscard]] Seconds idle() const {
    if (!first_) {
      return std::max(Seconds{}, host_ - device_);
    }
    const Seconds across = std::max(part_.both + first_->device, part_.host + first_->both);
    return std::max(Seconds{}, waited_ + across - device_);
  }

 private:
  struct Part {
    Seconds host;
    Seconds device;
    Seconds both;
  };

  Part part_;                  // since the last wait
  std::optional<Part> first_;  // before the first
  Seconds waited_;             // from the first to the last
  Seconds host_;
  Seconds device_;
};

}  // namespace titer
