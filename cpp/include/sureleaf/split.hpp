// Scoring the thresholds of one column in one node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "sureleaf/growth_config.hpp"
#include "sureleaf/monotone.hpp"
#include "sureleaf/presort.hpp"

namespace sureleaf {

// An entry of a list: a row, its class, and whether its value is above that of the entry before.
// Where there are bits left, also the row's count (in a bootstrap sample a row may occur several
// times).
template <class Entry>
struct Packing {
  static constexpr unsigned top = sizeof(Entry) * 8 - 1;
  static constexpr Entry increase = Entry{1} << top;

  unsigned row_bits = 0;
  Entry row_mask = 0;
  Entry class_mask = 0;
  unsigned count_shift = 0;
  Entry count_mask = 0;  // 0: no bits left, or every row counts once

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

// A split of one column: its gain, and how to make it.
struct Candidate {
  bool valid = false;
  // There is no split here and none in any node below: too few values, or too little weight on one
  // side.
  bool exhausted = false;
  double gain = 0;        // per unit of the node's weight
  double split_info = 0;  // in bits; rows with a missing value count as one more branch
  // Thresholds: a row with the value below and one with the value above (or their codes), and the
  // position of the threshold: the number of list entries on its left, or the last code on its
  // left.
  std::uint32_t below = 0, above = 0;
  std::size_t cut = 0;
  double threshold = 0;  // set when the split is made
  // The branch of missing values, if there are any in the node and they take one; else -1.
  std::int32_t missing_branch = -1;
  bool tests_missing = false;  // known values to the left, missing values to the right
  // Subsets: the group of each category, 0 or 1; -1 if the node has no row of it.
  std::vector<std::int8_t> groups;

  double ratio() const { return split_info > 0 ? gain / split_info : 0.0; }
};

// The best threshold seen so far along a column.
class BestThreshold {
 public:
  BestThreshold(const GrowthConfig& config, const Group& node, double known_weight,
                std::size_t n_classes)
      : node_(node),
        known_weight_(known_weight),
        is_c45_(config.has_c45_rules()),
        min_side_(config.min_side_weight(known_weight, n_classes) - c45_slack),
        step_(config.has_c45_rules() ? c45_slack * node.weight : tie_share * node.impurity),
        best_(config.has_c45_rules() ? 0.0 : -std::numeric_limits<double>::infinity()) {}

  // Only thresholds are taken that the check allows. It reads the sides that the scorer writes.
  template <class Weight>
  void set_check(const MonotoneCheck* check, const Sides<Weight>& sides) {
    check_ = check;
    if constexpr (std::is_same_v<Weight, double>)
      weight_sides_ = &sides;
    else
      count_sides_ = &sides;
  }

  // True if the scorer's threshold is better than the best so far. `is_ordered`: values on the left
  // are lower than those on the right.
  template <class Scorer>
  bool offer(const Scorer& scorer, bool is_ordered = true) {
    if (static_cast<double>(scorer.left()) < min_side_) return false;
    if (static_cast<double>(scorer.right()) < min_side_) return false;
    ++n_offered_;
    if constexpr (requires { scorer.is_at_most(best_); })
      if (scorer.is_at_most(best_ + step_)) return false;
    const double gain = scorer.gain();
    if (!(gain - best_ > step_)) return false;
    if (check_ != nullptr && !is_allowed(is_ordered)) return false;
    best_ = gain;
    left_ = static_cast<double>(scorer.left());
    has_threshold_ = true;
    return true;
  }
  // C4.5 subtracts the cost of choosing one of many thresholds.
  void finish(Candidate& candidate) const {
    if (!has_threshold_) {
      // C4.5's least weight of a side shrinks with the node; that of other criteria does not. What
      // a monotone constraint forbids here may be allowed below.
      candidate.exhausted = candidate.exhausted || (!is_c45_ && check_ == nullptr);
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
  bool has_threshold() const { return has_threshold_; }
  double min_side() const { return min_side_; }
  double step() const { return step_; }

  // Takes the best of all thresholds, if its gain is enough.
  bool take(double gain, std::int64_t left) {
    if (!(gain - best_ > step_)) return false;
    best_ = gain;
    left_ = static_cast<double>(left);
    has_threshold_ = true;
    return true;
  }
  void set_n_offered(std::size_t n) { n_offered_ = n; }

 private:
  bool is_allowed(bool is_ordered) const {
    if (count_sides_ != nullptr)
      return check_->allows<std::int64_t>(count_sides_->left, count_sides_->right, is_ordered);
    return check_->allows<double>(weight_sides_->left, weight_sides_->right, is_ordered);
  }

  const MonotoneCheck* check_ = nullptr;
  const Sides<std::int64_t>* count_sides_ = nullptr;
  const Sides<double>* weight_sides_ = nullptr;
  const Group& node_;
  double known_weight_;
  bool is_c45_;
  double min_side_, step_, best_;
  double left_ = 0;
  std::size_t n_offered_ = 0;
  bool has_threshold_ = false;
};

// Scans the known part of a node's list. `weigh(entry)` is the weight of a row; `are_apart(a, b)`
// says whether C4.5 regards the values of two rows as different.
template <class Entry, class Scorer, class Weigh, class Apart>
bool scan_list(std::span<const Entry> list, const Packing<Entry>& packing, Scorer scorer,
               Weigh&& weigh, Apart&& are_apart, BestThreshold& best, std::size_t& cut) {
  bool has_threshold = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Entry entry = list[i];
    if ((entry & Packing<Entry>::increase) && i > 0 &&
        are_apart(packing.row(list[i - 1]), packing.row(entry)) && best.offer(scorer)) {
      cut = i;
      has_threshold = true;
    }
    scorer.move(packing.cls(entry), weigh(entry));
  }
  return has_threshold;
}

// Gini with unit weights, the most frequent case. Sums of squares change by odd numbers when a row
// moves, and thresholds are compared by products, without division.
template <class Entry>
class GiniListScan {
 public:
  GiniListScan(std::span<const Entry> list, const Packing<Entry>& packing,
               std::span<const std::int64_t> totals, double min_side, Sides<std::int64_t>& sides)
      : list_(list),
        packing_(packing),
        totals_(totals),
        first_(std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(min_side)))),
        sides_(sides) {
    sides_.start(totals);
    for (const std::int64_t count : totals) right_squares_ += count * count;
    before_ = static_cast<double>(right_squares_) / static_cast<double>(list.size());
  }

  bool is_found() const { return best_top_ >= 0; }
  std::size_t cut() const { return cut_; }
  double gain() const { return best_top_ / best_bottom_ - before_; }

  // Moves to a place in the list, given the class counts on its left.
  void start_at(std::span<const std::int64_t> left) {
    left_squares_ = right_squares_ = 0;
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      sides_.left[k] = left[k];
      sides_.right[k] = totals_[k] - left[k];
      left_squares_ += left[k] * left[k];
      right_squares_ += sides_.right[k] * sides_.right[k];
    }
  }

  // Offers the thresholds before each of these entries; the ones before `begin` are on the left.
  // All that changes is kept in registers.
  void scan(std::size_t begin, std::size_t end) {
    const auto n = static_cast<std::int64_t>(list_.size());
    const Packing<Entry> packing = packing_;
    std::int64_t* const left = sides_.left.data();
    std::int64_t* const right = sides_.right.data();
    std::int64_t left_squares = left_squares_, right_squares = right_squares_;
    double best_top = best_top_, best_bottom = best_bottom_;
    for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
      const Entry entry = list_[static_cast<std::size_t>(i)];
      if ((entry & Packing<Entry>::increase) && i >= first_ && i <= n - first_) {
        const auto n_left = static_cast<double>(i), n_right = static_cast<double>(n - i);
        const double top = static_cast<double>(left_squares) * n_right +
                           static_cast<double>(right_squares) * n_left;
        const double bottom = n_left * n_right;
        if (top * best_bottom > best_top * bottom) {
          best_top = top;
          best_bottom = bottom;
          cut_ = static_cast<std::size_t>(i);
        }
      }
      const std::size_t k = packing.cls(entry);
      left_squares += 2 * left[k]++ + 1;
      right_squares -= 2 * right[k]-- - 1;
    }
    left_squares_ = left_squares;
    right_squares_ = right_squares;
    best_top_ = best_top;
    best_bottom_ = best_bottom;
  }

 private:
  std::span<const Entry> list_;
  Packing<Entry> packing_;
  std::span<const std::int64_t> totals_;
  std::int64_t first_;
  Sides<std::int64_t>& sides_;
  std::int64_t left_squares_ = 0, right_squares_ = 0;
  double before_, best_top_ = -1.0, best_bottom_ = 1.0;
  std::size_t cut_ = 0;
};

// The same for rows that count several times: `count(entry)` is the count.
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

}  // namespace sureleaf
