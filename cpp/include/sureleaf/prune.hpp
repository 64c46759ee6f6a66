// Making a grown tree smaller: collapse, pessimistic pruning, cost-complexity order, and cutting
// at chosen nodes. Nothing is regrown.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <vector>

#include "sureleaf/route.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

inline double total_weight(std::span<const double> weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}
inline double training_errors(std::span<const double> weights) {
  return total_weight(weights) - *std::max_element(weights.begin(), weights.end());
}

// The same tree with the marked nodes as leaves.
inline Tree cut_at(const Tree& tree, std::span<const std::uint8_t> becomes_leaf) {
  std::vector<std::int32_t> number(tree.size(), -1);
  number[0] = 0;
  std::int32_t next = 0;
  std::vector<std::size_t> kept;
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (number[node] < 0) continue;
    number[node] = next++;
    kept.push_back(node);
    if (becomes_leaf[node]) continue;
    for (const std::int32_t child : tree.branches(node))
      number[static_cast<std::size_t>(child)] = 0;
  }
  Tree result;
  result.n_classes = tree.n_classes;
  for (const std::size_t node : kept) {
    const bool leaf = tree.is_leaf(node) || becomes_leaf[node];
    result.feature.push_back(leaf ? -1 : tree.feature[node]);
    result.threshold.push_back(leaf ? std::nan("") : tree.threshold[node]);
    result.child_offset.push_back(static_cast<std::int64_t>(result.children.size()));
    result.category_offset.push_back(static_cast<std::int64_t>(result.category_branch.size()));
    const auto weights = tree.weights(node);
    result.class_weights.insert(result.class_weights.end(), weights.begin(), weights.end());
    if (leaf) continue;
    for (const std::int32_t child : tree.branches(node))
      result.children.push_back(number[static_cast<std::size_t>(child)]);
    const auto shares = tree.shares(node);
    result.branch_share.insert(result.branch_share.end(), shares.begin(), shares.end());
    const auto categories = tree.category_branches(node);
    result.category_branch.insert(result.category_branch.end(), categories.begin(),
                                  categories.end());
  }
  result.child_offset.push_back(static_cast<std::int64_t>(result.children.size()));
  result.category_offset.push_back(static_cast<std::int64_t>(result.category_branch.size()));
  return result;
}

// C4.5's first look at a grown tree: a subtree that makes hardly fewer training errors than its
// root would as a leaf is cut. Top-down, so the marks below a marked node do not matter.
inline std::vector<std::uint8_t> collapse_marks(const Tree& tree) {
  constexpr double least_gain = 1e-3;
  std::vector<double> errors(tree.size());
  std::vector<std::uint8_t> marks(tree.size(), 0);
  for (std::size_t node = tree.size(); node-- > 0;) {
    const double as_leaf = training_errors(tree.weights(node));
    if (tree.is_leaf(node)) {
      errors[node] = as_leaf;
      continue;
    }
    for (const std::int32_t child : tree.branches(node))
      errors[node] += errors[static_cast<std::size_t>(child)];
    marks[node] = errors[node] >= as_leaf - least_gain;
  }
  return marks;
}

// For each inner node the penalty a leaf (alpha, in the units of `cost`) at which weakest-link
// pruning cuts it; never below that of a node beneath it. Leaves: infinity.
inline std::vector<double> cost_complexity_alphas(const Tree& tree, std::span<const double> cost) {
  const std::size_t n = tree.size();
  std::vector<double> subtree_cost(cost.begin(), cost.end()), leaves(n, 1.0);
  std::vector<std::int32_t> parent(n, -1);
  std::vector<double> alpha(n, std::numeric_limits<double>::infinity());
  std::vector<std::uint8_t> is_cut(n, 0);
  using Link = std::pair<double, std::size_t>;
  std::vector<Link> first;
  auto strength = [&](std::size_t node) {
    return (cost[node] - subtree_cost[node]) / (leaves[node] - 1.0);
  };
  for (std::size_t node = n; node-- > 0;) {
    if (tree.is_leaf(node)) continue;
    subtree_cost[node] = 0;
    leaves[node] = 0;
    for (const std::int32_t child : tree.branches(node)) {
      const auto c = static_cast<std::size_t>(child);
      parent[c] = static_cast<std::int32_t>(node);
      subtree_cost[node] += subtree_cost[c];
      leaves[node] += leaves[c];
    }
    first.emplace_back(strength(node), node);
  }
  std::priority_queue<Link, std::vector<Link>, std::greater<>> links(std::greater<>{},
                                                                     std::move(first));
  double reached = -std::numeric_limits<double>::infinity();
  while (!links.empty()) {
    const auto [g, node] = links.top();
    links.pop();
    if (is_cut[node]) continue;
    // Cutting the weakest link makes no link above it weaker, so an old entry is at most too
    // early: it goes back with what it is now.
    if (const double now = strength(node); now > g) {
      links.emplace(now, node);
      continue;
    }
    reached = std::max(reached, g);
    const double cost_change = cost[node] - subtree_cost[node];
    const double leaf_change = 1.0 - leaves[node];
    std::vector<std::size_t> below{node};
    while (!below.empty()) {
      const std::size_t at = below.back();
      below.pop_back();
      if (tree.is_leaf(at) || is_cut[at]) continue;
      is_cut[at] = 1;
      alpha[at] = reached;
      for (const std::int32_t child : tree.branches(at))
        below.push_back(static_cast<std::size_t>(child));
    }
    for (std::int32_t up = parent[node]; up >= 0; up = parent[static_cast<std::size_t>(up)]) {
      const auto above = static_cast<std::size_t>(up);
      subtree_cost[above] += cost_change;
      leaves[above] += leaf_change;
    }
  }
  return alpha;
}

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

inline std::ptrdiff_t as_offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

// Subtree replacement and raising. The draft is a copy of the tree with links, in which a branch
// can take its parent's place; `source` is the node of the original tree whose test it has.
class PessimisticPruner {
 public:
  PessimisticPruner(const Tree& tree, const Columns& table, std::span<const std::int32_t> labels,
                    PessimisticErrors estimate, Patience& patience)
      : tree_(tree),
        table_(table),
        labels_(labels),
        estimate_(estimate),
        patience_(patience),
        sums_(tree.n_classes) {
    drafts_.reserve(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node)
      drafts_.push_back({node, tree.branches(node), tree.shares(node), tree.weights(node), 0.0});
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
        Rows side = frame.side_parts.empty() ? Rows{} : std::move(frame.side_parts[b]);
        frames.push_back({static_cast<std::size_t>(draft.children[b]),
                          frame.starts[b],
                          frame.starts[b + 1],
                          std::move(side),
                          {},
                          {},
                          0});
        continue;
      }
      frame.starts.clear();
      frame.side_parts.clear();
      if (decide(frame))
        frame.next = 0;
      else
        frames.pop_back();
    }
    return finish();
  }

 private:
  struct Draft {
    std::size_t source;
    std::span<const std::int32_t> children;
    std::span<const double> shares, weights;
    double errors;  // estimated, of its leaves together
    bool is_leaf() const { return children.empty(); }
  };
  struct Frame {
    std::size_t node;
    std::size_t begin, end;  // its stretch of rows_
    Rows side;
    std::vector<std::size_t> starts;  // of the branches' stretches
    std::vector<Rows> side_parts;     // a branch each, or none at all
    std::size_t next;                 // the branch to go down
  };

  std::span<const WeightedRow> stretch_of(const Frame& frame) const {
    return {rows_.data() + frame.begin, frame.end - frame.begin};
  }

  // Finds the branch of each row (the number of branches if its value is missing) and adds what
  // the branches are known to get to `known_`.
  void place(const Draft& draft, std::span<const WeightedRow> rows) {
    const std::size_t n = draft.children.size(), first = places_.size();
    places_.resize(first + rows.size());
    std::uint32_t* places = places_.data() + first;
    with_branches(tree_, draft.source, table_, [&](auto&& branch_of_row) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t branch = branch_of_row(rows[i].row);
        const std::size_t at = branch < 0 ? n : static_cast<std::size_t>(branch);
        places[i] = static_cast<std::uint32_t>(at);
        known_[at] += rows[i].weight;
        ++counts_[at];
      }
    });
  }
  void start_placing(const Draft& draft) {
    places_.clear();
    known_.assign(draft.children.size() + 1, 0.0);
    counts_.assign(draft.children.size() + 1, 0);
  }

  // Shares of the branches by what they are known to get.
  void find_shares() {
    const std::size_t n = known_.size() - 1;
    const double total = std::accumulate(known_.begin(), known_.begin() + as_offset(n), 0.0);
    shares_.assign(n, 1.0 / static_cast<double>(n));
    if (total > 0)
      for (std::size_t b = 0; b < n; ++b) shares_[b] = known_[b] / total;
  }

  // Sorts a node's stretch by branch, rows without a value last, and hands out the side rows.
  void arrange(const Draft& draft, Frame& frame) {
    const std::size_t n = draft.children.size();
    start_placing(draft);
    place(draft, stretch_of(frame));
    frame.starts.assign(1, frame.begin);
    next_.clear();
    for (std::size_t b = 0; b <= n; ++b) {
      next_.push_back(frame.starts[b]);
      frame.starts.push_back(frame.starts[b] + counts_[b]);
    }
    place(draft, frame.side);
    const std::size_t n_here = frame.end - frame.begin;
    moved_.assign(rows_.begin() + as_offset(frame.begin), rows_.begin() + as_offset(frame.end));
    for (std::size_t i = 0; i < n_here; ++i) rows_[next_[places_[i]]++] = moved_[i];
    if (frame.side.empty() && counts_[n] == 0) return;
    find_shares();
    frame.side_parts.assign(n, {});
    Rows lost(rows_.begin() + as_offset(frame.starts[n]),
              rows_.begin() + as_offset(frame.starts[n + 1]));
    for (std::size_t i = 0; i < frame.side.size(); ++i) {
      const std::size_t at = places_[n_here + i];
      (at == n ? lost : frame.side_parts[at]).push_back(frame.side[i]);
    }
    for (std::size_t b = 0; b < n; ++b)
      if (shares_[b] > 0)
        for (const WeightedRow& item : lost)
          frame.side_parts[b].push_back({item.row, item.weight * shares_[b]});
  }

  // True if the heaviest branch took the node's place, so that it must be pruned again.
  bool decide(const Frame& frame) {
    constexpr double spare = 0.1;
    Draft& draft = drafts_[frame.node];
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
    auto at_least = [](double a, double b) { return b - a < c45_slack; };
    const bool leaf_may_do = at_least(as_is + spare, as_leaf);
    // From here on the branch has lost, whatever else it costs.
    const double too_many = leaf_may_do ? as_leaf - spare : as_is + spare + 2 * c45_slack;
    const double as_branch = resend(heaviest, frame, too_many);
    if (leaf_may_do && at_least(as_branch + spare, as_leaf)) {
      draft.children = {};
      draft.shares = {};
      draft.errors = as_leaf;
      return false;
    }
    if (at_least(as_is + spare, as_branch)) {
      resend(heaviest, frame, std::numeric_limits<double>::infinity(), true);
      draft = drafts_[heaviest];
      return true;
    }
    draft.errors = as_is;
    return false;
  }

  // Sends a node's rows through one of its branches, in which not all of them were grown: the
  // estimated errors of its leaves, or some number of `too_many` or more. If `keep`, the nodes get
  // their new weights and shares.
  double resend(std::size_t top, const Frame& frame, double too_many, bool keep = false) {
    const auto here = stretch_of(frame);
    sent_.assign(here.begin(), here.end());
    sent_.insert(sent_.end(), frame.side.begin(), frame.side.end());
    pending_.assign(1, {top, 0});
    double errors = 0;
    // The rows of the nodes that wait lie one after the other, those of the last one at the end.
    while (!pending_.empty() && errors < too_many) {
      const auto [node, begin] = pending_.back();
      pending_.pop_back();
      Draft& draft = drafts_[node];
      const std::span<const WeightedRow> rows(sent_.data() + begin, sent_.size() - begin);
      if (draft.is_leaf() || keep) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        for (const WeightedRow& item : rows)
          sums_[static_cast<std::size_t>(labels_[item.row])] += item.weight;
        if (keep) draft.weights = kept_.emplace_back(sums_);
      }
      if (draft.is_leaf()) {
        errors += estimate_(sums_);
        sent_.resize(begin);
        continue;
      }
      if (rows.empty() && !keep) continue;
      divide(draft, begin, keep);
    }
    return errors;
  }

  // Sorts the last rows of sent_ by branch, and lets the branches wait.
  void divide(Draft& draft, std::size_t begin, bool keep) {
    const std::size_t n = draft.children.size();
    moved_.assign(sent_.begin() + as_offset(begin), sent_.end());
    start_placing(draft);
    place(draft, moved_);
    find_shares();
    if (keep) draft.shares = kept_.emplace_back(shares_);
    const std::size_t n_lost = counts_[n];
    next_.clear();
    std::size_t end = begin;
    for (std::size_t b = 0; b < n; ++b) {
      next_.push_back(end);
      const std::size_t size = counts_[b] + (shares_[b] > 0 ? n_lost : 0);
      if (size > 0 || keep) pending_.push_back({static_cast<std::size_t>(draft.children[b]), end});
      end += size;
    }
    sent_.resize(end);
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (places_[i] < n) sent_[next_[places_[i]]++] = moved_[i];
    if (n_lost == 0) return;
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (places_[i] == n)
        for (std::size_t b = 0; b < n; ++b)
          if (shares_[b] > 0) sent_[next_[b]++] = {moved_[i].row, moved_[i].weight * shares_[b]};
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
  std::deque<std::vector<double>> kept_;  // weights and shares that are not the tree's
  Rows rows_;
  // Scratch, so that a node costs no allocation.
  std::vector<double> sums_, known_, shares_;
  std::vector<std::uint32_t> places_;
  std::vector<std::size_t> counts_, next_;
  Rows moved_, sent_;
  std::vector<std::pair<std::size_t, std::size_t>> pending_;  // a node, where its rows begin
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
