// The best grouping of a node's categories in two.
//
// With two classes the best grouping is a prefix of the categories in the order of their share of
// one class (Breiman et al. 1984), so one sort finds it. With more classes, or where that grouping
// leaves too little on a side, all groupings of up to max_enumerated categories are tried. Beyond
// that, the best prefixes of several orders are starts, from which single categories move to the
// other side while that helps: by the share of each class (of each group of classes, if they are
// few), and along the direction in which the categories differ most (Coppersmith, Hong and Hosking
// 1999). That is nearly always the best of all, not always. Of more than max_climbed categories
// only the best prefix is a start.
#pragma once

#include <numeric>
#include <utility>

#include "sureleaf/code_table.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf {

inline constexpr std::size_t max_enumerated = 10;
inline constexpr std::size_t max_climbed = 100;
inline constexpr std::size_t max_grouped_classes = 6;
inline constexpr int max_passes = 20;

namespace detail {

class SubsetSearch {
 public:
  template <class Weight>
  SubsetSearch(const CodeTable<Weight>& table, std::size_t n_categories, const GrowthRules& rules)
      : n_categories_(n_categories),
        n_classes_(table.n_classes),
        entropy_(rules.uses_entropy()),
        min_side_(rules.min_samples_leaf - c45_slack) {
    totals_.assign(n_classes_, 0.0);
    for (std::size_t line = 0; line < table.n_lines; ++line) {
      if (!(table.weight(line) > 0)) continue;
      codes_.push_back(table.code(line));
      for (std::size_t k = 0; k < n_classes_; ++k) {
        const auto w = static_cast<double>(table.weights(line)[k]);
        weights_.push_back(w);
        totals_[k] += w;
      }
    }
    known_weight_ = std::accumulate(totals_.begin(), totals_.end(), 0.0);
    impurity_ = group_impurity<double>(totals_, entropy_);
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

  void finish(double node_weight, const GrowthRules& rules, Candidate& candidate) const {
    if (!found_) return;
    // C4.5 charges a grouping, as a threshold, for the number it was chosen from: 2^(q - 1) - 1.
    const auto q = static_cast<double>(codes_.size());
    const double bits = rules.is_c45() ? q - 1 + std::log2(1 - std::exp2(1 - q)) : 0.0;
    candidate.gain = (best_gain_ - bits) / node_weight;
    candidate.valid = !rules.is_c45() || candidate.gain > c45_least_gain;
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
  // The first principal component of the categories' class shares, by power iteration.
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
    std::vector<double> places(codes_.size(), 0.0);
    for (std::size_t i = 0; i < codes_.size(); ++i)
      for (std::size_t k = 0; k < n_classes_; ++k) places[i] += direction[k] * at(i, k) / weight(i);
    return places;
  }

  void try_prefixes(const std::vector<double>& places) {
    std::vector<std::size_t> order(codes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
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

  // The best prefix of an order, improved, if it is better than what was found before.
  void climb_from(const std::vector<double>& places) {
    const bool had_found = std::exchange(found_, false);
    const double gain_before = best_gain_;
    std::vector<char> before = best_in_first_;
    try_prefixes(places);
    move_single_categories();
    const bool is_better =
        found_ && (!had_found || best_gain_ - gain_before > tie_share * impurity_);
    if (is_better || !had_found) return;
    found_ = true;
    best_gain_ = gain_before;
    best_in_first_ = std::move(before);
  }
  // Moves categories of the best grouping to the other side, one at a time, while that helps.
  void move_single_categories() {
    bool has_moved = found_;
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

  // The grouping at hand: its first group, category by category.
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
    const double gain = impurity_ - group_impurity<double>(left_, entropy_) -
                        group_impurity<double>(right_, entropy_);
    if (n_left_ < min_side_ || known_weight_ - n_left_ < min_side_) {
      passed_over_better_ = passed_over_better_ || !found_ || gain > best_gain_;
      return false;
    }
    if (found_ && !(gain - best_gain_ > tie_share * impurity_)) return false;
    best_gain_ = gain;
    found_ = true;
    return true;
  }

  std::size_t n_categories_, n_classes_;
  bool entropy_;
  double min_side_;
  std::vector<std::size_t> codes_;
  std::vector<double> weights_, totals_, left_, right_;
  double known_weight_ = 0, impurity_ = 0, n_left_ = 0, best_gain_ = 0;
  std::vector<char> best_in_first_;
  bool found_ = false, passed_over_better_ = false;
};

}  // namespace detail

template <class Weight>
void split_subsets(const CodeTable<Weight>& table, std::size_t n_categories, double node_weight,
                   const GrowthRules& rules, Candidate& candidate) {
  detail::SubsetSearch search(table, n_categories, rules);
  search.run();
  search.finish(node_weight, rules, candidate);
}

}  // namespace sureleaf
