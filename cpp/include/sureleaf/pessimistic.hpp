// C4.5's pruning by pessimistic errors: subtree replacement and subtree raising.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/prune.hpp"
#include "sureleaf/route.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// C4.5's estimate of a leaf's errors on new rows: the upper limit of a one-sided interval.
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
  // Whether more rows never lower the estimate.
  bool never_falls() const { return z_ >= 0; }

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

}  // namespace sureleaf

namespace sureleaf::detail {

struct WeightedRow {
  std::uint32_t row, label;
  double weight;

  WeightedRow part(double share) const { return {row, label, weight * share}; }
};
using Rows = std::vector<WeightedRow>;

inline void append(Rows& rows, std::span<const WeightedRow> further) {
  rows.insert(rows.end(), further.begin(), further.end());
}

// The branch of each row of a node; the number of branches if the value is missing.
class BranchAssignment {
 public:
  BranchAssignment(const Tree& tree, const Columns& table) : tree_(tree), table_(table) {}

  void start(std::size_t node, std::size_t n_branches) {
    node_ = node;
    branches_.clear();
    counts_.assign(n_branches + 1, 0);
  }
  void add(std::span<const WeightedRow> rows) {
    const Column column = table_[static_cast<std::size_t>(tree_.feature[node_])];
    if (column.kind == Kind::numeric) {
      const double threshold = tree_.threshold[node_];
      const auto missing = static_cast<std::uint32_t>(
          tree_.missing_branch[node_] < 0 ? 2 : tree_.missing_branch[node_]);
      record(rows, [=](std::size_t row) {  // a sum instead of a branch, which would be mispredicted
        const double x = column.number(row);
        return static_cast<std::uint32_t>(x > threshold) +
               missing * static_cast<std::uint32_t>(x != x);
      });
    } else {
      const auto missing = static_cast<std::uint32_t>(counts_.size() - 1);
      with_branches(tree_, node_, table_, [&](auto&& branch_of_row) {
        record(rows, [&](std::size_t row) {
          const std::int32_t branch = branch_of_row(row);
          return branch < 0 ? missing : static_cast<std::uint32_t>(branch);
        });
      });
    }
  }
  std::size_t operator[](std::size_t i) const { return branches_[i]; }
  std::size_t count(std::size_t assign) const { return counts_[assign]; }
  std::size_t n_missing() const { return counts_.back(); }

  // Shares of the branches in the known weight: `known` and the weights of these rows, which are
  // all that were added.
  void find_shares(std::span<const double> known, std::span<const WeightedRow> rows) {
    shares_.assign(known.begin(), known.end());
    shares_.push_back(0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) shares_[branches_[i]] += rows[i].weight;
    shares_.pop_back();
    const double total = std::accumulate(shares_.begin(), shares_.end(), 0.0);
    const double same = 1.0 / static_cast<double>(known.size());
    for (double& share : shares_) share = total > 0 ? share / total : same;
  }
  const std::vector<double>& shares() const { return shares_; }

 private:
  template <class BranchOf>
  void record(std::span<const WeightedRow> rows, BranchOf&& branch_of_row) {
    const std::size_t first = branches_.size();
    branches_.resize(first + rows.size());
    std::uint32_t* const branches = branches_.data() + first;
    std::uint32_t* const counts = counts_.data();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      branches[i] = branch_of_row(rows[i].row);
      ++counts[branches[i]];
    }
  }

  const Tree& tree_;
  const Columns& table_;
  std::size_t node_ = 0;
  std::vector<std::uint32_t> branches_, counts_;
  std::vector<double> shares_;
};

}  // namespace sureleaf::detail

namespace sureleaf {

namespace detail {

// Subtree replacement and raising. The draft is a copy of the tree with links, in which a branch
// can take the place of its parent; `source` is the node of the original tree whose test it has.
class PessimisticPruner {
 public:
  PessimisticPruner(const Tree& tree, const Columns& table, PessimisticErrors estimate,
                    InterruptFlag& interrupt)
      : tree_(tree),
        estimate_(estimate),
        interrupt_(interrupt),
        whole_weights_(tree.class_weights.size()),
        assignment_(tree, table),
        sums_(tree.n_classes) {
    drafts_.reserve(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node)
      drafts_.push_back({node, tree.branches(node), tree.shares(node), tree.weights(node)});
  }

  // Depth first, children before their parent. The rows of a node are a range of one array, in
  // which its children have ranges again, so a deep tree needs no more memory than a flat one.
  // Fractional rows are kept per node.
  Tree run(Rows rows) {
    rows_ = std::move(rows);
    std::vector<Frame> frames;
    frames.push_back({0, 0, rows_.size(), {}, {}, {}, 0});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      Draft& draft = drafts_[frame.node];
      if (draft.is_leaf()) {
        finish_leaf(frame, estimate_(draft.weights));
        frames.pop_back();
        continue;
      }
      if (frame.next == 0) {
        interrupt_.check();
        arrange(draft, frame);
      }
      if (frame.next < draft.children.size()) {
        const std::size_t b = frame.next++;
        Rows fractional =
            frame.fractional_by_branch.empty() ? Rows{} : std::move(frame.fractional_by_branch[b]);
        frames.push_back({static_cast<std::size_t>(draft.children[b]),
                          frame.starts[b],
                          frame.starts[b + 1],
                          std::move(fractional),
                          {},
                          {},
                          0});
        continue;
      }
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
    double errors = 0;            // estimated, sum over its leaves
    double whole_errors = 0;      // the same for the rows that reached them whole
    bool has_fractional = false;  // whether fractional rows reached it
    std::size_t missing_begin = 0,
                missing_end = 0;  // rows that came whole and whose value is missing here
    bool is_leaf() const { return children.empty(); }
  };
  struct Frame {
    std::size_t node;
    std::size_t begin, end;  // its range of rows_
    Rows fractional;
    std::vector<std::size_t> starts;         // of the branches' ranges
    std::vector<Rows> fractional_by_branch;  // one per branch, or none at all
    std::size_t next;                        // the next branch to visit
  };

  std::span<const WeightedRow> range(std::size_t begin, std::size_t end) const {
    return {rows_.data() + begin, end - begin};
  }
  std::span<const WeightedRow> range_of(const Frame& frame) const {
    return range(frame.begin, frame.end);
  }
  // Per class, of the rows that reached a node whole.
  std::span<double> whole_weights(std::size_t node) {
    return {whole_weights_.data() + node * tree_.n_classes, tree_.n_classes};
  }
  static void add_up(std::span<const WeightedRow> rows, std::span<double> sums) {
    for (const WeightedRow& item : rows) sums[item.label] += item.weight;
  }

  void assign(const Draft& draft, std::span<const WeightedRow> rows) {
    assignment_.start(draft.source, draft.children.size());
    assignment_.add(rows);
  }

  // Sorts a node's range by branch, rows with a missing value last, and distributes its fractional
  // rows.
  void arrange(const Draft& draft, Frame& frame) {
    const std::size_t n = draft.children.size(), n_here = frame.end - frame.begin;
    assign(draft, range_of(frame));
    frame.starts.reserve(n + 2);
    frame.starts.assign(1, frame.begin);
    frame.fractional_by_branch.clear();
    next_.clear();
    for (std::size_t b = 0; b <= n; ++b) {
      next_.push_back(frame.starts[b]);
      frame.starts.push_back(frame.starts[b] + assignment_.count(b));
    }
    const auto here = range_of(frame);
    moved_.assign(here.begin(), here.end());
    for (std::size_t i = 0; i < n_here; ++i) rows_[next_[assignment_[i]]++] = moved_[i];
    if (frame.fractional.empty() && assignment_.n_missing() == 0) return;
    assignment_.add(frame.fractional);
    frame.fractional_by_branch.assign(n, {});
    Rows missing;
    append(missing, range(frame.starts[n], frame.starts[n + 1]));
    for (std::size_t i = 0; i < frame.fractional.size(); ++i) {
      const std::size_t at = assignment_[n_here + i];
      (at == n ? missing : frame.fractional_by_branch[at]).push_back(frame.fractional[i]);
    }
    if (missing.empty()) return;
    known_.assign(n, 0.0);
    append(moved_, frame.fractional);
    assignment_.find_shares(known_, moved_);
    const std::vector<double>& shares = assignment_.shares();
    for (std::size_t b = 0; b < n; ++b)
      if (shares[b] > 0)
        for (const WeightedRow& item : missing)
          frame.fractional_by_branch[b].push_back(item.part(shares[b]));
  }

  void finish_leaf(const Frame& frame, double errors) {
    Draft& draft = drafts_[frame.node];
    draft.errors = errors;
    draft.has_fractional = !frame.fractional.empty();
    const auto whole = whole_weights(frame.node);
    if (draft.has_fractional) {
      std::fill(whole.begin(), whole.end(), 0.0);
      add_up(range_of(frame), whole);
      draft.whole_errors = estimate_(whole);
    } else {
      std::copy(draft.weights.begin(), draft.weights.end(), whole.begin());
      draft.whole_errors = errors;
    }
  }

  // True if the heaviest branch took the node's place, so that it must be pruned again.
  bool decide(const Frame& frame) {
    constexpr double spare = 0.1;
    Draft& draft = drafts_[frame.node];
    const std::size_t n = draft.children.size();
    draft.has_fractional = !frame.fractional.empty();
    draft.missing_begin = frame.starts[n];
    draft.missing_end = frame.starts[n + 1];
    const auto whole = whole_weights(frame.node);
    std::fill(whole.begin(), whole.end(), 0.0);
    add_up(range(draft.missing_begin, draft.missing_end), whole);
    std::size_t heaviest = 0;
    double as_is = 0, largest = -1;
    draft.whole_errors = 0;
    for (std::size_t b = 0; b < n; ++b) {
      const auto c = static_cast<std::size_t>(draft.children[b]);
      as_is += drafts_[c].errors;
      draft.whole_errors += drafts_[c].whole_errors;
      for (std::size_t k = 0; k < whole.size(); ++k) whole[k] += whole_weights(c)[k];
      const double weight = total_weight(drafts_[c].weights);
      if (largest - weight < c45_slack) {  // the last one on ties
        largest = weight;
        heaviest = b;
      }
    }
    const double as_leaf = estimate_(draft.weights);
    auto at_least = [](double a, double b) { return b - a < c45_slack; };
    const bool leaf_may_do = at_least(as_is + spare, as_leaf);
    // With this many errors raising the branch is not chosen, whatever is added.
    const double too_many = leaf_may_do ? as_leaf - spare : as_is + spare + 2 * c45_slack;
    const auto branch = static_cast<std::size_t>(draft.children[heaviest]);
    const double as_branch =
        drafts_[branch].is_leaf() ? as_leaf : try_raising(heaviest, frame, too_many);
    if (leaf_may_do && at_least(as_branch + spare, as_leaf)) {
      draft.children = {};
      draft.shares = {};
      finish_leaf(frame, as_leaf);
      return false;
    }
    if (at_least(as_is + spare, as_branch)) {
      raise(branch, frame);
      draft = drafts_[branch];
      return true;
    }
    draft.errors = as_is;
    return false;
  }

  // The estimated errors of a branch if it had all rows of its node, or a number not below
  // `too_many`. Rows that went down the branch whole end in the same leaves; the other rows are
  // sent again, and so are rows with a missing value in the branch, whose shares may change.
  double try_raising(std::size_t b, const Frame& frame, double too_many) {
    if (!estimate_.never_falls()) too_many = std::numeric_limits<double>::infinity();
    sent_.clear();
    append(sent_, range(frame.begin, frame.starts[b]));
    append(sent_, range(frame.starts[b + 1], frame.end));
    append(sent_, frame.fractional);
    const auto top = static_cast<std::size_t>(drafts_[frame.node].children[b]);
    pending_.assign(1, {top, 0});
    double errors = drafts_[top].whole_errors;
    // The rows of pending nodes follow each other; those of the last node are at the end.
    while (!pending_.empty() && errors < too_many) {
      const auto [node, begin] = pending_.back();
      pending_.pop_back();
      const Draft& draft = drafts_[node];
      if (!draft.is_leaf()) {
        errors += send_further(draft, begin);
        continue;
      }
      const auto whole = whole_weights(node);
      sums_.assign(whole.begin(), whole.end());
      add_up(std::span(sent_).subspan(begin), sums_);
      errors += estimate_(sums_) - draft.whole_errors;
      sent_.resize(begin);
    }
    return errors;
  }

  // Adds the branches whose rows have changed to the pending ones; returns the errors of the others
  // that are not counted yet.
  double send_further(const Draft& draft, std::size_t begin) {
    append(sent_, range(draft.missing_begin, draft.missing_end));
    assign_last(draft, begin);
    if (assignment_.n_missing() > 0) {
      known_.clear();
      for (const std::int32_t child : draft.children)
        known_.push_back(total_weight(whole_weights(static_cast<std::size_t>(child))));
      assignment_.find_shares(known_, moved_);
    }
    double unchanged = 0;
    distribute(draft, begin, [&](std::size_t child, std::size_t n_rows) {
      const bool changes = n_rows > 0 || drafts_[child].has_fractional;
      if (!changes) unchanged += drafts_[child].errors - drafts_[child].whole_errors;
      return changes;
    });
    return unchanged;
  }

  // Sends all rows of a node through one of its branches, whose nodes get new weights and shares.
  void raise(std::size_t top, const Frame& frame) {
    sent_.clear();
    append(sent_, range_of(frame));
    append(sent_, frame.fractional);
    pending_.assign(1, {top, 0});
    while (!pending_.empty()) {
      const auto [node, begin] = pending_.back();
      pending_.pop_back();
      Draft& draft = drafts_[node];
      std::fill(sums_.begin(), sums_.end(), 0.0);
      add_up(std::span(sent_).subspan(begin), sums_);
      draft.weights = kept_.emplace_back(sums_);
      if (draft.is_leaf()) {
        sent_.resize(begin);
        continue;
      }
      assign_last(draft, begin);
      known_.assign(draft.children.size(), 0.0);
      assignment_.find_shares(known_, moved_);
      draft.shares = kept_.emplace_back(assignment_.shares());
      distribute(draft, begin, [](std::size_t, std::size_t) { return true; });
    }
  }

  // Assigns the last rows of sent_ to the branches of a node.
  void assign_last(const Draft& draft, std::size_t begin) {
    const auto rows = std::span(sent_).subspan(begin);
    moved_.assign(rows.begin(), rows.end());
    assign(draft, moved_);
  }

  // Puts assigned rows back, branch by branch; branches for which goes_on(child, n_rows) is true
  // become pending.
  template <class GoesOn>
  void distribute(const Draft& draft, std::size_t begin, GoesOn&& goes_on) {
    const std::size_t n = draft.children.size(), n_missing = assignment_.n_missing();
    const std::vector<double>& shares = assignment_.shares();
    next_.clear();
    std::size_t end = begin;
    for (std::size_t b = 0; b < n; ++b) {
      next_.push_back(end);
      const auto child = static_cast<std::size_t>(draft.children[b]);
      const std::size_t size =
          assignment_.count(b) + (n_missing > 0 && shares[b] > 0 ? n_missing : 0);
      if (goes_on(child, size)) pending_.push_back({child, end});
      end += size;
    }
    sent_.resize(end);
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (assignment_[i] < n) sent_[next_[assignment_[i]]++] = moved_[i];
    if (n_missing == 0) return;
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (assignment_[i] == n)
        for (std::size_t b = 0; b < n; ++b)
          if (shares[b] > 0) sent_[next_[b]++] = moved_[i].part(shares[b]);
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
      tree.missing_branch.push_back(leaf ? -1 : tree_.missing_branch[draft.source]);
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
  PessimisticErrors estimate_;
  InterruptFlag& interrupt_;
  std::vector<Draft> drafts_;
  std::deque<std::vector<double>> kept_;  // weights and shares that are not those of the tree
  Rows rows_;
  std::vector<double> whole_weights_;
  // Scratch memory, so that a node needs no allocation.
  BranchAssignment assignment_;
  std::vector<double> sums_, known_;
  std::vector<std::size_t> next_;
  Rows moved_, sent_;
  std::vector<std::pair<std::size_t, std::size_t>> pending_;  // a node and the begin of its rows
};

}  // namespace detail

// With `are_copies` a row of weight k stands for k rows, as in growing.
inline Tree prune_pessimistic(const Tree& tree, const Columns& table,
                              std::span<const std::int32_t> labels, std::span<const double> weights,
                              bool are_copies, const PessimisticErrors& estimate,
                              InterruptFlag& interrupt) {
  detail::Rows rows;
  rows.reserve(table.n_rows);
  // A raised branch may get rows of a category that it has not seen.
  const bool any_may_be_fractional =
      std::ranges::any_of(tree.category_branch, [](auto b) { return b < 0; });
  auto may_be_fractional = [&](std::size_t row) {
    return any_may_be_fractional || std::ranges::any_of(table.columns, [=](const Column& column) {
             return column.kind == Kind::numeric ? std::isnan(column.number(row))
                                                 : column.code(row) < 0;
           });
  };
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    const double weight = weights.empty() ? 1.0 : weights[row];
    if (!(weight > 0)) continue;
    const bool is_repeated = are_copies && weight > 1 && may_be_fractional(row);
    const detail::WeightedRow item{static_cast<std::uint32_t>(row),
                                   static_cast<std::uint32_t>(labels[row]),
                                   is_repeated ? 1.0 : weight};
    rows.insert(rows.end(), is_repeated ? static_cast<std::size_t>(weight) : 1, item);
  }
  return detail::PessimisticPruner(tree, table, estimate, interrupt).run(std::move(rows));
}

}  // namespace sureleaf
