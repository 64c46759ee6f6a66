// Where exactly a cut between two neighbouring values is made.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sureleaf/arena.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf::detail {

// Between low and high, or low itself where floating point has nothing between (or infinities).
inline double midpoint(double low, double high) {
  double middle = (low + high) / 2;
  if (!std::isfinite(middle)) middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

// A threshold is raised to the largest value of its column that is this close above it.
inline constexpr double c45_noise = 5e-7;

// Where different values are as close as c45_slack, C4.5's threshold depends on the order of rows:
// going down the column it takes each value that is not above the midpoint and clearly above the
// one it has. `nearby` holds the values that can matter, the largest first.
struct PlacedValue {
  std::uint32_t row;
  double value;
};
inline constexpr std::size_t max_nearby = 1000;

// Adds the next lower value; false when it and those below it no longer matter, which is when the
// first row of those above stands clear of it: coming first, that one is taken whatever came
// before.
inline bool add_nearby(std::vector<PlacedValue>& nearby, std::uint32_t row, double value) {
  if (!nearby.empty() && nearby.front().value - value > c45_slack) return false;
  nearby.push_back({row, value});
  // The earliest row is kept in front, for the test above.
  if (row < nearby.front().row) std::swap(nearby.front(), nearby.back());
  return nearby.size() < max_nearby;
}

inline double threshold_in_row_order(std::vector<PlacedValue>& nearby) {
  std::sort(nearby.begin(), nearby.end(),
            [](const PlacedValue& a, const PlacedValue& b) { return a.row < b.row; });
  double threshold = -std::numeric_limits<double>::infinity();
  for (const PlacedValue& item : nearby)
    if (item.value - threshold > c45_slack) threshold = item.value;
  return threshold;
}

// Finds the place of many numbers among sorted ones: each is looked for only among those that share
// its stretch of the line from the first to the last.
class Stretches {
 public:
  explicit Stretches(const std::vector<double>& sorted) : first_(sorted.front()) {
    const double length = sorted.back() - sorted.front();
    const auto n = static_cast<double>(2 * sorted.size());
    if (length > 0 && std::isfinite(n / length) && std::isfinite(length)) {
      scale_ = n / length;
      last_ = n;
    }
    starts_.assign(static_cast<std::size_t>(last_) + 2, sorted.size());
    for (std::size_t i = sorted.size(); i-- > 0;) starts_[of(sorted[i])] = i;
    for (std::size_t s = starts_.size() - 1; s-- > 0;)
      starts_[s] = std::min(starts_[s], starts_[s + 1]);
  }
  // How many of the sorted numbers are below by `is_below`, which may differ from < for those close
  // to the value: found by halving without a branch to guess, and set right at the ends.
  template <class IsBelow>
  std::size_t n_below(double value, IsBelow&& is_below) const {
    const std::size_t stretch = of(value);
    std::size_t at = starts_[stretch], n = starts_[stretch + 1] - at;
    for (; n > 1; n -= n / 2) at += static_cast<std::size_t>(is_below(at + n / 2 - 1)) * (n / 2);
    while (at < starts_.back() && is_below(at)) ++at;
    while (at > 0 && !is_below(at - 1)) --at;
    return at;
  }

 private:
  std::size_t of(double value) const {
    const double place = (value - first_) * scale_;
    return place > 0 ? static_cast<std::size_t>(std::min(place, last_)) : 0;
  }
  double first_, scale_ = 0, last_ = 0;
  std::vector<std::size_t> starts_;
};

// C4.5 cuts at a value that occurs: the largest of the whole training set that is not above the
// midpoint by more than its slack. Found for all cuts of a column in one pass over the column.
class Thresholds {
 public:
  explicit Thresholds(std::size_t n_columns) : midpoints_(n_columns), settled_(n_columns) {}

  void add(const Arena& arena) {
    for (const GrownNode& node : arena.nodes)
      if (node.feature >= 0 && node.n_categories == 0 && !node.threshold_is_settled)
        midpoints_[static_cast<std::size_t>(node.feature)].push_back(midpoint(node.low, node.high));
  }

  // `visit_values(visit)` shows the column's values in the training set, in any order.
  template <class VisitValues>
  void settle(std::size_t j, VisitValues&& visit_values) {
    std::vector<double>& middles = midpoints_[j];
    if (middles.empty()) return;
    std::sort(middles.begin(), middles.end());
    middles.erase(std::unique(middles.begin(), middles.end()), middles.end());
    std::vector<double>& settled = settled_[j];
    settled.assign(middles.size(), -std::numeric_limits<double>::infinity());
    const Stretches stretches(middles);
    visit_values([&](double value) {
      const std::size_t at = stretches.n_below(
          value, [&](std::size_t i) { return !(value - middles[i] < c45_slack); });
      if (at < middles.size()) settled[at] = std::max(settled[at], value);
    });
    for (std::size_t i = 1; i < settled.size(); ++i)
      settled[i] = std::max(settled[i], settled[i - 1]);
  }

  double of(const GrownNode& node) const {
    if (node.threshold_is_settled) return node.low;
    const auto j = static_cast<std::size_t>(node.feature);
    const auto at =
        std::lower_bound(midpoints_[j].begin(), midpoints_[j].end(), midpoint(node.low, node.high));
    const double value = settled_[j][static_cast<std::size_t>(at - midpoints_[j].begin())];
    return value < node.high ? std::max(value, node.low) : node.low;
  }

 private:
  std::vector<std::vector<double>> midpoints_, settled_;
};

}  // namespace sureleaf::detail
