// The best cut of one column in one node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sureleaf/impurity.hpp"
#include "sureleaf/presort.hpp"

namespace sureleaf {

// C4.5 compares weights and gains with this much to spare.
inline constexpr double c45_slack = 1e-6;
inline constexpr double c45_least_gain = 1e-6;
inline constexpr double c45_average_gain_slack = 1e-3;
inline constexpr double c45_many_values_share = 0.3;
inline constexpr double c45_largest_side = 25.0;
inline constexpr double c45_side_share = 0.1;
// Entropy and gini: decreases closer than this share of the node's impurity are the same.
inline constexpr double tie_share = 1e-10;

struct GrowthRules {
  Criterion criterion = Criterion::gain_ratio;
  bool subsets = false;
  double min_samples_leaf = 2.0;
  std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();

  bool is_c45() const { return criterion == Criterion::gain_ratio; }
  bool uses_entropy() const { return criterion != Criterion::gini; }
  // The least weight of either side of a threshold.
  double min_side(double known_weight, std::size_t n_classes) const {
    if (!is_c45()) return min_samples_leaf;
    const double side = c45_side_share * known_weight / static_cast<double>(n_classes);
    if (side <= min_samples_leaf) return min_samples_leaf;
    return std::min(side, c45_largest_side);
  }
};

// A list entry: a row, its class, and whether its value is above its predecessor's; where there is
// room, also how often the row counts (a bootstrap's rows count a few times each).
template <class Entry>
struct Packing {
  static constexpr unsigned top = sizeof(Entry) * 8 - 1;
  static constexpr Entry increase = Entry{1} << top;

  unsigned row_bits = 0;
  Entry row_mask = 0;
  Entry class_mask = 0;
  unsigned count_shift = 0;
  Entry count_mask = 0;  // 0: no room, or every row counts once

  Packing(std::size_t n_rows, std::size_t n_classes, std::size_t largest_count = 1) {
    row_bits = static_cast<unsigned>(std::bit_width(n_rows - 1));
    row_mask = (Entry{1} << row_bits) - 1;
    class_mask = (Entry{1} << std::bit_width(n_classes - 1)) - 1;
    count_shift = row_bits + static_cast<unsigned>(std::bit_width(n_classes - 1));
    const auto count_bits = static_cast<unsigned>(std::bit_width(largest_count));
    if (largest_count > 1 && count_shift + count_bits <= top)
      count_mask = (Entry{1} << count_bits) - 1;
  }
  static bool fits(std::size_t n_rows, std::size_t n_classes) {
    return static_cast<unsigned>(std::bit_width(n_rows - 1) + std::bit_width(n_classes - 1)) <= top;
  }
  Entry pack(std::size_t row, std::size_t k, std::size_t count, bool increases) const {
    return static_cast<Entry>(row) | (static_cast<Entry>(k) << row_bits) |
           (count_mask ? static_cast<Entry>(count) << count_shift : Entry{0}) |
           (increases ? increase : Entry{0});
  }
  std::size_t row(Entry entry) const { return static_cast<std::size_t>(entry & row_mask); }
  std::size_t cls(Entry entry) const {
    return static_cast<std::size_t>((entry >> row_bits) & class_mask);
  }
  bool holds_counts() const { return count_mask != 0; }
  std::int64_t count(Entry entry) const {
    return static_cast<std::int64_t>((entry >> count_shift) & count_mask);
  }
};

// A cut of a column: what it gains and how to make it.
struct Candidate {
  bool valid = false;
  // No cut here, and so none in any part of the node: too few values, or too little weight apart.
  bool hopeless = false;
  double gain = 0;        // per unit of the node's weight
  double split_info = 0;  // bits, the unknown weight counting as a branch
  // Thresholds: a row of each neighbouring value, or its code, and what stands left of the cut: a
  // number of entries of the node's list, or the last code.
  std::uint32_t below = 0, above = 0;
  std::size_t cut = 0;
  double threshold = 0;  // found when the split is made
  // Groupings of categories: 0 or 1 a category, -1 where the node has no such row.
  std::vector<std::int8_t> groups;

  double ratio() const { return split_info > 0 ? gain / split_info : 0.0; }
};

// Follows the best cut seen so far along a column.
class BestCut {
 public:
  BestCut(const GrowthRules& rules, const Group& node, double known_weight, std::size_t n_classes)
      : node_(node),
        known_weight_(known_weight),
        is_c45_(rules.is_c45()),
        min_side_(rules.min_side(known_weight, n_classes) - c45_slack),
        step_(rules.is_c45() ? c45_slack * node.weight : tie_share * node.impurity),
        best_(rules.is_c45() ? 0.0 : -std::numeric_limits<double>::infinity()) {}

  // True if the cut that the meter stands at is the best by enough.
  template <class Meter>
  bool offer(const Meter& meter) {
    if (static_cast<double>(meter.left()) < min_side_) return false;
    if (static_cast<double>(meter.right()) < min_side_) return false;
    ++n_offered_;
    if constexpr (requires { meter.is_at_most(best_); })
      if (meter.is_at_most(best_ + step_)) return false;
    const double gain = meter.gain();
    if (!(gain - best_ > step_)) return false;
    best_ = gain;
    left_ = static_cast<double>(meter.left());
    found_ = true;
    return true;
  }
  // C4.5 charges a threshold for the number of cuts it was chosen from.
  void finish(Candidate& candidate) const {
    if (!found_) {
      // C4.5's least side shrinks with the node; the others' does not.
      candidate.hopeless = candidate.hopeless || !is_c45_;
      return;
    }
    double gain = best_;
    if (is_c45_) gain -= std::log2(static_cast<double>(n_offered_));
    candidate.gain = gain / node_.weight;
    candidate.valid = !is_c45_ || candidate.gain > c45_least_gain;
    if (!is_c45_ || !candidate.valid) return;
    const double right = known_weight_ - left_, unknown = node_.weight - known_weight_;
    candidate.split_info =
        (node_.weight_log - xlog2x(left_) - xlog2x(right) - xlog2x(unknown)) / node_.weight;
  }
  bool found() const { return found_; }

 private:
  const Group& node_;
  double known_weight_;
  bool is_c45_;
  double min_side_, step_, best_;
  double left_ = 0;
  std::size_t n_offered_ = 0;
  bool found_ = false;
};

// Scans the known part of a node's list. `weigh(entry)` is the weight of a row; `apart(a, b)` says
// whether C4.5 sees the values of two rows as different.
template <class Entry, class Meter, class Weigh, class Apart>
bool scan_list(std::span<const Entry> list, const Packing<Entry>& packing, Meter meter,
               Weigh&& weigh, Apart&& apart, BestCut& best, std::size_t& cut) {
  bool found = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Entry entry = list[i];
    if ((entry & Packing<Entry>::increase) && i > 0 &&
        apart(packing.row(list[i - 1]), packing.row(entry)) && best.offer(meter)) {
      cut = i;
      found = true;
    }
    meter.move(packing.cls(entry), weigh(entry));
  }
  return found;
}

// Gini with unit weights, the commonest case. Sums of squares change by odd numbers as a row moves,
// and cuts are compared by products, without a division.
template <class Entry>
bool scan_list_gini(std::span<const Entry> list, const Packing<Entry>& packing,
                    std::span<const std::int64_t> totals, double min_side,
                    Sides<std::int64_t>& sides, std::size_t& cut, double& gain) {
  const auto n = static_cast<std::int64_t>(list.size());
  const auto first = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(min_side)));
  sides.start(totals);
  std::int64_t* left = sides.left.data();
  std::int64_t* right = sides.right.data();
  std::int64_t left_squares = 0, right_squares = 0;
  for (const std::int64_t count : totals) right_squares += count * count;
  const double before = static_cast<double>(right_squares) / static_cast<double>(n);
  double best_top = -1.0, best_bottom = 1.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Entry entry = list[static_cast<std::size_t>(i)];
    if ((entry & Packing<Entry>::increase) && i >= first && i <= n - first) {
      const auto n_left = static_cast<double>(i), n_right = static_cast<double>(n - i);
      const double top =
          static_cast<double>(left_squares) * n_right + static_cast<double>(right_squares) * n_left;
      const double bottom = n_left * n_right;
      if (top * best_bottom > best_top * bottom) {
        best_top = top;
        best_bottom = bottom;
        cut = static_cast<std::size_t>(i);
      }
    }
    const std::size_t k = packing.cls(entry);
    left_squares += 2 * left[k]++ + 1;
    right_squares -= 2 * right[k]-- - 1;
  }
  if (best_top < 0) return false;
  gain = best_top / best_bottom - before;
  return true;
}

// The same with two classes: the gain is 2 D^2 / (n l r) with D = l_1 n - l n_1.
template <class Entry>
bool scan_list_gini_two(std::span<const Entry> list, const Packing<Entry>& packing,
                        std::int64_t n_second, double min_side, std::size_t& cut, double& gain) {
  const auto n = static_cast<std::int64_t>(list.size());
  const auto first = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(min_side)));
  std::int64_t n_left_second = 0;
  double best_top = -1.0, best_bottom = 1.0;
  const unsigned shift = packing.row_bits;
  for (std::int64_t i = 0; i < std::min(first, n); ++i)
    n_left_second += static_cast<std::int64_t>((list[static_cast<std::size_t>(i)] >> shift) & 1);
  for (std::int64_t i = first; i <= n - first; ++i) {
    const Entry entry = list[static_cast<std::size_t>(i)];
    if (entry & Packing<Entry>::increase) {
      const auto d = static_cast<double>(n_left_second * n - i * n_second);
      const double top = d * d;
      const double bottom = static_cast<double>(i) * static_cast<double>(n - i);
      if (top * best_bottom > best_top * bottom) {
        best_top = top;
        best_bottom = bottom;
        cut = static_cast<std::size_t>(i);
      }
    }
    n_left_second += static_cast<std::int64_t>((entry >> shift) & 1);
  }
  if (best_top < 0) return false;
  gain = 2.0 * best_top / (static_cast<double>(n) * best_bottom);
  return true;
}

// The same two scans for rows that count several times: `count(entry)` says how often.
template <class Entry, class Count>
bool scan_counted_gini(std::span<const Entry> list, const Packing<Entry>& packing,
                       std::span<const std::int64_t> totals, double min_side, Count&& count,
                       Sides<std::int64_t>& sides, std::size_t& cut, double& gain) {
  const auto first = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(min_side)));
  sides.start(totals);
  std::int64_t* left = sides.left.data();
  std::int64_t* right = sides.right.data();
  std::int64_t n = 0, n_left = 0, left_squares = 0, right_squares = 0;
  for (const std::int64_t total : totals) {
    n += total;
    right_squares += total * total;
  }
  const double before = static_cast<double>(right_squares) / static_cast<double>(n);
  double best_top = -1.0, best_bottom = 1.0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Entry entry = list[i];
    if ((entry & Packing<Entry>::increase) && n_left >= first && n_left <= n - first) {
      const auto l = static_cast<double>(n_left), r = static_cast<double>(n - n_left);
      const double top =
          static_cast<double>(left_squares) * r + static_cast<double>(right_squares) * l;
      if (top * best_bottom > best_top * (l * r)) {
        best_top = top;
        best_bottom = l * r;
        cut = i;
      }
    }
    const std::size_t k = packing.cls(entry);
    const std::int64_t c = count(entry);
    left_squares += c * (2 * left[k] + c);
    right_squares -= c * (2 * right[k] - c);
    left[k] += c;
    right[k] -= c;
    n_left += c;
  }
  if (best_top < 0) return false;
  gain = best_top / best_bottom - before;
  return true;
}

// Two classes: D changes by a step that depends on the class and the count alone, and is looked up
// where both are packed. All numbers are whole and below 2^53, so that doubles hold them exactly.
template <class Entry, class Count>
bool scan_counted_gini_two(std::span<const Entry> list, const Packing<Entry>& packing,
                           std::int64_t n_rows, std::int64_t n_second, double min_side,
                           Count&& count, std::size_t& cut, double& gain) {
  struct Step {
    double left, d;
  };
  constexpr std::size_t max_packed = 64;
  const auto n = static_cast<double>(n_rows), first = std::max(1.0, std::ceil(min_side));
  auto make_step = [&](std::int64_t cls, std::int64_t c) -> Step {
    return {static_cast<double>(c), static_cast<double>(c * (cls * n_rows - n_second))};
  };
  double best_top = -1.0, best_bottom = 1.0;
  auto scan = [&](auto&& step_of) {
    std::size_t i = 0, end = list.size();
    double left = 0, d = 0;
    for (double right = 0; end > 0 && right < first; --end) right += step_of(list[end - 1]).left;
    for (; i <= end && i < list.size() && left < first; ++i) {
      left += step_of(list[i]).left;
      d += step_of(list[i]).d;
    }
    for (; i <= end && i < list.size(); ++i) {
      const Entry entry = list[i];
      if (entry & Packing<Entry>::increase) {
        const double top = d * d, bottom = left * (n - left);
        if (top * best_bottom > best_top * bottom) {
          best_top = top;
          best_bottom = bottom;
          cut = i;
        }
      }
      const Step& step = step_of(entry);
      left += step.left;
      d += step.d;
    }
  };
  const std::size_t largest = static_cast<std::size_t>(packing.count_mask);
  if (packing.holds_counts() && 2 * largest + 1 < max_packed) {
    Step steps[max_packed];
    for (std::size_t c = 0; c <= largest; ++c)
      for (std::size_t k = 0; k < 2; ++k)
        steps[2 * c + k] = make_step(static_cast<std::int64_t>(k), static_cast<std::int64_t>(c));
    const unsigned shift = packing.row_bits;
    const Entry mask = 2 * packing.count_mask + 1;
    scan([&, shift, mask](Entry entry) -> const Step& { return steps[(entry >> shift) & mask]; });
  } else {
    scan([&](Entry entry) {
      return make_step(static_cast<std::int64_t>(packing.cls(entry)), count(entry));
    });
  }
  if (best_top < 0) return false;
  gain = 2.0 * best_top / (n * best_bottom);
  return true;
}

}  // namespace sureleaf
