#pragma once
// Random numbers without a state: each is a function of a key and a counter, so that any of them is
// known at once, in any order and on any thread.

#include <array>
#include <cstdint>

namespace titer {

/// Philox 4x32 with ten rounds. [Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as
/// easy as 1, 2, 3"]
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                            std::array<std::uint32_t, 2> key) {
  constexpr int rounds = 10;
  constexpr std::uint64_t multiplier_0 = 0xD2511F53U;
  constexpr std::uint64_t multiplier_1 = 0xCD9E8D57U;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9U;  // the golden ratio
  constexpr std::uint32_t weyl_1 = 0xBB67AE85U;  // sqrt(3) - 1
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t a = multiplier_0 * counter[0];
    const std::uint64_t b = multiplier_1 * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(a)};
    key = {key[0] + weyl_0, key[1] + weyl_1};
  }
  return counter;
}

/// Two independent numbers, evenly spread over (0, 1), both ends excluded.
struct UniformPair {
  double first;
  double second;
};

/// What a draw is named by. Draws with different names are independent.
struct DrawName {
  std::uint64_t seed = 0;
  std::uint32_t sample = 0;
  std::uint64_t device = 0;  // 2^32 are told apart
  std::uint64_t number = 0;  // of the device's draws; 2^56 are told apart
  std::uint8_t purpose = 0;
};
[[nodiscard]] constexpr UniformPair uniform_pair(const DrawName& name) {
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  const std::uint32_t last =
      (low(name.number >> 32U) & 0xFFFFFFU) | (std::uint32_t{name.purpose} << 24U);
  const auto bits = philox({low(name.number), low(name.device), name.sample, last},
                           {low(name.seed), low(name.seed >> 32U)});
  // 52 bits and a half: the middle of an interval, never 0 or 1.
  const auto unit = [](std::uint32_t high, std::uint32_t lower) {
    const std::uint64_t whole = (std::uint64_t{high} << 20U) | (lower >> 12U);
    return (static_cast<double>(whole) + 0.5) * 0x1p-52;
  };
  return {unit(bits[0], bits[1]), unit(bits[2], bits[3])};
}

/// The standard normal's quantile, from the probability above it: 0.5 gives 0, small ones large
/// values. Relative error about 1e-16. [Wichura 1988, algorithm AS 241]
[[nodiscard]] double normal_quantile_above(double above);

}  // namespace titer
