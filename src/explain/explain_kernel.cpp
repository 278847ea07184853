#include <fmt/format.h>

#include <cmath>

#include "explain_parts.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

std::string_view kernel_formula(const Kernel& kernel, const KernelClock& clock) {
  if (kernel.kind == KernelKind::memory) {
    return "t0 + bytes / (eta_m BW)";
  }
  if (clock.by_tiles(kernel)) {
    return kernel.kind == KernelKind::attention
               ? "t0 + sqrt((tiles of queries)^2 + (bytes / (eta_m BW))^2)"
               : "t0 + sqrt((tiles in waves)^2 + (bytes / (eta_m BW))^2)";
  }
  return kernel.kind == KernelKind::attention ? "t0 + max((F + Fs) / (eta_a P), bytes / (eta_m BW))"
                                              : "t0 + max((F + Fs) / (eta P), bytes / (eta_m BW))";
}

/// "4 of 1024 x 512 x 64" of a product, "32 of 4096 queries x 2048.5 keys x 128".
std::string shape_text(const Kernel& kernel) {
  const KernelShape& shape = kernel.shape;
  const std::string count = shape.count == 1 ? "" : fmt::format("{:.6g} of ", shape.count);
  const bool attends = kernel.kind == KernelKind::attention;
  return fmt::format("{}{:.6g}{} x {:.6g}{} x {:.6g}",
                     count,
                     shape.rows,
                     attends ? " queries" : "",
                     shape.columns,
                     attends ? " keys" : "",
                     shape.inner);
}

/// What measured products make of it; "" where there are none of its kind.
std::string measured_text(const Kernel& kernel, const KernelClock& clock) {
  const auto found = clock.found(kernel);
  if (!found) {
    return "";
  }
  return found->distance == 0.0
             ? fmt::format(", x {:.3f}: measured", found->ratio)
             : fmt::format(", x {:.3f} by the nearest that were measured, {:.2f} times as large",
                           found->ratio,
                           std::exp(found->distance));
}

std::string model_numbers(const Kernel& kernel, const KernelClock& clock) {
  const std::string memory = fmt::format("{} / {} = {}",
                                         format(kernel.bytes),
                                         format(clock.memory_rate()),
                                         format(kernel.bytes / clock.memory_rate()));
  if (kernel.kind == KernelKind::memory) {
    return fmt::format("{} + {}", format(clock.launch_floor()), memory);
  }
  if (clock.by_tiles(kernel)) {
    return fmt::format("{} + sqrt(({}, {}: {})^2 + ({})^2)",
                       format(clock.launch_floor()),
                       shape_text(kernel),
                       format(kernel.flops),
                       format(clock.arithmetic(kernel)),
                       memory);
  }
  return fmt::format("{} + max(({} + {}) / {} = {}, {})",
                     format(clock.launch_floor()),
                     format(kernel.flops),
                     format(clock.saturation(kernel)),
                     format(clock.rate(kernel)),
                     format(clock.arithmetic(kernel)),
                     memory);
}

}  // namespace

Term kernel_term(std::string name, const Kernel& kernel, const BlockClock& clock) {
  const double pace = clock.pace.of(kernel);
  const std::string numbers =
      model_numbers(kernel, clock.kernels) + measured_text(kernel, clock.kernels);
  return {std::move(name),
          std::string(kernel_formula(kernel, clock.kernels)),
          pace == 1.0 ? numbers : fmt::format("{:.4g} x ({})", pace, numbers),
          format(clock.time(kernel)),
          "roofline, Williams et al. 2009"};
}

}  // namespace titer
