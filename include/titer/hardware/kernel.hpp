#pragma once
// The time of one kernel: a roofline with a launch floor; products and fused attention of known
// extents by tiles, others with a saturation term.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

#include "titer/hardware/chip.hpp"
#include "titer/hardware/measured_products.hpp"
#include "titer/hardware/tiles.hpp"

namespace titer {

enum class KernelKind : std::uint8_t {
  memory,     // element-wise, norms, softmax, copies, optimizer: bytes only
  matrix,     // dense products
  attention,  // fused (flash) attention
};

/// What of software its time depends on besides: how well kernels of its kind are made, or those of
/// the loss or of mixers, which are its own, or of what nobody has fused, operator by operator.
enum class KernelMaker : std::uint8_t { kind, loss, mixer, operators };

/// Work of one kernel on one device. No flops and no bytes: no kernel at all.
struct Kernel {
  KernelKind kind = KernelKind::memory;
  Flops flops;
  Bytes bytes;          // read and written in device memory
  bool narrow = false;  // multiplies numbers of the type of products, where that is another one;
                        // of attention: in fp8
  KernelShape shape{};  // of products and attention, where it is known
  KernelMaker maker = KernelMaker::kind;

  [[nodiscard]] constexpr bool exists() const { return flops > Flops{} || bytes > Bytes{}; }
  /// What it does for a share of the tokens.
  [[nodiscard]] constexpr Kernel part(double share) const {
    return {kind, share * flops, share * bytes, narrow, shape.part(share), maker};
  }
};

/// One product of several, A's rows shared out equally; operands of `type`, results of 16 bits.
[[nodiscard]] Kernel product_of(const KernelShape& shape, DataType type);

/// At which clock: what training runs at for hours, or what a short measurement gets.
enum class Clocks : std::uint8_t { sustained, burst };

/// Times kernels that only move bytes: t = t0 + bytes / (eta_m BW).
class MemoryClock {
 public:
  explicit MemoryClock(const Chip& chip)
      : launch_floor_(chip.launch_floor), rate_(chip.memory.efficiency * chip.memory.bandwidth) {}

  [[nodiscard]] Seconds time(Bytes bytes) const {
    return bytes > Bytes{} ? launch_floor_ + bytes / rate_ : Seconds{};
  }
  [[nodiscard]] Seconds launch_floor() const { return launch_floor_; }
  [[nodiscard]] BytesPerSecond rate() const { return rate_; }

 private:
  Seconds launch_floor_;
  BytesPerSecond rate_;
};

/// Times kernels of one data type (and products of a narrower one) on one chip. Of known extents,
/// with the arithmetic a of hardware/tiles.hpp:
///   t = t0 + sqrt(a^2 + (bytes / (eta_m BW))^2)
/// and otherwise
///   t = t0 + max( (F + Fs) / (eta P),  bytes / (eta_m BW) )
/// t0: launch floor; Fs: saturation; P: matrix peak; eta: plateau (matrix or attention kernels);
/// BW: memory bandwidth; eta_m: its efficiency. Memory kernels have only the last term. Arithmetic
/// goes at the sustained clock, or in a burst at a clock that falls the longer it takes. Where
/// products of the chip were measured, those in 16 bits take as much longer or shorter.
class KernelClock {
 public:
  /// REQUIRES chip.rate(type).
  KernelClock(const Chip& chip, DataType type) : KernelClock(chip, type, type) {}
  /// Narrow kernels multiply numbers of `product`. REQUIRES chip.rate() of both.
  KernelClock(const Chip& chip, DataType type, DataType product, Clocks clocks = Clocks::sustained);

  [[nodiscard]] Seconds time(const Kernel& kernel) const {
    if (!kernel.exists()) {
      return {};
    }
    const Seconds moved = kernel.bytes / memory_.rate();
    if (kernel.kind == KernelKind::memory) {
      return launch_floor() + moved;
    }
    const Seconds computed = arithmetic(kernel);
    const Seconds all =
        launch_floor() + (by_tiles(kernel) ? both(computed, moved) : std::max(computed, moved));
    return measured_ == nullptr ? all : found(kernel).value_or(as_figures).ratio * all;
  }
  /// What measured products say of it; nothing of any but a single product in 16 bits.
  [[nodiscard]] std::optional<MeasuredProducts::Found> found(const Kernel& kernel) const;
  /// What the kernel would take if nothing were moved. Memory kernels: nothing.
  [[nodiscard]] Seconds arithmetic(const Kernel& kernel) const;
  /// Whether its extents count.
  [[nodiscard]] bool by_tiles(const Kernel& kernel) const {
    return kernel.shape.known() &&
           (kernel.kind == KernelKind::attention ? attention_.has_value() : products_.has_value());
  }
  [[nodiscard]] Seconds launch_floor() const { return memory_.launch_floor(); }
  [[nodiscard]] BytesPerSecond memory_rate() const { return memory_.rate(); }
  /// The saturation term of a kernel, and eta P at its clock. REQUIRES a kind with arithmetic.
  [[nodiscard]] Flops saturation(const Kernel& kernel) const {
    return is_narrow(kernel) ? narrow_saturation_ : saturation_;
  }
  [[nodiscard]] FlopsPerSecond rate(const Kernel& kernel) const {
    return clock_ * plateau_rate(kernel);
  }

 private:
  static constexpr MeasuredProducts::Found as_figures{};

  [[nodiscard]] static bool is_narrow(const Kernel& kernel) {
    return kernel.narrow && kernel.kind == KernelKind::matrix;
  }
  [[nodiscard]] FlopsPerSecond plateau_rate(const Kernel& kernel) const {
    if (kernel.kind == KernelKind::attention) {
      return attention_rate_;
    }
    return is_narrow(kernel) ? narrow_rate_ : matrix_rate_;
  }
  [[nodiscard]] static Seconds both(Seconds a, Seconds b) {
    return Seconds::from_si(std::sqrt(a.si() * a.si() + b.si() * b.si()));
  }
  [[nodiscard]] Seconds at_clock(Seconds time) const;
  /// Of attention, over what it takes in 16 bits.
  [[nodiscard]] double narrow_ratio(const Kernel& kernel) const;

  MemoryClock memory_;
  Flops saturation_;
  FlopsPerSecond matrix_rate_;
  FlopsPerSecond attention_rate_;
  Flops narrow_saturation_;
  FlopsPerSecond narrow_rate_;
  std::optional<ProductTiles> products_;
  std::optional<ProductTiles> narrow_products_;
  std::optional<AttentionTiles> attention_;
  NarrowAttention narrow_attention_;
  double clock_ = 1;  // share of the plateau, in the long run
  std::optional<SustainedClock> burst_;
  std::shared_ptr<const MeasuredProducts> measured_;
};

}  // namespace titer
