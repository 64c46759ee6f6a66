// Monotone constraints: the probability of a class must not fall (or not rise) along a column.
//
// Every node has bounds on its class probabilities. A split is allowed if the probabilities of all
// its branches lie within the node's bounds and, on a constrained column, in the right order. The
// midpoint of the two probabilities then bounds all nodes below, so that no leaf on the left can
// exceed one on the right (as in scikit-learn).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace sureleaf {

// Probabilities closer than this are equal.
inline constexpr double monotone_slack = 1e-12;

// Of the class probabilities of a node and all nodes below; empty without constraints.
struct ClassBounds {
  std::vector<double> lower, upper;

  void start(std::size_t n_classes) {
    lower.assign(n_classes, 0.0);
    upper.assign(n_classes, 1.0);
  }
};

// Whether splits of one column of a node are allowed.
class MonotoneCheck {
 public:
  // `node` has the class weights of all rows, `known` those of the rows with a known value.
  template <class Weight>
  MonotoneCheck(std::span<const std::int8_t> signs, const ClassBounds& bounds,
                std::span<const double> node, std::span<const Weight> known)
      : signs_(signs), bounds_(bounds), node_(node), known_(known.begin(), known.end()) {
    node_weight_ = std::accumulate(node_.begin(), node_.end(), 0.0);
    known_weight_ = std::accumulate(known_.begin(), known_.end(), 0.0);
  }

  // `is_ordered`: the left side has the lower values of the column.
  template <class Weight>
  bool allows(std::span<const Weight> left, std::span<const Weight> right, bool is_ordered) const {
    if (!is_within(left) || !is_within(right)) return false;
    if (!is_ordered) return true;
    const double n_left = total(left), n_right = total(right);
    for (std::size_t k = 0; k < signs_.size(); ++k) {
      const double rise = probability(right, n_right, k) - probability(left, n_left, k);
      if (signs_[k] * rise < -monotone_slack) return false;
    }
    return true;
  }
  template <class Weight>
  bool is_within(std::span<const Weight> side) const {
    const double n = total(side);
    if (!(n > 0)) return true;  // an empty branch has the probabilities of its parent
    for (std::size_t k = 0; k < node_.size(); ++k) {
      const double p = probability(side, n, k);
      if (p < bounds_.lower[k] - monotone_slack || p > bounds_.upper[k] + monotone_slack)
        return false;
    }
    return true;
  }

 private:
  template <class Weight>
  static double total(std::span<const Weight> weights) {
    double sum = 0;
    for (const Weight w : weights) sum += static_cast<double>(w);
    return sum;
  }
  // Rows with a missing value are shared out by weight, so they bring all sides closer together.
  template <class Weight>
  double probability(std::span<const Weight> side, double n, std::size_t k) const {
    return (static_cast<double>(side[k]) / n * known_weight_ + node_[k] - known_[k]) / node_weight_;
  }

  std::span<const std::int8_t> signs_;  // empty: no constraint on this column
  const ClassBounds& bounds_;
  std::span<const double> node_;
  std::vector<double> known_;
  double node_weight_ = 0, known_weight_ = 0;
};

}  // namespace sureleaf
