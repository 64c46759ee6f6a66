// How much a cut tidies up the classes: meters that rows pass through from right to left.
//
// A meter's gain() is the decrease of impurity times the weight of the rows with a known value:
// divided by the node's whole weight it is C4.5's gain, already scaled by the known share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "sureleaf/logarithm.hpp"

namespace sureleaf {

enum class Criterion : std::uint8_t { gain_ratio, entropy, gini };

// n log2 n for whole n in fixed point. Sums of such terms are exact, so they do not depend on the
// order of addition, and a row moved from right to left costs four look-ups.
class LogTable {
 public:
  // For counts up to `largest`; those beyond `n_stored` are computed when asked for.
  LogTable(std::size_t largest, std::size_t n_stored) {
    const int bits = std::ilogb(xlog2x(static_cast<double>(largest)) + 1.0) + 1;
    scale_ = std::ldexp(1.0, std::min(44, 61 - bits));
    table_.reserve(n_stored);
    for (std::size_t n = 0; n < n_stored; ++n) table_.push_back(compute(static_cast<double>(n)));
  }
  std::int64_t operator()(std::int64_t n) const {
    return static_cast<std::size_t>(n) < table_.size() ? table_[static_cast<std::size_t>(n)]
                                                       : compute(static_cast<double>(n));
  }
  double scale() const { return scale_; }

 private:
  std::int64_t compute(double n) const { return std::llround(xlog2x(n) * scale_); }
  double scale_ = 1.0;
  std::vector<std::int64_t> table_;
};

// Room for the class weights of the two sides of a cut, owned by a thread.
template <class Weight>
struct Sides {
  explicit Sides(std::size_t n_classes) : left(n_classes), right(n_classes) {}
  std::vector<Weight> left, right;

  void start(std::span<const Weight> totals) {
    std::fill(left.begin(), left.end(), Weight{0});
    std::copy(totals.begin(), totals.end(), right.begin());
  }
};

// Entropy of whole counts, in bits.
class CountEntropy {
 public:
  using Weight = std::int64_t;

  CountEntropy(std::span<const Weight> totals, Sides<Weight>& sides, const LogTable& logs)
      : logs_(logs), left_(sides.left.data()), right_(sides.right.data()) {
    sides.start(totals);
    for (const Weight n : totals) {
      n_right_ += n;
      right_sum_ += logs(n);
    }
    before_ = logs(n_right_) - right_sum_;
  }
  void move(std::size_t k, Weight w) {
    left_sum_ += logs_(left_[k] + w) - logs_(left_[k]);
    right_sum_ += logs_(right_[k] - w) - logs_(right_[k]);
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  double gain() const {
    const std::int64_t after = logs_(n_left_) - left_sum_ + logs_(n_right_) - right_sum_;
    return static_cast<double>(before_ - after) / logs_.scale();
  }
  Weight left() const { return n_left_; }
  Weight right() const { return n_right_; }

 private:
  const LogTable& logs_;
  Weight* left_;
  Weight* right_;
  Weight n_left_ = 0, n_right_ = 0;
  std::int64_t left_sum_ = 0, right_sum_ = 0, before_ = 0;
};

// Gini impurity of whole counts.
class CountGini {
 public:
  using Weight = std::int64_t;

  CountGini(std::span<const Weight> totals, Sides<Weight>& sides, const LogTable&)
      : left_(sides.left.data()), right_(sides.right.data()) {
    sides.start(totals);
    for (const Weight n : totals) {
      n_right_ += n;
      right_squares_ += square(n);
    }
    before_ = n_right_ > 0 ? right_squares_ / static_cast<double>(n_right_) : 0.0;
  }
  void move(std::size_t k, Weight w) {
    left_squares_ += square(left_[k] + w) - square(left_[k]);
    right_squares_ += square(right_[k] - w) - square(right_[k]);
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  double gain() const {
    return left_squares_ / static_cast<double>(n_left_) +
           right_squares_ / static_cast<double>(n_right_) - before_;
  }
  Weight left() const { return n_left_; }
  Weight right() const { return n_right_; }

 private:
  // As doubles: exact up to 2**53, and beyond that no wrap-around.
  static double square(Weight n) { return static_cast<double>(n) * static_cast<double>(n); }
  Weight* left_;
  Weight* right_;
  Weight n_left_ = 0, n_right_ = 0;
  double left_squares_ = 0, right_squares_ = 0, before_ = 0;
};

// The same two of fractional weights, summed anew at each cut so that no rounding piles up.
template <bool entropy>
class WeightMeter {
 public:
  using Weight = double;

  WeightMeter(std::span<const double> totals, Sides<double>& sides, const LogTable&)
      : left_(sides.left.data()), right_(sides.right.data()), n_classes_(totals.size()) {
    sides.start(totals);
    for (const double w : totals) n_right_ += w;
    before_ = tidiness(right_, n_right_);
  }
  void move(std::size_t k, double w) {
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  double gain() const { return tidiness(left_, n_left_) + tidiness(right_, n_right_) - before_; }
  double left() const { return n_left_; }
  double right() const { return n_right_; }

 private:
  double tidiness(const double* weights, double total) const {
    double sum = 0;
    if constexpr (entropy) {
      for (std::size_t k = 0; k < n_classes_; ++k) sum += xlog2x(weights[k]);
      return sum - xlog2x(total);
    } else {
      if (!(total > 0)) return 0.0;
      for (std::size_t k = 0; k < n_classes_; ++k) sum += weights[k] * weights[k];
      return sum / total;
    }
  }
  double* left_;
  double* right_;
  std::size_t n_classes_;
  double n_left_ = 0, n_right_ = 0, before_ = 0;
};

// All of them with two classes: two numbers say how a cut stands, and most cuts are dismissed by a
// bound that costs a few products, and no division or logarithm.
template <class Number, bool entropy>
class TwoClassMeter {
 public:
  using Weight = Number;

  TwoClassMeter(std::span<const Weight> totals, Sides<Weight>&, const LogTable& logs)
      : logs_(logs),
        total_(totals[0] + totals[1]),
        second_(totals[1]),
        total_weight_(static_cast<double>(total_)) {
    if constexpr (entropy) {
      before_ = untidiness(second_, total_);
      // Information is at most chi-squared: ln x <= x - 1.
      spread_ = total_weight_ * std::numbers::log2e *
                (1 / static_cast<double>(totals[0]) + 1 / static_cast<double>(totals[1]));
    }
  }
  void move(std::size_t k, Weight w) {
    left_ += w;
    left_second_ += k == 0 ? Weight{0} : w;
  }
  double gain() const {
    if constexpr (entropy) {
      const auto after = untidiness(left_second_, left_) + untidiness(right_second(), right());
      if constexpr (std::is_same_v<Weight, double>)
        return before_ - after;
      else
        return static_cast<double>(before_ - after) / logs_.scale();
    } else {
      const auto l = static_cast<double>(left_), r = static_cast<double>(right());
      const double apart =
          static_cast<double>(left_second_) / l - static_cast<double>(right_second()) / r;
      return 2.0 * apart * apart * (l / total_weight_) * r;
    }
  }
  // True only if gain() is not above the limit, rounding errors included.
  bool is_at_most(double limit) const {
    const auto l = static_cast<double>(left_), r = static_cast<double>(right());
    const double apart =
        static_cast<double>(left_second_) * r - static_cast<double>(right_second()) * l;
    return apart * apart * spread_ < (limit - 1e-13 * total_weight_) * (l * r * total_weight_);
  }
  Weight left() const { return left_; }
  Weight right() const { return total_ - left_; }

 private:
  Weight right_second() const { return second_ - left_second_; }
  Weight untidiness(Weight second, Weight all) const {
    if constexpr (std::is_same_v<Weight, double>)
      return xlog2x(all) - xlog2x(second) - xlog2x(all - second);
    else
      return logs_(all) - logs_(second) - logs_(all - second);
  }

  const LogTable& logs_;
  Weight total_, second_;
  Weight left_ = 0, left_second_ = 0;
  Weight before_ = 0;
  double total_weight_, spread_ = 2.0;
};

// What is left of the impurity, times weight, of one group of rows; zero is perfectly tidy.
// `total` is their weight, and `total_log` its xlog2x where entropy is asked for.
template <class Weight>
double group_impurity(std::span<const Weight> weights, double total, double total_log,
                      bool entropy) {
  double sum = 0;
  for (const Weight weight : weights) {
    const auto w = static_cast<double>(weight);
    sum += entropy ? xlog2x(w) : w * w;
  }
  if (!(total > 0)) return 0.0;
  return entropy ? total_log - sum : total - sum / total;
}

template <class Weight>
double group_impurity(std::span<const Weight> weights, bool entropy) {
  double total = 0;
  for (const Weight weight : weights) total += static_cast<double>(weight);
  return group_impurity(weights, total, entropy ? xlog2x(total) : 0.0, entropy);
}

// Rows taken together.
struct Group {
  double weight = 0;
  double weight_log = 0;  // its xlog2x, where entropy is asked for
  double impurity = 0;    // times the weight

  Group() = default;
  template <class Weight>
  Group(std::span<const Weight> weights, bool entropy) {
    for (const Weight w : weights) weight += static_cast<double>(w);
    if (entropy) weight_log = xlog2x(weight);
    impurity = group_impurity(weights, weight, weight_log, entropy);
  }
};

}  // namespace sureleaf
