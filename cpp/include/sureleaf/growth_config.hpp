// The rules by which a tree is grown: one struct for the kernel and for Python.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

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

struct GrowthConfig {
  std::uint8_t criterion = criterion_id<GainRatio>;
  CategoricalSplit categorical_split = CategoricalSplit::multiway;
  double min_samples_leaf = 2.0;
  std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();

  bool has_c45_rules() const { return Criteria::have_c45_rules[criterion]; }
  bool needs_logs() const { return Criteria::need_logs[criterion]; }
  bool uses_subsets() const { return categorical_split == CategoricalSplit::subset; }
  // The least weight on either side of a threshold.
  double min_side_weight(double known_weight, std::size_t n_classes) const {
    if (!has_c45_rules()) return min_samples_leaf;
    const double side = c45_side_share * known_weight / static_cast<double>(n_classes);
    if (side <= min_samples_leaf) return min_samples_leaf;
    return std::min(side, c45_largest_side);
  }
};

}  // namespace sureleaf
