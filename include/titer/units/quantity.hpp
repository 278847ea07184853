#pragma once
// A number with a dimension. The dimension is in the type, so that mixing bytes with bits per
// second, or adding a latency to a bandwidth, does not compile. Inside, everything is SI:
// seconds, bytes, floating-point operations, joules.

#include <compare>

namespace titer {

/// A value of dimension time^T * data^D * work^W * energy^E, as large and as fast as a double.
template <int T, int D, int W, int E = 0>
class Quantity {
 public:
  constexpr Quantity() = default;

  /// The quantity that is `value` SI units (s, byte, FLOP, J and their quotients).
  [[nodiscard]] static constexpr Quantity from_si(double value) {
    Quantity quantity;
    quantity.value_ = value;
    return quantity;
  }
  /// The bare number of SI units; only the engine, reports and tests should need it.
  [[nodiscard]] constexpr double si() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  [[nodiscard]] constexpr Quantity operator-() const { return from_si(-value_); }
  [[nodiscard]] friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  [[nodiscard]] friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  [[nodiscard]] friend constexpr Quantity operator*(double factor, Quantity a) {
    return from_si(factor * a.value_);
  }
  [[nodiscard]] friend constexpr Quantity operator*(Quantity a, double factor) {
    return from_si(a.value_ * factor);
  }
  [[nodiscard]] friend constexpr Quantity operator/(Quantity a, double divisor) {
    return from_si(a.value_ / divisor);
  }
  [[nodiscard]] friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0.0;
};

namespace detail {
template <int T, int D, int W, int E>
[[nodiscard]] constexpr auto make_quantity(double value) {
  if constexpr (T == 0 && D == 0 && W == 0 && E == 0) {
    return value;  // a ratio of equal dimensions is a plain number
  } else {
    return Quantity<T, D, W, E>::from_si(value);
  }
}
}  // namespace detail

template <int T1, int D1, int W1, int E1, int T2, int D2, int W2, int E2>
[[nodiscard]] constexpr auto operator*(Quantity<T1, D1, W1, E1> a, Quantity<T2, D2, W2, E2> b) {
  return detail::make_quantity<T1 + T2, D1 + D2, W1 + W2, E1 + E2>(a.si() * b.si());
}
template <int T1, int D1, int W1, int E1, int T2, int D2, int W2, int E2>
[[nodiscard]] constexpr auto operator/(Quantity<T1, D1, W1, E1> a, Quantity<T2, D2, W2, E2> b) {
  return detail::make_quantity<T1 - T2, D1 - D2, W1 - W2, E1 - E2>(a.si() / b.si());
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;
using Joules = Quantity<0, 0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1>;
using Watts = Quantity<-1, 0, 0, 1>;

inline constexpr Seconds kHour = Seconds::from_si(3600);
inline constexpr Seconds kDay = Seconds::from_si(86400);

/// Literals: `12_us`, `80_GiB`, `400_Gbps`, `312_TFLOPps`. GB is 10^9 bytes, GiB 2^30, Gbps bits.
inline namespace literals {
// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be put in parentheses
#define TITER_LITERAL(suffix, Type, factor)                                    \
  [[nodiscard]] constexpr Type operator""_##suffix(long double value) {        \
    return Type::from_si(static_cast<double>(value) * (factor));               \
  }                                                                            \
  [[nodiscard]] constexpr Type operator""_##suffix(unsigned long long value) { \
    return Type::from_si(static_cast<double>(value) * (factor));               \
  }
TITER_LITERAL(s, Seconds, 1.0)
TITER_LITERAL(ms, Seconds, 1e-3)
TITER_LITERAL(us, Seconds, 1e-6)
TITER_LITERAL(ns, Seconds, 1e-9)
TITER_LITERAL(B, Bytes, 1.0)
TITER_LITERAL(MB, Bytes, 1e6)
TITER_LITERAL(GB, Bytes, 1e9)
TITER_LITERAL(KiB, Bytes, 1024.0)
TITER_LITERAL(MiB, Bytes, 1048576.0)
TITER_LITERAL(GiB, Bytes, 1073741824.0)
TITER_LITERAL(FLOP, Flops, 1.0)
TITER_LITERAL(GFLOP, Flops, 1e9)
TITER_LITERAL(TFLOP, Flops, 1e12)
TITER_LITERAL(GBps, BytesPerSecond, 1e9)
TITER_LITERAL(TBps, BytesPerSecond, 1e12)
TITER_LITERAL(Gbps, BytesPerSecond, 1e9 / 8.0)
TITER_LITERAL(TFLOPps, FlopsPerSecond, 1e12)
TITER_LITERAL(W, Watts, 1.0)
#undef TITER_LITERAL
// NOLINTEND(bugprone-macro-parentheses)
}  // namespace literals

}  // namespace titer
