// Binomial probabilities that keep their digits for a billion trials.
#pragma once

#include <cmath>
#include <limits>

namespace sureleaf {

namespace detail {

inline constexpr double kLogTwoPi = 1.8378770664093454836;

// log(n!) - log(sqrt(2 pi n) (n/e)^n) for whole n >= 1: Stirling's series, below n = 16 exact.
inline double stirling_error(double n) {
  if (n < 16) {
    double factorial = 1;
    for (int k = 2; k <= static_cast<int>(n); ++k) factorial *= k;
    return std::log(factorial) - (n + 0.5) * std::log(n) + n - 0.5 * kLogTwoPi;
  }
  const double u = 1 / (n * n);
  return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / n;
}

// x log(x / mean) + mean - x. Near x = mean the three terms cancel, so there a series in
// v = (x - mean) / (x + mean): x log(x / mean) = 2x (v + v^3/3 + ...), and (x - mean) v is left.
inline double deviance(double x, double mean) {
  const double gap = x - mean, v = gap / (x + mean);
  if (std::abs(v) > 0.1) return x * std::log(x / mean) - gap;
  double sum = gap * v, power = 2 * x * v;
  for (int k = 3; k < 100; k += 2) {  // 17 steps at most, unless a number is not finite
    power *= v * v;
    const double next = sum + power / k;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

}  // namespace detail

// log P(Y = y), Y ~ Bin(n, p), for whole 0 <= y <= n and p >= 1/2 (so that 1 - p is exact), by
// the saddle point expansion of Loader (2000), "Fast and accurate computation of binomial
// probabilities": exact, and without the cancellation between three log-factorials.
inline double log_binomial(double y, double n, double p) {
  if (std::isnan(y) || std::isnan(n) || std::isnan(p))
    return std::numeric_limits<double>::quiet_NaN();
  const double q = 1 - p, rest = n - y;
  if (rest == 0) return y == 0 ? 0.0 : n * std::log1p(-q);
  if (q == 0) return -std::numeric_limits<double>::infinity();
  if (y == 0) return n * std::log(q);
  return detail::stirling_error(n) - detail::stirling_error(y) - detail::stirling_error(rest) -
         detail::deviance(y, n * p) - detail::deviance(rest, n * q) +
         0.5 * (std::log(n / y / rest) - detail::kLogTwoPi);
}

}  // namespace sureleaf
