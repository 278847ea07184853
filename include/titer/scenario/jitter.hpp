#pragma once
// Noise: random factors of time around 1.

#include <array>
#include <cstdint>

#include "titer/input/fields.hpp"
#include "titer/scenario/draws.hpp"

namespace titer {

/// How the factors spread. All have the mean 1 and the jitter's deviation s.
enum class Spread {
  normal,       // 1 + s Z
  lognormal,    // exp(w Z - w^2 / 2), w^2 = ln(1 + s^2)
  gamma,        // of shape 1 / s^2
  uniform,      // between 1 - s sqrt(3) and 1 + s sqrt(3)
  exponential,  // 1 - s + s E: a least time, and a tail
};
inline constexpr std::array<Choice<Spread>, 5> kSpreads = {{{"normal", Spread::normal},
                                                            {"lognormal", Spread::lognormal},
                                                            {"gamma", Spread::gamma},
                                                            {"uniform", Spread::uniform},
                                                            {"exponential", Spread::exponential}}};
/// The largest deviation that leaves every factor that can be drawn above zero; 1 where any would.
[[nodiscard]] double most_deviation(Spread spread);

struct Jitter {
  Spread spread = Spread::normal;
  double deviation = 0;  // standard, of a factor whose mean is 1

  /// The factor of this name; `name.purpose` must be a multiple of 16 (a gamma draw may take
  /// several pairs of uniform numbers).
  [[nodiscard]] double factor(const DrawName& name) const;
  /// The factor that is exceeded with this probability.
  [[nodiscard]] double exceeded_with(double probability) const;
  friend bool operator==(const Jitter&, const Jitter&) = default;
};

/// {"distribution": "normal", "deviation": 0.02}
[[nodiscard]] std::span<const Field<Jitter>> jitter_fields();
[[nodiscard]] Jitter read_jitter(Reader in);

/// What the slowest of `devices` equal devices is expected to take over their mean, when each does
/// `passes` passes, one factor each, and then waits for the others: the slow-down of a synchronous
/// step by noise,
///   E[max] = integral over 0 < y < 1 of Q(1 - y^(1/n)), Q(q): exceeded with probability q.
/// For the normal distribution the same as 1 + s times the integral of z n Phi(z)^(n-1) phi(z),
/// near 1 + s sqrt(2 ln n) for large n. The mean of several passes has the deviation s /
/// sqrt(passes). It is exactly normal, gamma or exponential's own (a shifted gamma); of lognormal
/// factors it is taken as lognormal (Fenton 1960), of uniform ones as normal. Devices that also
/// meet on the way, as those of a pipeline or a tensor group, lose more.
[[nodiscard]] double expected_slowdown(const Jitter& jitter,
                                       std::int64_t devices,
                                       std::int64_t passes = 1);

}  // namespace titer
