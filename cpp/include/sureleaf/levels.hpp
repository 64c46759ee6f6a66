// Confidence of one node (5), confidence of a node in a tree (9), and the entropic mle of p_max.
//
// Throughout p = p_max, q = 1 - p, s = 2p - 1, z = 4pq = 1 - s^2, and a = ceil(n / 2): the
// confidence of n rows depends on a only, since an even n equals n - 1. A NaN in is a NaN out;
// all other arguments are taken as checked.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sureleaf {

namespace detail {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kSqrtPi = 1.7724538509055160273;
// Up to here the finite sum is both exact and quick; from here on the expansion is exact.
inline constexpr int kLastSummed = 32;

// C(2k, k) / 4^k for k = 0..kLastSummed: the chance of a tie among 2k fair tosses.
inline constexpr auto kTieChance = [] {
  std::array<double, kLastSummed + 1> ties{};
  ties[0] = 1.0;
  for (int k = 0; k < kLastSummed; ++k) ties[k + 1] = ties[k] * (2 * k + 1) / (2 * k + 2);
  return ties;
}();

// -log z, without the cancellation of 1 - s^2 for p near 1/2.
inline double decay_of(double p) {
  const double s = 2 * p - 1;
  return s < 0.5 ? -std::log1p(-s * s) : -std::log(4 * p * (1 - p));
}

// 1/2 + (p - 1/2) * sum_{k < a} C(2k,k) (pq)^k: all terms positive, no cancellation.
inline double confidence_by_sum(int a, double p) {
  const double z = 4 * p * (1 - p);
  double sum = 0;
  for (int k = a - 1; k >= 0; --k) sum = sum * z + kTieChance[k];
  return 0.5 + (p - 0.5) * sum;
}

// The terms b_k / beta^(2k), k = 1..4, of Gamma(a) sqrt(beta) / Gamma(a + 1/2) with
// beta = a - 1/4; the next one is below 3e-18 for a > 32.
inline std::array<double, 4> beta_terms(double beta) {
  const double u = 1 / (beta * beta);
  return {-u / 64, u * u * (21.0 / 8192), -u * u * u * (671.0 / 524288),
          u * u * u * u * (180323.0 / 134217728)};
}

// I_p(a, a) for a > 32, a not necessarily whole. With u = 2t - 1 and 1 - u^2 = exp(-v^2),
//   integral of (1 - u^2)^(a-1) du = integral of exp(-beta v^2) (sinh(w) / w)^(-1/2) dv,
// w = v^2 / 2, beta = a - 1/4. The root is a series in w^2, so that term by term the integral
// is an incomplete gamma function of 2k + 1/2, and all of these come down to one erf.
inline double confidence_by_expansion(double a, double decay) {
  const double beta = a - 0.25;
  const double x = beta * decay;
  if (x > 40) return 1.0;  // erfc(sqrt(40)) / 2 is 2e-19
  const auto b = beta_terms(beta);
  const double b4 = b[3], b34 = b[2] + b4, b234 = b[1] + b34, b1234 = b[0] + b234;
  // 1 / Gamma(j + 1/2) for j = 1..8
  const double gammas = 1.1283791670955125739 * b1234 +
                        x * (0.75225277806367504925 * b1234 +
                             x * (0.30090111122547001970 * b234 +
                                  x * (0.085971746064420005629 * b234 +
                                       x * (0.019104832458760001251 * b34 +
                                            x * (0.0034736059015927275002 * b34 +
                                                 x * (0.00053440090793734269233 * b4 +
                                                      x * 0.000071253454391645692311 * b4))))));
  const double root = std::sqrt(x);
  const double c = 0.5 + 0.5 * (std::erf(root) - std::exp(-x) * root * gammas / (1 + b1234));
  return std::min(c, 1.0);
}

// The confidence of 2a - 1 and of 2a rows.
inline double confidence_at(double a, double p, double decay) {
  if (a == 0 || p == 0.5) return 0.5;
  if (a <= kLastSummed) return confidence_by_sum(static_cast<int>(a), p);
  return confidence_by_expansion(a, decay);
}

// C(2k, k) (pq)^k, what k -> k + 1 adds to the sum.
inline double tie_term(double k, double p, double decay) {
  if (k <= kLastSummed)
    return kTieChance[static_cast<int>(k)] * std::pow(4 * p * (1 - p), static_cast<int>(k));
  const double beta = k - 0.25;
  const auto b = beta_terms(beta);
  return std::exp(-k * decay) * std::sqrt(beta) / ((1 + b[0] + b[1] + b[2] + b[3]) * k * kSqrtPi);
}

}  // namespace detail

// (5). Between whole numbers of rows the value is interpolated linearly: n rows are
// floor(n) + 1 rows with chance n - floor(n), else floor(n). Infinity is the limit.
inline double confidence(double n, double p) {
  const double s = 2 * p - 1;
  // most nodes of many rows: a - 1/4 >= n/2 - 3/4 and -log(1 - s^2) >= s^2, see the expansion
  if ((0.5 * n - 0.75) * s * s > 40) return 1.0;
  if (std::isnan(n) || std::isnan(p)) return detail::kNaN;
  const double decay = detail::decay_of(p);
  const double whole = std::floor(n);
  const double a = std::ceil(whole / 2);
  const double low = detail::confidence_at(a, p, decay);
  if (whole == n || 2 * a > whole) return low;  // from an odd number to the next it is constant
  return low + (n - whole) * (detail::confidence_at(a + 1, p, decay) - low);
}

namespace detail {

// Expected confidence over N ~ Bin(n, share), n whole; a node without rows tosses a coin.
//
// Only the N within Bernstein's bound matter: outside of it lie less than 2 exp(-36) = 5e-16.
// One walk upwards carries the binomial weight (times a constant that cancels) and the confidence.
inline double expected_by_walk(double n, double share, double p, double decay) {
  const double mean = n * share, variance = mean * (1 - share);
  const double reach = 12 + std::sqrt(144 + 72 * variance);
  const double first = std::max(0.0, std::floor(mean - reach));
  const double last = std::min(n, std::ceil(mean + reach));
  const double odds = share / (1 - share), z = 4 * p * (1 - p);
  double k = std::ceil(first / 2);
  double level = confidence_at(k, p, decay);
  if (level == 1.0) return 1.0;
  double step = (p - 0.5) * tie_term(k, p, decay);
  double weight = 1e-300;  // grows by less than 1e400 to the mode, so it cannot overflow
  double total = 0, sum = 0;
  for (double m = first;; m += 1) {
    total += weight;
    sum += weight * level;
    if (m == last) break;
    if (m == 2 * k) {
      level += step;
      step *= z * (2 * k + 1) / (2 * k + 2);
      k += 1;
    }
    weight *= (n - m) / (m + 1) * odds;
  }
  return std::min(sum / total, 1.0);
}

// The same for a variance so large that the two points mean -+ one standard deviation integrate
// to within (1 / variance)^2: the levels vary over a scale of the mean, which exceeds the
// variance. Odd and even N are then equally likely (up to exp(-2 variance)).
inline double expected_by_two_points(double n, double share, double decay) {
  const double mean = n * share, deviation = std::sqrt(mean * (1 - share));
  double sum = 0;
  for (double rows : {mean - deviation, mean + deviation})
    for (double a : {rows / 2, (rows + 1) / 2}) sum += confidence_by_expansion(a, decay);
  return sum / 4;
}

inline double expected_confidence(double n, double share, double p, double decay) {
  if (share == 1 || n == 0) return confidence_at(std::ceil(n / 2), p, decay);
  if (share == 0 || p == 0.5) return 0.5;
  if (std::isinf(n)) return 1.0;
  if (n * share * (1 - share) > 1e7) return expected_by_two_points(n, share, decay);
  return expected_by_walk(n, share, p, decay);
}

inline double empty_chance(double n, double share) {
  return n == 0 || share == 0 ? 1.0 : std::exp(n * std::log1p(-share));
}

}  // namespace detail

// (9) for a node that gets N ~ Bin(n, share) rows. An empty node is a coin, or else a miss.
inline double node_confidence(double n, double share, double p, bool empty_is_coin) {
  if (std::isnan(n) || std::isnan(share) || std::isnan(p)) return detail::kNaN;
  const double decay = detail::decay_of(p);
  const auto at = [&](double rows) {
    const double level = detail::expected_confidence(rows, share, p, decay);
    return empty_is_coin ? level : std::max(0.0, level - 0.5 * detail::empty_chance(rows, share));
  };
  const double whole = std::floor(n);
  const double low = at(whole);
  return whole == n ? low : low + (n - whole) * (at(whole + 1) - low);
}

// The maximiser of (2) over p in [1/2, 1]: with d = 2y - n, the root of g(s) = n s - d T(s),
// T(s) = tanh(d atanh s). Where d*d > n (so d > 1) g is convex with g(0) = 0 > g'(0) and
// g(d / n) >= 0, so Newton's method comes down to the one positive root without overshooting.
inline double entropic_estimate(double y, double n) {
  if (std::isnan(y) || std::isnan(n)) return detail::kNaN;
  const double d = 2 * y - n;
  if (d * d <= n) return 0.5;
  if (d >= n) return 1.0;
  if (d * d > 20 * n) return y / n;  // 1 - T(d / n) < 2 exp(-2 d^2 / n) < 1e-17
  const double highest = d / n;
  const auto tanh_at = [d](double s) {
    const double e = std::expm1(-d * std::log1p(2 * s / (1 - s)));
    return -e / (2 + e);
  };
  // tanh(t) / t <= (1 + 2 t^2 / 3)^(-1/2) suggests this start; used where it lies above the root.
  const double ratio = d * d / n;
  double s = std::min(highest, std::sqrt(1.5 * (ratio - 1) * (ratio + 1) / (d * d - 1)));
  double t = tanh_at(s);
  if (n * s < d * t) {
    s = highest;
    t = tanh_at(s);
  }
  for (int round = 0; round < 64; ++round) {
    const double slope = n - d * d * (1 - t) * (1 + t) / ((1 - s) * (1 + s));
    const double next = s - (n * s - d * t) / slope;
    if (!(slope > 0) || !(next < s) || !(next > 0)) break;  // down to rounding errors
    const bool close = s - next < 1e-9 * s;  // the next error is about the square of this
    s = next;
    if (close) break;
    t = tanh_at(s);
  }
  return std::min(0.5 + 0.5 * s, y / n);
}

}  // namespace sureleaf
