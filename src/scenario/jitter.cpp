#include "titer/scenario/jitter.hpp"

#include <algorithm>
#include <cmath>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr double kLargestBelowOne = 1 - 0x1p-53;

double log_deviation(double deviation) { return std::sqrt(std::log1p(deviation * deviation)); }

/// A gamma variable of this shape (1 or more) over its mean: Marsaglia & Tsang 2000, "A simple
/// method for generating gamma variables", each attempt from its own pair of numbers.
double gamma_factor(double shape, DrawName name) {
  constexpr int attempts = 16;  // of which one in twenty fails at worst
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (int attempt = 0; attempt < attempts; ++attempt, ++name.purpose) {
    const UniformPair pair = uniform_pair(name);
    const double z = normal_quantile_above(pair.first);
    const double root = 1 + c * z;
    const double v = root * root * root;
    if (v > 0 && (pair.second < 1 - 0.0331 * z * z * z * z ||
                  std::log(pair.second) < 0.5 * z * z + d * (1 - v + std::log(v)))) {
      return d * v / shape;
    }
  }
  return 1;  // once in 10^20 draws
}

/// x^a e^-x / Gamma(a).
double gamma_weight(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a)); }

/// The probability that a gamma variable of shape `a` exceeds x: the series of the lower incomplete
/// function, or the continued fraction of the upper one. [Abramowitz & Stegun 6.5.29, 6.5.31]
double gamma_above(double a, double x) {
  constexpr double precise = 1e-16;
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (double i = a + 1; term > precise * sum; ++i) {
      term *= x / i;
      sum += term;
    }
    return 1 - gamma_weight(a, x) * sum;
  }
  constexpr double tiny = 1e-300;  // Lentz's method
  double b = x + 1 - a;
  double c = 1 / tiny;
  double d = 1 / b;
  double fraction = d;
  double change = 0;
  for (double i = 1; std::abs(change - 1) > 4 * precise && i < 1e6; ++i) {
    const double numerator = -i * (i - a);
    b += 2;
    d = numerator * d + b;
    c = b + numerator / c;
    d = 1 / (d == 0 ? tiny : d);
    change = d * (c == 0 ? tiny : c);
    fraction *= change;
  }
  return gamma_weight(a, x) * fraction;
}

/// What a gamma variable of this shape, over its mean, exceeds with probability q.
double gamma_exceeded_with(double shape, double q) {
  constexpr double nearly_normal = 1e5;
  if (shape > nearly_normal) {  // Wilson & Hilferty 1931
    const double root = 1 - 1 / (9 * shape) + normal_quantile_above(q) / (3 * std::sqrt(shape));
    return root * root * root;
  }
  double low = 0;
  double high = 2 * shape + 1;
  while (gamma_above(shape, high) > q) {
    high *= 2;
  }
  for (int i = 0; i < 60; ++i) {
    const double middle = low + (high - low) / 2;
    (gamma_above(shape, middle) > q ? low : high) = middle;
  }
  return (low + high) / 2 / shape;
}

/// What the mean of so many factors exceeds with probability q.
double mean_exceeded_with(const Jitter& jitter, std::int64_t count, double q) {
  const auto n = static_cast<double>(count);
  const double s = jitter.deviation / std::sqrt(n);
  switch (jitter.spread) {
    case Spread::normal:
      break;
    case Spread::lognormal: {
      const double w = log_deviation(s);
      return std::exp(w * (normal_quantile_above(q) - w / 2));
    }
    case Spread::gamma:
      return gamma_exceeded_with(1 / (s * s), q);
    case Spread::uniform:
      if (count == 1) {
        return 1 + s * std::sqrt(3.0) * (1 - 2 * q);
      }
      break;
    case Spread::exponential:
      return 1 - jitter.deviation +
             jitter.deviation * (count == 1 ? -std::log(q) : gamma_exceeded_with(n, q));
  }
  return 1 + s * normal_quantile_above(q);
}

}  // namespace

double most_deviation(Spread spread) {
  switch (spread) {
    case Spread::normal:
      return 0.1;  // the least Z that can be drawn is -8.2
    case Spread::uniform:
      return 0.5;  // below 1 / sqrt(3)
    case Spread::lognormal:
    case Spread::gamma:
    case Spread::exponential:
      break;
  }
  return 1;
}

double Jitter::factor(const DrawName& name) const {
  if (deviation == 0) {
    return 1;
  }
  if (spread == Spread::gamma) {
    return gamma_factor(1 / (deviation * deviation), name);
  }
  return exceeded_with(uniform_pair(name).first);
}

double Jitter::exceeded_with(double probability) const {
  return deviation == 0 ? 1 : mean_exceeded_with(*this, 1, probability);
}

namespace {

void read_deviation(const Field<Jitter>& own, Reader& in, Jitter& jitter) {
  jitter.deviation = in.number(own.key, own.range.least, most_deviation(jitter.spread));
}

constexpr std::array kJitterFields = {
    fields::choice<&Jitter::spread, kSpreads>("distribution", "of factors with the mean 1")
        .needed(),
    fields::number<&Jitter::deviation>("deviation", {}, "standard deviation of the factors")
        .read_by(read_deviation)
        .needed()};

}  // namespace

std::span<const Field<Jitter>> jitter_fields() { return kJitterFields; }

Jitter read_jitter(Reader in) {
  Jitter jitter;
  read_fields(jitter_fields(), in, jitter);
  return jitter;
}

double expected_slowdown(const Jitter& jitter, std::int64_t devices, std::int64_t passes) {
  ensure(devices >= 1 && passes >= 1, "the slowest is of one device or more, with a pass or more");
  if (jitter.deviation == 0 || devices == 1) {
    return 1;
  }
  // The tanh-sinh rule: y = 1 / (1 + exp(-pi sinh u)), which bears the ends' infinite slopes.
  // [Takahasi & Mori 1974]
  constexpr double pi = 3.14159265358979323846;
  constexpr double step = 1.0 / 16;
  constexpr int half = 64;
  double sum = 0;
  for (int i = -half; i <= half; ++i) {
    const double u = i * step;
    const double g = pi * std::sinh(u);
    const double log_y = -std::log1p(std::exp(-g));
    const double above = -std::expm1(log_y / static_cast<double>(devices));
    const double weight = pi * std::cosh(u) * std::exp(log_y) / (1 + std::exp(g));
    sum += weight * mean_exceeded_with(jitter, passes, std::min(above, kLargestBelowOne));
  }
  return sum * step;
}

}  // namespace titer
