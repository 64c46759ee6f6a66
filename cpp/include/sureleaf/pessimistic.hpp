// C4.5's pruning by pessimistic errors: subtree replacement and raising.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sureleaf/prune.hpp"
#include "sureleaf/route.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// C4.5's estimate of a leaf's errors on other rows: the upper limit of a one-sided interval.
class PessimisticErrors {
 public:
  // `quantile` is the standard normal quantile of 1 - confidence_factor.
  PessimisticErrors(double confidence_factor, double quantile)
      : confidence_factor_(confidence_factor), z_(quantile) {}

  double operator()(std::span<const double> weights) const {
    const double n = total_weight(weights);
    const double e = training_errors(weights);
    return e + added(n, e);
  }

 private:
  double added(double n, double e) const {
    if (!(n > 0)) return 0.0;
    if (e < 1) {
      const double none = n * (1 - std::pow(confidence_factor_, 1 / n));
      return e == 0 ? none : none + e * (added(n, 1) - none);
    }
    if (e + 0.5 >= n) return std::max(n - e, 0.0);
    const double f = (e + 0.5) / n, zz = z_ * z_;
    const double spread = z_ * std::sqrt(f / n - f * f / n + zz / (4 * n * n));
    return n * (f + zz / (2 * n) + spread) / (1 + zz / n) - e;
  }
  double confidence_factor_, z_;
};

namespace detail {

struct WeightedRow {
  std::uint32_t row;
  double weight;
};
using Rows = std::vector<WeightedRow>;

// Subtree replacement and raising. The draft is a copy of the tree with links, in which a branch
// can take its parent's place; `source` is the node of the original tree whose test it has.
class PessimisticPruner {
 public:
  PessimisticPruner(const Tree& tree, const Columns& table, std::span<const std::int32_t> labels,
                    PessimisticErrors estimate, Patience& patience)
      : tree_(tree), table_(table), labels_(labels), estimate_(estimate), patience_(patience) {
    drafts_.resize(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
      Draft& draft = drafts_[node];
      draft.source = node;
      draft.children.assign(tree.branches(node).begin(), tree.branches(node).end());
      draft.shares.assign(tree.shares(node).begin(), tree.shares(node).end());
      draft.weights.assign(tree.weights(node).begin(), tree.weights(node).end());
    }
  }

  // Depth first, the children of a node before itself. The rows of a node are a stretch of one
  // array, in which its children's are stretches again, so that a deep tree needs no more memory
  // than a flat one; parts of rows that lost their way are with the node.
  Tree run(Rows rows) {
    rows_ = std::move(rows);
    std::vector<Frame> frames;
    frames.push_back({0, 0, rows_.size(), {}, {}, {}, 0});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      Draft& draft = drafts_[frame.node];
      if (draft.is_leaf()) {
        draft.errors = estimate_(draft.weights);
        frames.pop_back();
        continue;
      }
      if (frame.next == 0) {
        patience_.check();
        arrange(draft, frame);
      }
      if (frame.next < draft.children.size()) {
        const std::size_t b = frame.next++;
        frames.push_back({static_cast<std::size_t>(draft.children[b]),
                          frame.starts[b],
                          frame.starts[b + 1],
                          std::move(frame.side_parts[b]),
                          {},
                          {},
                          0});
        continue;
      }
      frame.starts.clear();
      frame.side_parts.clear();
      Rows all(rows_.begin() + static_cast<std::ptrdiff_t>(frame.begin),
               rows_.begin() + static_cast<std::ptrdiff_t>(frame.end));
      all.insert(all.end(), frame.side.begin(), frame.side.end());
      if (decide(frame.node, all))
        frame.next = 0;
      else
        frames.pop_back();
    }
    return finish();
  }

 private:
  struct Draft {
    std::size_t source = 0;
    std::vector<std::int32_t> children;
    std::vector<double> shares, weights;
    double errors = 0;  // estimated, of its leaves together
    bool is_leaf() const { return children.empty(); }
  };
  struct Frame {
    std::size_t node;
    std::size_t begin, end;  // its stretch of rows_
    Rows side;
    std::vector<std::size_t> starts;  // of the branches' stretches
    std::vector<Rows> side_parts;     // a branch each
    std::size_t next;                 // the branch to go down
  };
  struct Division {
    std::vector<double> shares;
    std::vector<Rows> parts;
  };

  // Sorts a node's stretch by branch, rows without a value last, and hands out the side rows.
  void arrange(const Draft& draft, Frame& frame) {
    const std::size_t n = draft.children.size();
    const Rows here(rows_.begin() + static_cast<std::ptrdiff_t>(frame.begin),
                    rows_.begin() + static_cast<std::ptrdiff_t>(frame.end));
    std::vector<double> known(n, 0.0);
    std::vector<std::size_t> places, next(n + 1, 0);
    places.reserve(here.size());
    Rows lost;
    for (const WeightedRow& item : here) {
      places.push_back(place_of(draft, item, known));
      ++next[places.back()];
      if (places.back() == n) lost.push_back(item);
    }
    frame.side_parts.assign(n, {});
    for (const WeightedRow& item : frame.side) {
      const std::size_t place = place_of(draft, item, known);
      (place == n ? lost : frame.side_parts[place]).push_back(item);
    }
    hand_out(lost, shares_of(known), frame.side_parts);
    frame.starts.assign(1, frame.begin);
    for (std::size_t b = 0; b <= n; ++b) {
      frame.starts.push_back(frame.starts[b] + next[b]);
      next[b] = frame.starts[b];
    }
    for (std::size_t i = 0; i < here.size(); ++i) rows_[next[places[i]]++] = here[i];
  }

  // The branch of a row, whose weight is added to what the branch is known to get; the number of
  // branches if its value is missing.
  std::size_t place_of(const Draft& draft, const WeightedRow& item,
                       std::vector<double>& known) const {
    const std::int32_t branch = branch_of(tree_, draft.source, table_, item.row);
    if (branch < 0) return known.size();
    known[static_cast<std::size_t>(branch)] += item.weight;
    return static_cast<std::size_t>(branch);
  }
  static std::vector<double> shares_of(const std::vector<double>& known) {
    const double total = std::accumulate(known.begin(), known.end(), 0.0);
    std::vector<double> shares(known.size(), 1.0 / static_cast<double>(known.size()));
    if (total > 0)
      for (std::size_t b = 0; b < known.size(); ++b) shares[b] = known[b] / total;
    return shares;
  }
  static void hand_out(const Rows& lost, const std::vector<double>& shares,
                       std::vector<Rows>& parts) {
    for (std::size_t b = 0; b < shares.size(); ++b)
      if (shares[b] > 0)
        for (const WeightedRow& item : lost)
          parts[b].push_back({item.row, item.weight * shares[b]});
  }

  // True if the heaviest branch took the node's place, so that it must be pruned again.
  bool decide(std::size_t node, const Rows& rows) {
    constexpr double spare = 0.1;
    Draft& draft = drafts_[node];
    std::size_t heaviest = 0;
    double as_is = 0, largest = -1;
    for (const std::int32_t child : draft.children) {
      const auto c = static_cast<std::size_t>(child);
      as_is += drafts_[c].errors;
      const double weight = total_weight(drafts_[c].weights);
      if (largest - weight < c45_slack) {  // the last one on ties
        largest = weight;
        heaviest = c;
      }
    }
    const double as_leaf = estimate_(draft.weights);
    const double as_branch = resend(heaviest, rows, false);
    auto at_least = [](double a, double b) { return b - a < c45_slack; };
    if (at_least(as_is + spare, as_leaf) && at_least(as_branch + spare, as_leaf)) {
      draft.children.clear();
      draft.shares.clear();
      draft.errors = as_leaf;
      return false;
    }
    if (at_least(as_is + spare, as_branch)) {
      resend(heaviest, rows, true);
      Draft raised = std::move(drafts_[heaviest]);
      draft = std::move(raised);
      return true;
    }
    draft.errors = as_is;
    return false;
  }

  // Sends rows through a branch that they were not grown in: estimated errors of its leaves, and
  // if `keep`, its new weights and shares.
  double resend(std::size_t top, const Rows& rows, bool keep) {
    double errors = 0;
    std::vector<double> weights(tree_.n_classes);
    std::vector<std::pair<std::size_t, Rows>> pending;
    pending.emplace_back(top, rows);
    while (!pending.empty()) {
      auto [node, here] = std::move(pending.back());
      pending.pop_back();
      Draft& draft = drafts_[node];
      if (draft.is_leaf() || keep) {
        std::fill(weights.begin(), weights.end(), 0.0);
        for (const WeightedRow& item : here)
          weights[static_cast<std::size_t>(labels_[item.row])] += item.weight;
        if (keep) draft.weights = weights;
      }
      if (draft.is_leaf()) {
        errors += estimate_(weights);
        continue;
      }
      if (here.empty() && !keep) continue;
      Division division = divide(draft, here);
      if (keep) draft.shares = division.shares;
      for (std::size_t b = 0; b < draft.children.size(); ++b)
        pending.emplace_back(static_cast<std::size_t>(draft.children[b]),
                             std::move(division.parts[b]));
    }
    return errors;
  }

  Division divide(const Draft& draft, const Rows& rows) const {
    const std::size_t n = draft.children.size();
    std::vector<double> known(n, 0.0);
    std::vector<Rows> parts(n);
    Rows lost;
    for (const WeightedRow& item : rows) {
      const std::size_t place = place_of(draft, item, known);
      (place == n ? lost : parts[place]).push_back(item);
    }
    std::vector<double> shares = shares_of(known);
    hand_out(lost, shares, parts);
    return {std::move(shares), std::move(parts)};
  }

  Tree finish() const {
    Tree tree;
    tree.n_classes = tree_.n_classes;
    std::vector<std::pair<std::size_t, std::int64_t>> pending{{0, -1}};
    while (!pending.empty()) {
      const auto [node, slot] = pending.back();
      pending.pop_back();
      const Draft& draft = drafts_[node];
      if (slot >= 0)
        tree.children[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(tree.size());
      const bool leaf = draft.is_leaf();
      tree.feature.push_back(leaf ? -1 : tree_.feature[draft.source]);
      tree.threshold.push_back(leaf ? std::nan("") : tree_.threshold[draft.source]);
      tree.child_offset.push_back(static_cast<std::int64_t>(tree.children.size()));
      tree.category_offset.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
      tree.class_weights.insert(tree.class_weights.end(), draft.weights.begin(),
                                draft.weights.end());
      if (leaf) continue;
      tree.children.resize(tree.children.size() + draft.children.size());
      tree.branch_share.insert(tree.branch_share.end(), draft.shares.begin(), draft.shares.end());
      const auto categories = tree_.category_branches(draft.source);
      tree.category_branch.insert(tree.category_branch.end(), categories.begin(), categories.end());
      for (std::size_t b = draft.children.size(); b-- > 0;)
        pending.emplace_back(static_cast<std::size_t>(draft.children[b]),
                             tree.child_offset.back() + static_cast<std::int64_t>(b));
    }
    tree.child_offset.push_back(static_cast<std::int64_t>(tree.children.size()));
    tree.category_offset.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
    return tree;
  }

  const Tree& tree_;
  const Columns& table_;
  std::span<const std::int32_t> labels_;
  PessimisticErrors estimate_;
  Patience& patience_;
  std::vector<Draft> drafts_;
  Rows rows_;
};

}  // namespace detail

inline Tree prune_pessimistic(const Tree& tree, const Columns& table,
                              std::span<const std::int32_t> labels, std::span<const double> weights,
                              const PessimisticErrors& estimate, Patience& patience) {
  detail::Rows rows;
  rows.reserve(table.n_rows);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    const double weight = weights.empty() ? 1.0 : weights[row];
    if (weight > 0) rows.push_back({static_cast<std::uint32_t>(row), weight});
  }
  return detail::PessimisticPruner(tree, table, labels, estimate, patience).run(std::move(rows));
}

}  // namespace sureleaf
