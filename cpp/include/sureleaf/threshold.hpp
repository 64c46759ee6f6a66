// The threshold between two neighbouring values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sureleaf/growth.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf::detail {

// Between low and high, or low itself if there is no number between them (or one is infinite).
inline double midpoint(double low, double high) {
  double middle = (low + high) / 2;
  if (!std::isfinite(middle)) middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

// A threshold is raised to the largest value of its column that is this close above it.
inline constexpr double c45_noise = 5e-7;

// If different values are as close as c45_slack, C4.5's threshold depends on the order of rows: it
// goes down the column and takes each value that is not above the midpoint and clearly above the
// current one. `nearby` holds the values that can matter, the largest first.
struct NearbyValue {
  std::uint32_t row;
  double value;
};
inline constexpr std::size_t max_nearby = 1000;

// Adds the next lower value. False if it and the values below no longer matter: that is so if the
// earliest of the rows above is clearly above it, because that row is taken whatever came before.
inline bool add_nearby(std::vector<NearbyValue>& nearby, std::uint32_t row, double value) {
  if (!nearby.empty() && nearby.front().value - value > c45_slack) return false;
  nearby.push_back({row, value});
  // The earliest row is kept in front, for the test above.
  if (row < nearby.front().row) std::swap(nearby.front(), nearby.back());
  return nearby.size() < max_nearby;
}

inline double threshold_in_row_order(std::vector<NearbyValue>& nearby) {
  std::sort(nearby.begin(), nearby.end(),
            [](const NearbyValue& a, const NearbyValue& b) { return a.row < b.row; });
  double threshold = -std::numeric_limits<double>::infinity();
  for (const NearbyValue& item : nearby)
    if (item.value - threshold > c45_slack) threshold = item.value;
  return threshold;
}

template <class Entry>
class Thresholds {
 public:
  explicit Thresholds(const Growth<Entry>& growth) : growth_(growth) {}

  // The threshold of a node's split between two of its neighbouring values.
  double of(const Candidate& cut, std::size_t j) const {
    if (cut.tests_missing) return std::numeric_limits<double>::infinity();
    const PresortedColumn& column = growth_.data.columns[j];
    auto value_at = [&](std::uint32_t at) {
      return column.is_ordered_list() ? growth_.data.table[j].value(at) : column.values[at];
    };
    const double low = value_at(cut.below), high = value_at(cut.above);
    const ThresholdRule rule = growth_.config.threshold_rule();
    // Rows of the next range may be anywhere above the end of this one.
    if (rule == ThresholdRule::observed || column.are_ranges) return low;
    const double middle = midpoint(low, high);
    if (rule == ThresholdRule::midpoint) return middle;
    if (growth_.needs_gap(j)) return among_close_values(low, middle, j);
    const double threshold = largest_up_to(middle, low, j);
    return threshold < high ? std::max(threshold, low) : low;
  }

 private:
  // C4.5's thresholds are observed values: the largest of the whole training set that is not above
  // the midpoint by more than the slack.
  double largest_up_to(double middle, double threshold, std::size_t j) const {
    walk_down(j, middle + c45_slack, [&](std::uint32_t, double value) {
      if (!(value - middle < c45_slack)) return true;
      threshold = value;
      return false;
    });
    return threshold;
  }

  // If values are too close for C4.5 to tell apart, its threshold depends on the order of rows. It
  // is kept from falling below the split and from separating values that differ by noise.
  double among_close_values(double low, double middle, std::size_t j) const {
    double threshold = low;
    std::vector<NearbyValue> nearby;
    walk_down(j, middle + c45_slack, [&](std::uint32_t row, double value) {
      if (!(value - middle < c45_slack)) return true;
      return add_nearby(nearby, row, value);
    });
    if (!nearby.empty()) threshold = std::max(threshold, threshold_in_row_order(nearby));
    double highest = threshold;
    walk_down(j, threshold + c45_noise, [&](std::uint32_t, double value) {
      if (value > threshold && !(value - threshold < c45_noise)) return true;
      highest = std::max(highest, value);
      return false;
    });
    return highest;
  }

  // Calls visit(first row, value) for the distinct values of the whole training set up to `from`,
  // the largest first, until it returns false.
  template <class Visit>
  void walk_down(std::size_t j, double from, Visit&& visit) const {
    const PresortedColumn& column = growth_.data.columns[j];
    if (!column.is_ordered_list()) {
      const std::vector<std::uint32_t>& first_row =
          growth_.first_rows[j];  // empty: all codes occur
      const auto end = std::ranges::upper_bound(column.values, from);
      for (auto code = static_cast<std::size_t>(end - column.values.begin()); code-- > 0;) {
        const std::uint32_t row = first_row.empty() ? 0 : first_row[code];
        if (row != no_code && !visit(row, column.values[code])) return;
      }
      return;
    }
    const auto value_of = [&](std::uint32_t item) {
      return growth_.data.table[j].value(item & ~increase_bit);
    };
    const auto begin = column.order.begin();
    auto end = std::partition_point(begin, begin + static_cast<std::ptrdiff_t>(column.n_known),
                                    [&](std::uint32_t item) { return value_of(item) <= from; });
    while (end != begin) {
      const double value = value_of(*(end - 1));
      const auto first = std::partition_point(
          begin, end, [&](std::uint32_t item) { return value_of(item) < value; });
      const auto present = std::find_if(
          first, end, [&](std::uint32_t item) { return growth_.takes_part(item & ~increase_bit); });
      if (present != end && !visit(*present & ~increase_bit, value)) return;
      end = first;
    }
  }

  const Growth<Entry>& growth_;
};

}  // namespace sureleaf::detail
