// Two means over normal numbers that take an integral each, by table.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "titer/model/routing/routing.hpp"

namespace titer {
namespace {

/// A table by log2, from 2^first on, with straight lines between its values; beyond its end the
/// last one.
double by_log2(std::span<const double> table, std::int64_t number, int first) {
  const double place = std::log2(static_cast<double>(number)) - first;
  const auto last = static_cast<double>(table.size() - 1);
  if (place >= last) {
    return table.back();
  }
  const double whole = std::floor(std::max(place, 0.0));
  const auto index = static_cast<std::size_t>(whole);
  return std::lerp(table[index], table[index + 1], std::max(place, 0.0) - whole);
}

}  // namespace

double expected_maximum(std::int64_t numbers) {
  // Integrals of n x phi(x) Phi(x)^(n-1) for n = 1, 2, 4, … 65536; the tests integrate again.
  constexpr std::array<double, 17> table = {0,
                                            0.564190,
                                            1.029375,
                                            1.423600,
                                            1.765991,
                                            2.069669,
                                            2.343733,
                                            2.594597,
                                            2.826863,
                                            3.043903,
                                            3.248240,
                                            3.441799,
                                            3.626082,
                                            3.802279,
                                            3.971351,
                                            4.134083,
                                            4.291129};
  return by_log2(table, numbers, 0);
}

double random_second_probability(std::int64_t experts) {
  // Integrals over the gap d of the two largest logits of 2 / (1 + e^d), for 2, 4, … 8192 experts;
  // the tests integrate again.
  constexpr std::array<double, 13> table = {0.549573,
                                            0.677815,
                                            0.739077,
                                            0.775820,
                                            0.800700,
                                            0.818885,
                                            0.832892,
                                            0.844100,
                                            0.853329,
                                            0.861101,
                                            0.867762,
                                            0.873554,
                                            0.878652};
  return by_log2(table, experts, 1);
}

}  // namespace titer
