#include "titer/hardware/kernel.hpp"

namespace titer {
namespace {

/// Attention of unknown extents is taken to have heads of 128 elements.
double attention_share(const Chip& chip) {
  constexpr double products = 4.0 * 128.0;  // operations for one score
  const double softmax = chip.attention_tiling ? chip.attention_tiling->softmax : 0.0;
  return chip.attention_plateau * products / (products + softmax);
}

}  // namespace

Kernel product_of(const KernelShape& shape, DataType type) {
  const double count = shape.count;
  const double results = count * shape.rows * shape.columns;
  const double operands = count * shape.inner * (shape.rows + shape.columns);
  return {.kind = KernelKind::matrix,
          .flops = Flops::from_si(2.0 * results * shape.inner),
          .bytes = operands * size_of(type) + results * size_of(DataType::bf16),
          .narrow = type != DataType::bf16,
          .shape = shape};
}

KernelClock::KernelClock(const Chip& chip, DataType type, DataType product, Clocks clocks)
    : memory_(chip),
      saturation_(chip.rate(type)->saturation),
      matrix_rate_(chip.rate(type)->plateau * chip.rate(type)->peak),
      attention_rate_(attention_share(chip) * chip.rate(type)->peak),
      narrow_saturation_(chip.rate(product)->saturation),
      narrow_rate_(chip.rate(product)->plateau * chip.rate(product)->peak) {
  if (chip.tiling) {
    products_.emplace(chip, type);
    narrow_products_.emplace(chip, product);
  }
  if (chip.tiling && chip.attention_tiling) {
    attention_.emplace(chip, type);
  }
  if (size_of(type) == size_of(DataType::bf16)) {
    measured_ = chip.measured_products;
  }
  narrow_attention_ = chip.narrow_attention.value_or(NarrowAttention{});
  if (clocks == Clocks::sustained) {
    clock_ = chip.sustained.share;
  } else {
    burst_ = chip.sustained;
  }
}

std::optional<MeasuredProducts::Found> KernelClock::found(const Kernel& kernel) const {
  const bool is_single = kernel.kind == KernelKind::matrix && !kernel.narrow &&
                         kernel.shape.known() && kernel.shape.count == 1 && !kernel.shape.grouped;
  return measured_ != nullptr && is_single ? std::optional(measured_->find(kernel.shape))
                                           : std::nullopt;
}

Seconds KernelClock::arithmetic(const Kernel& kernel) const {
  if (kernel.kind == KernelKind::memory) {
    return {};
  }
  if (!by_tiles(kernel)) {
    return at_clock(narrow_ratio(kernel) * (kernel.flops + saturation(kernel)) /
                    plateau_rate(kernel));
  }
  if (kernel.kind == KernelKind::attention) {
    return at_clock(narrow_ratio(kernel) * attention_->time(kernel.shape, kernel.flops));
  }
  return at_clock((is_narrow(kernel) ? *narrow_products_ : *products_).time(kernel.shape));
}

double KernelClock::narrow_ratio(const Kernel& kernel) const {
  const bool is_narrow_attention = kernel.narrow && kernel.kind == KernelKind::attention;
  return is_narrow_attention
             ? narrow_attention_.time_ratio(kernel.shape.backward, kernel.shape.inner >= kWideHead)
             : 1.0;
}

Seconds KernelClock::at_clock(Seconds time) const {
  if (!burst_) {
    return time / clock_;
  }
  const Seconds whole = time + burst_->onset;
  return whole > Seconds{} ? time / (1.0 - (1.0 - burst_->share) * (time / whole)) : time;
}

}  // namespace titer
