// How sure it is which of the plans that a search has found is the fastest, and that each fits.

#include <cmath>
#include <numbers>

#include "titer/search/search.hpp"

namespace titer {
namespace {

double normal_density(double z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

/// Each plan takes its predicted time times a lognormal error of its own, independent of the
/// others'; what they have in common moves all of them alike. With x the error of plan i in
/// standard deviations s it is the fastest where all others are slower:
///   P_i = integral of phi(x) prod over j != i of Phi((ln t_j - ln t_i) / s - x) dx
/// by the trapezoidal rule, which converges faster than any power of its step.
double chance_fastest(const std::vector<double>& logs, std::size_t plan) {
  constexpr double end = 8;
  constexpr int steps = 256;
  constexpr double step = 2 * end / steps;
  double sum = 0;
  for (int k = 0; k <= steps; ++k) {
    const double x = -end + step * k;
    double slower = normal_density(x);
    for (std::size_t other = 0; other < logs.size(); ++other) {
      if (other != plan) {
        slower *= normal_share_below((logs[other] - logs[plan]) / kPlanError - x);
      }
    }
    sum += slower;
  }
  return step * sum;
}

}  // namespace

double normal_share_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double chance_to_fit(Bytes peak, Bytes capacity) {
  constexpr double mean_of_half_normal = 0.797884560802865;  // sqrt(2 / pi): |error| over deviation
  return normal_share_below((capacity / peak - 1) / (kMemoryError / mean_of_half_normal));
}

void find_chances(SearchAnswer& answer) {
  std::vector<double> logs;
  for (const FoundPlan& found : answer.plans) {
    const Seconds time = found.refined.value_or(found.result.iteration_time);
    logs.push_back(std::log(time.si()));
  }
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    FoundPlan& found = answer.plans[i];
    found.chance_fastest = chance_fastest(logs, i);
    found.chance_fits = chance_to_fit(found.result.memory_peak, found.result.memory_capacity);
  }
}

}  // namespace titer
