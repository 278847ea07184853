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
  Bytes bytes;          // read and written in device memory
  bool narrow = false;  // multiplies numbers of the type of products, where that is another one

  [[nodiscard]] constexpr bool exists() const { return flops > Flops{} || bytes > Bytes{}; }
};

/// Times kernels of one data type (and products of a narrower one) on one chip:
///   t = t0 + max( (F + Fs) / (eta P),  bytes / (eta_m BW) )
/// t0: launch floor; Fs: saturation; P: matrix peak; eta: plateau (matrix or attention kernels);
/// BW: memory bandwidth; eta_m: its efficiency. Memory kernels have only the second term.
class KernelClock {
 public:
  /// REQUIRES chip.rate(type).
  KernelClock(const Chip& chip, DataType type) : KernelClock(chip, type, type) {}
  /// Narrow kernels multiply numbers of `product`. REQUIRES chip.rate() of both.
  KernelClock(const Chip& chip, DataType type, DataType product)
      : launch_floor_(chip.launch_floor),
        saturation_(chip.rate(type)->saturation),
        matrix_rate_(chip.rate(type)->plateau * chip.rate(type)->peak),
        attention_rate_(chip.attention_plateau * chip.rate(type)->peak),
        memory_rate_(chip.memory.efficiency * chip.memory.bandwidth),
        narrow_saturation_(chip.rate(product)->saturation),
        narrow_rate_(chip.rate(product)->plateau * chip.rate(product)->peak) {}

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
    if (kernel.narrow && kernel.kind == KernelKind::matrix) {
      return (kernel.flops + narrow_saturation_) / narrow_rate_;
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
  Flops narrow_saturation_;
  FlopsPerSecond narrow_rate_;
};

}  // namespace titer
