#include "titer/units/quantity.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace titer {
namespace TITER_TEST_FILE {

template <class A, class B>
concept CanAdd = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept CanSubtract = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept CanCompare = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept CanEqual = requires(A a, B b) {
  a == b;
};
template <class A, class B>
concept CanAccumulate = requires(A a, B b) {
  a += b;
};

// Equal dimensions mix; anything else does not compile.
static_assert(CanAdd<Seconds, Seconds> && CanSubtract<Bytes, Bytes> && CanCompare<Watts, Watts>);
static_assert(!CanAdd<Seconds, BytesPerSecond>, "a latency plus a bandwidth");
static_assert(!CanAdd<Bytes, Flops> && !CanSubtract<Bytes, Flops> && !CanAccumulate<Bytes, Flops>);
static_assert(!CanCompare<BytesPerSecond, FlopsPerSecond> && !CanEqual<Seconds, Bytes>);
static_assert(!CanAdd<Seconds, double> && !CanAdd<double, Seconds>, "a bare number has no unit");
static_assert(!CanCompare<Seconds, double> && !CanEqual<Bytes, int>);
static_assert(!std::is_convertible_v<double, Seconds> && !std::is_constructible_v<Seconds, double>);
static_assert(!std::is_convertible_v<Seconds, double> && !std::is_convertible_v<Bytes, Flops>);

template <class A, class B>
using Product = decltype(A() * B());
template <class A, class B>
using Quotient = decltype(A() / B());

static_assert(std::is_same_v<Quotient<Bytes, Seconds>, BytesPerSecond>);
static_assert(std::is_same_v<Quotient<Bytes, BytesPerSecond>, Seconds>);
static_assert(std::is_same_v<Quotient<Flops, FlopsPerSecond>, Seconds>);
static_assert(std::is_same_v<Quotient<Joules, Seconds>, Watts>);
static_assert(std::is_same_v<Product<BytesPerSecond, Seconds>, Bytes>);
static_assert(std::is_same_v<Product<Seconds, FlopsPerSecond>, Flops>);
static_assert(std::is_same_v<Product<Watts, Seconds>, Joules>);
static_assert(std::is_same_v<Quotient<Seconds, Seconds>, double>, "a ratio is a plain number");
static_assert(std::is_same_v<Product<Quotient<Flops, Bytes>, Quotient<Bytes, Flops>>, double>);
static_assert(std::is_same_v<Quotient<Flops, Bytes>, Quantity<0, -1, 1>>, "intensity");

// As large and as fast as a double.
static_assert(sizeof(Seconds) == sizeof(double));
static_assert(alignof(Seconds) == alignof(double));
static_assert(std::is_trivially_copyable_v<Bytes> && std::is_standard_layout_v<Bytes>);

// Literals are SI inside.
static_assert(12_us == Seconds::from_si(12 * 1e-6) && 1.5_ms == Seconds::from_si(1.5 * 1e-3));
static_assert(3_s == Seconds::from_si(3.0) && 250_ns == Seconds::from_si(250 * 1e-9));
static_assert(80_GiB == Bytes::from_si(80.0 * 1024 * 1024 * 1024) && 1_KiB == 1024_B);
static_assert(1_GB == 1000_MB && 1_MiB == 1024 * 1_KiB && 1_GiB == 1024 * 1_MiB);
static_assert(400_Gbps == 50_GBps, "eight bits are a byte");
static_assert(2_TBps == 2000_GBps);
static_assert(1_TFLOP == 1000_GFLOP && 1_GFLOP == 1e9 * 1_FLOP);
static_assert(312_TFLOPps == 312_TFLOP / 1_s);
static_assert(400_W == Watts::from_si(400.0));

TEST(Quantity, StartsAtZero) { EXPECT_EQ(Seconds(), 0_s); }

TEST(Quantity, TransferTimeIsSizeOverBandwidth) {
  EXPECT_DOUBLE_EQ((1_MiB / 50_GBps).si(), 1048576 / 50e9);
  EXPECT_DOUBLE_EQ((5_us + 1_MiB / 50_GBps).si(), 5e-6 + 1048576 / 50e9);
}

TEST(Quantity, AddsSubtractsAndNegates) {
  Seconds t = 3_s;
  t += 2_s;
  EXPECT_EQ(t, 5_s);
  t -= 4_s;
  EXPECT_EQ(t, 1_s);
  EXPECT_EQ(-t, 2_s - 3_s);
  EXPECT_EQ((-t).si(), -1.0);
}

TEST(Quantity, ScalesFromBothSides) {
  EXPECT_EQ(3.0 * 4_B, 12_B);
  EXPECT_EQ(4_B * 3.0, 12_B);
  EXPECT_EQ(12_B / 4.0, 3_B);
}

TEST(Quantity, RatioOfEqualDimensionsIsANumber) {
  EXPECT_EQ(6_s / 4_s, 6.0 / 4.0);
  EXPECT_EQ(1_GiB / 1_MiB, 1024.0);
}

TEST(Quantity, OrdersByValue) {
  EXPECT_LT(999_ms, 1_s);
  EXPECT_GT(1_GiB, 1_GB);
  EXPECT_LE(1_s, 1000_ms);
  EXPECT_NE(1_ns, 1_us);
}

TEST(Quantity, EnergyOverTimeIsPower) { EXPECT_EQ(Joules::from_si(800.0) / 2_s, 400_W); }

}  // namespace TITER_TEST_FILE
}  // namespace titer
