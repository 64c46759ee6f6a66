// The best way to group a node's categories in two.
//
// With two classes the best grouping is a prefix of the categories in the order of their proportion
// of one class (Breiman et al. 1984), so one sort finds it. With more classes, or if that grouping
// leaves too little weight on a side, all groupings of up to max_enumerated categories are tried.
// Above that, the best prefixes of several orders are starting points, and single categories then
// move to the other group while that helps. The orders: by the proportion of each class (of each
// set of classes, if they are few), and along the first principal component of the class
// proportions (Coppersmith, Hong and Hosking 1999). This is nearly always, but not always, the best
// of all. With more than max_climbed categories only the best prefix is a starting point.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "sureleaf/histogram.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf {

inline constexpr std::size_t max_enumerated = 10;
inline constexpr std::size_t max_climbed = 100;
inline constexpr std::size_t max_grouped_classes = 6;
inline constexpr int max_passes = 20;

namespace detail {

template <class Impurity>
class SubsetSearch {
 public:
  template <class Weight>
  SubsetSearch(const Histogram<Weight>& table, std::size_t n_categories, const GrowthConfig& config,
               const MonotoneCheck* check)
      : check_(check),
        n_categories_(n_categories),
        n_classes_(table.n_classes),
        min_side_(config.min_samples_leaf - c45_slack) {
    totals_.assign(n_classes_, 0.0);
    for (std::size_t bin = 0; bin < table.n_bins; ++bin) {
      if (!(table.weight(bin) > 0)) continue;
      codes_.push_back(table.code(bin));
      for (std::size_t k = 0; k < n_classes_; ++k) {
        const auto w = static_cast<double>(table.weights(bin)[k]);
        weights_.push_back(w);
        totals_[k] += w;
      }
    }
    known_weight_ = std::accumulate(totals_.begin(), totals_.end(), 0.0);
    impurity_ = impurity_of(totals_);
    left_.resize(n_classes_);
    right_.resize(n_classes_);
  }

  void run() {
    if (codes_.size() < 2) return;
    if (n_classes_ == 2) {
      try_prefixes(share_of_class(1));
      if (!passed_over_better_) return;
    }
    if (codes_.size() <= max_enumerated) {
      const std::uint64_t n_groupings = std::uint64_t{1} << (codes_.size() - 1);
      for (std::uint64_t mask = 1; mask < n_groupings; ++mask) try_mask(mask);
      return;
    }
    if (codes_.size() > max_climbed) {
      for (std::size_t k = 0; k < n_classes_; ++k) try_prefixes(share_of_class(k));
      try_prefixes(along_main_direction());
      move_single_categories();
      return;
    }
    if (n_classes_ <= max_grouped_classes) {
      const std::uint64_t n_groups = std::uint64_t{1} << (n_classes_ - 1);
      for (std::uint64_t classes = 1; classes < n_groups; ++classes)
        climb_from(share_of_classes(classes));
    } else {
      for (std::size_t k = 0; k < n_classes_; ++k) climb_from(share_of_class(k));
    }
    climb_from(along_main_direction());
  }

  void finish(double node_weight, const GrowthConfig& config, Candidate& candidate) const {
    if (!has_grouping_) return;
    // C4.5 subtracts the cost of choosing one of 2^(q - 1) - 1 groupings, as it does for
    // thresholds.
    const auto q = static_cast<double>(codes_.size());
    const double bits = config.has_c45_rules() ? q - 1 + std::log2(1 - std::exp2(1 - q)) : 0.0;
    double penalty = 0;
    if (config.has_category_penalty()) {
      std::vector<double> sizes;
      for (std::size_t i = 0; i < codes_.size(); ++i) sizes.push_back(weight(i));
      penalty = config.category_penalty * category_cost<Impurity>(totals_, {sizes, true});
    }
    candidate.gain = (best_gain_ - bits - penalty) / node_weight;
    if (config.has_c45_rules())
      candidate.valid = candidate.gain > c45_least_gain;
    else
      candidate.valid = penalty == 0 || best_gain_ - penalty > tie_share * impurity_;
    candidate.groups.assign(n_categories_, -1);
    double first = 0;
    for (std::size_t i = 0; i < codes_.size(); ++i) {
      const bool with_lowest_code = best_in_first_[i] == best_in_first_[0];
      candidate.groups[codes_[i]] = with_lowest_code ? 0 : 1;
      if (with_lowest_code) first += weight(i);
    }
    candidate.split_info = (xlog2x(node_weight) - xlog2x(first) - xlog2x(known_weight_ - first) -
                            xlog2x(node_weight - known_weight_)) /
                           node_weight;
  }

 private:
  static double impurity_of(std::span<const double> weights) {
    double total = 0;
    for (const double weight : weights) total += weight;
    return Impurity::impurity(weights, total, Impurity::needs_logs ? xlog2x(total) : 0.0);
  }
  double at(std::size_t i, std::size_t k) const { return weights_[i * n_classes_ + k]; }
  double weight(std::size_t i) const {
    double sum = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) sum += at(i, k);
    return sum;
  }
  std::vector<double> share_of_class(std::size_t k) const {
    std::vector<double> shares(codes_.size());
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = at(i, k) / weight(i);
    return shares;
  }
  std::vector<double> share_of_classes(std::uint64_t classes) const {
    std::vector<double> shares(codes_.size(), 0.0);
    for (std::size_t k = 0; k < n_classes_; ++k) {
      if (!((classes >> k) & 1)) continue;
      for (std::size_t i = 0; i < shares.size(); ++i) shares[i] += at(i, k) / weight(i);
    }
    return shares;
  }
  // The first principal component of the categories' class proportions, by power iteration.
  std::vector<double> along_main_direction() const {
    std::vector<double> spread(n_classes_ * n_classes_, 0.0), difference(n_classes_);
    for (std::size_t i = 0; i < codes_.size(); ++i) {
      const double w = weight(i);
      for (std::size_t k = 0; k < n_classes_; ++k)
        difference[k] = at(i, k) / w - totals_[k] / known_weight_;
      for (std::size_t a = 0; a < n_classes_; ++a)
        for (std::size_t b = 0; b < n_classes_; ++b)
          spread[a * n_classes_ + b] += w * difference[a] * difference[b];
    }
    std::vector<double> direction(n_classes_), next(n_classes_);
    for (std::size_t k = 0; k < n_classes_; ++k) direction[k] = 1.0 / static_cast<double>(k + 1);
    for (int step = 0; step < 64; ++step) {
      double norm = 0;
      for (std::size_t a = 0; a < n_classes_; ++a) {
        next[a] = 0;
        for (std::size_t b = 0; b < n_classes_; ++b)
          next[a] += spread[a * n_classes_ + b] * direction[b];
        norm += next[a] * next[a];
      }
      if (!(norm > 0)) break;
      for (std::size_t a = 0; a < n_classes_; ++a) direction[a] = next[a] / std::sqrt(norm);
    }
    std::vector<double> scores(codes_.size(), 0.0);
    for (std::size_t i = 0; i < codes_.size(); ++i)
      for (std::size_t k = 0; k < n_classes_; ++k) scores[i] += direction[k] * at(i, k) / weight(i);
    return scores;
  }

  void try_prefixes(const std::vector<double>& scores) {
    std::vector<std::size_t> order(codes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
    clear();
    std::size_t n_best = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      add(order[i]);
      if (is_best()) n_best = i + 1;
    }
    if (n_best == 0) return;
    best_in_first_.assign(codes_.size(), 0);
    for (std::size_t i = 0; i < n_best; ++i) best_in_first_[order[i]] = 1;
  }
  void try_mask(std::uint64_t mask) {
    clear();
    for (std::size_t i = 0; i < codes_.size(); ++i)
      if ((mask >> i) & 1) add(i);
    if (!is_best()) return;
    best_in_first_.assign(codes_.size(), 0);
    for (std::size_t i = 0; i < codes_.size(); ++i) best_in_first_[i] = (mask >> i) & 1;
  }

  // The best prefix of an order, improved by single moves; kept if it is better than the best so
  // far.
  void climb_from(const std::vector<double>& scores) {
    const bool had_grouping = std::exchange(has_grouping_, false);
    const double gain_before = best_gain_;
    std::vector<char> before = best_in_first_;
    try_prefixes(scores);
    move_single_categories();
    const bool is_better =
        has_grouping_ && (!had_grouping || best_gain_ - gain_before > tie_share * impurity_);
    if (is_better || !had_grouping) return;
    has_grouping_ = true;
    best_gain_ = gain_before;
    best_in_first_ = std::move(before);
  }
  // Moves categories of the best grouping to the other group, one at a time, while that helps.
  void move_single_categories() {
    bool has_moved = has_grouping_;
    for (int pass = 0; has_moved && pass < max_passes; ++pass) {
      has_moved = false;
      clear();
      for (std::size_t i = 0; i < codes_.size(); ++i)
        if (best_in_first_[i]) add(i);
      for (std::size_t i = 0; i < codes_.size(); ++i) {
        const double sign = best_in_first_[i] ? -1.0 : 1.0;
        add(i, sign);
        if (is_best()) {
          best_in_first_[i] = !best_in_first_[i];
          has_moved = true;
        } else {
          add(i, -sign);
        }
      }
    }
  }

  // The current grouping: its first group, category by category.
  void clear() {
    std::fill(left_.begin(), left_.end(), 0.0);
    n_left_ = 0;
  }
  void add(std::size_t i, double sign = 1.0) {
    for (std::size_t k = 0; k < n_classes_; ++k) {
      left_[k] += sign * at(i, k);
      n_left_ += sign * at(i, k);
    }
  }
  bool is_best() {
    for (std::size_t k = 0; k < n_classes_; ++k) right_[k] = totals_[k] - left_[k];
    const double gain = impurity_ - impurity_of(left_) - impurity_of(right_);
    const bool is_forbidden =
        check_ != nullptr && !check_->allows<double>(left_, right_, /*is_ordered=*/false);
    if (is_forbidden || n_left_ < min_side_ || known_weight_ - n_left_ < min_side_) {
      passed_over_better_ = passed_over_better_ || !has_grouping_ || gain > best_gain_;
      return false;
    }
    if (has_grouping_ && !(gain - best_gain_ > tie_share * impurity_)) return false;
    best_gain_ = gain;
    has_grouping_ = true;
    return true;
  }

  const MonotoneCheck* check_;
  std::size_t n_categories_, n_classes_;
  double min_side_;
  std::vector<std::size_t> codes_;
  std::vector<double> weights_, totals_, left_, right_;
  double known_weight_ = 0, impurity_ = 0, n_left_ = 0, best_gain_ = 0;
  std::vector<char> best_in_first_;
  bool has_grouping_ = false, passed_over_better_ = false;
};

}  // namespace detail

template <class Impurity, class Weight>
void split_subsets(const Histogram<Weight>& table, std::size_t n_categories, double node_weight,
                   const GrowthConfig& config, const MonotoneCheck* check, Candidate& candidate) {
  detail::SubsetSearch<Impurity> search(table, n_categories, config, check);
  search.run();
  search.finish(node_weight, config, candidate);
}

}  // namespace sureleaf
