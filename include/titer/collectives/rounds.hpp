#pragma once

#include "titer/units/quantity.hpp"

namespace titer {

/// One round of forwarding g bytes over k ways at once, k rings or k trees: t = g / (k BW). It is
/// not the time of an all-reduce, whose rounds differ in number and, in pieces, in size (trap T14).
/// [seed equation E15]
[[nodiscard]] constexpr Seconds forwarding_round(Bytes size, double ways, BytesPerSecond wire) {
  return size / (ways * wire);
}

}  // namespace titer
