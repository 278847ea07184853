#pragma once
// The time of one kernel: a roofline with a launch floor and a saturation term.

#include <algorithm>

#include "titer/hardware/chip.hpp"

namespace titer {

enum class KernelKind {
  memory,     // element-wise, norms, softmax, copies, optimizer: bytes only
  matrix,     // dense products
  attention,  // fused (flash) attention
};

/// Work of one kernel on one device. No flops and no bytes: no kernel at all.
struct Kernel {
  KernelKind kind = KernelKind::memory;
  Flops flops;
  Bytes bytes;  // read and written in device memory

  [[nodiscard]] constexpr bool exists() const { return flops > Flops{} || bytes > Bytes{}; }
};

/// Times kernels of one data type on one chip:
///   t = t0 + max( (F + Fs) / (eta P),  bytes / (eta_m BW) )
/// t0: launch floor; Fs: saturation; P: matrix peak; eta: plateau (matrix or attention kernels);
/// BW: memory bandwidth; eta_m: its efficiency. Memory kernels have only the second term.
class KernelClock {
 public:
  /// REQUIRES chip.rate(type).
  KernelClock(const Chip& chip, DataType type)
      : launch_floor_(chip.launch_floor),
        saturation_(chip.rate(type)->saturation),
        matrix_rate_(chip.rate(type)->plateau * chip.rate(type)->peak),
        attention_rate_(chip.attention_plateau * chip.rate(type)->peak),
        memory_rate_(chip.memory.efficiency * chip.memory.bandwidth) {}

  [[nodiscard]] Seconds time(const Kernel& kernel) const {
    if (!kernel.exists()) {
      return {};
    }
    return launch_floor_ + std::max(arithmetic(kernel), kernel.bytes / memory_rate_);
  }
  /// The first argument of the max above.
  [[nodiscard]] Seconds arithmetic(const Kernel& kernel) const {
    if (kernel.kind == KernelKind::memory) {
      return {};
    }
    return (kernel.flops + saturation_) / rate(kernel.kind);
  }
  [[nodiscard]] Seconds launch_floor() const { return launch_floor_; }
  [[nodiscard]] BytesPerSecond memory_rate() const { return memory_rate_; }
  [[nodiscard]] Flops saturation() const { return saturation_; }
  /// eta P. REQUIRES a kind with arithmetic.
  [[nodiscard]] FlopsPerSecond rate(KernelKind kind) const {
    return kind == KernelKind::attention ? attention_rate_ : matrix_rate_;
  }

 private:
  Seconds launch_floor_;
  Flops saturation_;
  FlopsPerSecond matrix_rate_;
  FlopsPerSecond attention_rate_;
  BytesPerSecond memory_rate_;
};

}  // namespace titer
