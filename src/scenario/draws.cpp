#include "titer/scenario/draws.hpp"

#include <cmath>
#include <cstddef>

namespace titer {
namespace {

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = 0;
  for (std::size_t i = N; i-- > 0;) {
    value = value * x + coefficients[i];
  }
  return value;
}

// The coefficients of AS 241, routine PPND16: numerator and denominator by the power of the
// argument, of the middle, the tails and the far tails.
constexpr std::array<double, 8> kMiddle = {3.3871328727963666080e0,
                                           1.3314166789178437745e2,
                                           1.9715909503065514427e3,
                                           1.3731693765509461125e4,
                                           4.5921953931549871457e4,
                                           6.7265770927008700853e4,
                                           3.3430575583588128105e4,
                                           2.5090809287301226727e3};
constexpr std::array<double, 8> kMiddleBelow = {1.0,
                                                4.2313330701600911252e1,
                                                6.8718700749205790830e2,
                                                5.3941960214247511077e3,
                                                2.1213794301586595867e4,
                                                3.9307895800092710610e4,
                                                2.8729085735721942674e4,
                                                5.2264952788528545610e3};
constexpr std::array<double, 8> kTail = {1.42343711074968357734e0,
                                         4.63033784615654529590e0,
                                         5.76949722146069140550e0,
                                         3.64784832476320460504e0,
                                         1.27045825245236838258e0,
                                         2.41780725177450611770e-1,
                                         2.27238449892691845833e-2,
                                         7.74545014278341407640e-4};
constexpr std::array<double, 8> kTailBelow = {1.0,
                                              2.05319162663775882187e0,
                                              1.67638483018380384940e0,
                                              6.89767334985100004550e-1,
                                              1.48103976427480074590e-1,
                                              1.51986665636164571966e-2,
                                              5.47593808499534494600e-4,
                                              1.05075007164441684324e-9};
constexpr std::array<double, 8> kFar = {6.65790464350110377720e0,
                                        5.46378491116411436990e0,
                                        1.78482653991729133580e0,
                                        2.96560571828504891230e-1,
                                        2.65321895265761230930e-2,
                                        1.24266094738807843860e-3,
                                        2.71155556874348757815e-5,
                                        2.01033439929228813265e-7};
constexpr std::array<double, 8> kFarBelow = {1.0,
                                             5.99832206555887937690e-1,
                                             1.36929880922735805310e-1,
                                             1.48753612908506148525e-2,
                                             7.86869131145613259100e-4,
                                             1.84631831751005468180e-5,
                                             1.42151175831644588870e-7,
                                             2.04426310338993978564e-15};

}  // namespace

double normal_quantile_above(double above) {
  constexpr double middle = 0.425;
  const double q = 0.5 - above;
  if (std::abs(q) <= middle) {
    const double r = middle * middle - q * q;
    return q * polynomial(kMiddle, r) / polynomial(kMiddleBelow, r);
  }
  constexpr double far = 5.0;
  const double r = std::sqrt(-std::log(q > 0 ? above : 1 - above));
  const double size = r <= far ? polynomial(kTail, r - 1.6) / polynomial(kTailBelow, r - 1.6)
                               : polynomial(kFar, r - far) / polynomial(kFarBelow, r - far);
  return q > 0 ? size : -size;
}

}  // namespace titer
