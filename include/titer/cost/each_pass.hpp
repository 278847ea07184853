#pragma once
// One of something for each pass of a block: its cost, its items, its share of anything.

#include <array>
#include <cstddef>
#include <type_traits>

#include "titer/plan/schedule/actions.hpp"

namespace titer {

/// The backward pass is either whole or in two parts, by the schedule. Recomputation is before a
/// backward pass, or before its input-gradient part.
template <class T>
struct EachPass {
  T forward;
  T backward;
  T recompute;
  T input_gradient;
  T weight_gradient;

  /// Recomputation is apart.
  [[nodiscard]] const T& of(Pass pass) const {
    return this->*of_pass[static_cast<std::size_t>(pass)];
  }
  [[nodiscard]] T& of(Pass pass) { return this->*of_pass[static_cast<std::size_t>(pass)]; }
  EachPass& operator+=(const EachPass& other) {
    forward += other.forward;
    backward += other.backward;
    recompute += other.recompute;
    input_gradient += other.input_gradient;
    weight_gradient += other.weight_gradient;
    return *this;
  }
  friend EachPass operator*(double factor, const EachPass& each) {
    return {factor * each.forward,
            factor * each.backward,
            factor * each.recompute,
            factor * each.input_gradient,
            factor * each.weight_gradient};
  }

 private:
  static constexpr std::array<T EachPass::*, kPasses> of_pass = {&EachPass::forward,
                                                                 &EachPass::backward,
                                                                 &EachPass::input_gradient,
                                                                 &EachPass::weight_gradient};
};

/// What `make` makes of each pass of them.
template <class Make, class... T>
[[nodiscard]] auto map_passes(const Make& make, const EachPass<T>&... of)
    -> EachPass<std::invoke_result_t<const Make&, const T&...>> {
  return {make(of.forward...),
          make(of.backward...),
          make(of.recompute...),
          make(of.input_gradient...),
          make(of.weight_gradient...)};
}

}  // namespace titer
