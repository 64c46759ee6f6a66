// The rules by which a tree is grown: one struct for the kernel and for Python.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sureleaf/criterion.hpp"

namespace sureleaf {

// Tolerances and guards of C4.5 (docs/c45.md).
inline constexpr double c45_slack = 1e-6;  // weights and gains closer than this are equal
inline constexpr double c45_least_gain = 1e-6;
inline constexpr double c45_average_gain_slack = 1e-3;
inline constexpr double c45_many_values_share = 0.3;
inline constexpr double c45_largest_side = 25.0;
inline constexpr double c45_side_share = 0.1;
// Other criteria: decreases closer than this share of the node's impurity are ties.
inline constexpr double tie_share = 1e-10;

// What a split on a categorical column is.
enum class CategoricalSplit : std::uint8_t {
  multiway,  // one branch per category
  subset,    // two groups of categories
};

// What happens to rows whose value is missing at a test.
enum class Missing : std::uint8_t {
  fraction,  // they go down all branches, with the share that each has of the known weight
  branch,    // they take one branch, which the test has learned
};

// The number that rows are compared with, between two neighbouring values of a node.
enum class ThresholdRule : std::uint8_t {
  c45,       // an observed value near the midpoint; values closer than 1e-5 are not separated
  midpoint,  // the mean of the two values
  observed,  // the lower value: the same test under any increasing transformation of the column
};

struct GrowthConfig {
  std::uint8_t criterion = criterion_id<GainRatio>;
  CategoricalSplit categorical_split = CategoricalSplit::multiway;
  double min_samples_leaf = 2.0;
  std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();
  Missing missing = Missing::fraction;
  std::optional<ThresholdRule> thresholds;  // none: see threshold_rule()
  std::size_t max_leaves = 0;               // 0: no limit; else nodes are split best first
  std::size_t max_features = 0;             // columns drawn per node; 0: all
  std::uint64_t seed = 0, tree = 0;         // of the draws, with the path to the node
  // The gain of a split by categories is reduced by so many times the gain that such a split is
  // expected to have by chance. Not for C4.5, which has rules of its own.
  double category_penalty = 0.0;
  // n_columns x n_classes: 1 if the probability of the class must not fall along the column, -1 if
  // it must not rise, else 0. Empty: no constraints.
  std::vector<std::int8_t> monotone;

  bool has_c45_rules() const { return Criteria::have_c45_rules[criterion]; }
  bool needs_logs() const { return Criteria::need_logs[criterion]; }
  bool uses_subsets() const { return categorical_split == CategoricalSplit::subset; }
  // Whether something is subtracted from the gain of a split by categories.
  bool has_category_penalty() const { return !has_c45_rules() && category_penalty != 0.0; }
  bool is_monotone() const { return !monotone.empty(); }
  std::span<const std::int8_t> signs_of(std::size_t column, std::size_t n_classes) const {
    return std::span(monotone).subspan(column * n_classes, n_classes);
  }
  bool missing_takes_branch() const { return missing == Missing::branch; }
  ThresholdRule threshold_rule() const {
    if (thresholds) return *thresholds;
    if (has_c45_rules()) return ThresholdRule::c45;
    return missing_takes_branch() ? ThresholdRule::observed : ThresholdRule::midpoint;
  }
  // The least weight on either side of a threshold.
  double min_side_weight(double known_weight, std::size_t n_classes) const {
    if (!has_c45_rules()) return min_samples_leaf;
    const double side = c45_side_share * known_weight / static_cast<double>(n_classes);
    if (side <= min_samples_leaf) return min_samples_leaf;
    return std::min(side, c45_largest_side);
  }
};

}  // namespace sureleaf
