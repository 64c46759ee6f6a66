// C4.5's estimate of the errors that a leaf will make.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "sureleaf/prune.hpp"

namespace sureleaf {

// C4.5's estimate of a leaf's errors on other rows: the upper limit of a one-sided interval.
class PessimisticErrors {
 public:
  // `quantile` is the standard normal quantile of 1 - confidence_factor.
  PessimisticErrors(double confidence_factor, double quantile)
      : confidence_factor_(confidence_factor), z_(quantile) {}

  double operator()(std::span<const double> weights) const {
    const double n = total_weight(weights);
    const double e = training_errors(weights);
    return e + added(n, e);
  }
  // Whether further rows never make it less.
  bool never_falls() const { return z_ >= 0; }

 private:
  double added(double n, double e) const {
    if (!(n > 0)) return 0.0;
    if (e < 1) {
      const double none = n * (1 - std::pow(confidence_factor_, 1 / n));
      return e == 0 ? none : none + e * (added(n, 1) - none);
    }
    if (e + 0.5 >= n) return std::max(n - e, 0.0);
    const double f = (e + 0.5) / n, zz = z_ * z_;
    const double spread = z_ * std::sqrt(f / n - f * f / n + zz / (4 * n * n));
    return n * (f + zz / (2 * n) + spread) / (1 + zz / n) - e;
  }
  double confidence_factor_, z_;
};

}  // namespace sureleaf
