// C4.5's pruning by pessimistic errors: subtree replacement and raising.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sureleaf/pessimistic_errors.hpp"
#include "sureleaf/placing.hpp"
#include "sureleaf/prune.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

namespace detail {

// Subtree replacement and raising. The draft is a copy of the tree with links, in which a branch
// can take its parent's place; `source` is the node of the original tree whose test it has.
class PessimisticPruner {
 public:
  PessimisticPruner(const Tree& tree, const Columns& table, PessimisticErrors estimate,
                    Patience& patience)
      : tree_(tree),
        estimate_(estimate),
        patience_(patience),
        whole_weights_(tree.class_weights.size()),
        placing_(tree, table),
        sums_(tree.n_classes) {
    drafts_.reserve(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node)
      drafts_.push_back({node, tree.branches(node), tree.shares(node), tree.weights(node)});
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
        settle_leaf(frame, estimate_(draft.weights));
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
    double errors = 0;                         // estimated, of its leaves together
    double whole_errors = 0;                   // the same, of the rows that came to them whole
    bool has_side = false;                     // whether parts of rows came
    std::size_t lost_begin = 0, lost_end = 0;  // rows that came whole, but lost their way here
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

  std::span<const WeightedRow> stretch(std::size_t begin, std::size_t end) const {
    return {rows_.data() + begin, end - begin};
  }
  std::span<const WeightedRow> stretch_of(const Frame& frame) const {
    return stretch(frame.begin, frame.end);
  }
  // By class, of the rows that came to a node whole.
  std::span<double> whole_weights(std::size_t node) {
    return {whole_weights_.data() + node * tree_.n_classes, tree_.n_classes};
  }
  static void add_up(std::span<const WeightedRow> rows, std::span<double> sums) {
    for (const WeightedRow& item : rows) sums[item.label] += item.weight;
  }

  void place(const Draft& draft, std::span<const WeightedRow> rows) {
    placing_.start(draft.source, draft.children.size());
    placing_.add(rows);
  }

  // Sorts a node's stretch by branch, rows without a value last, and hands out the side rows.
  void arrange(const Draft& draft, Frame& frame) {
    const std::size_t n = draft.children.size(), n_here = frame.end - frame.begin;
    place(draft, stretch_of(frame));
    frame.starts.reserve(n + 2);
    frame.starts.assign(1, frame.begin);
    frame.side_parts.clear();
    next_.clear();
    for (std::size_t b = 0; b <= n; ++b) {
      next_.push_back(frame.starts[b]);
      frame.starts.push_back(frame.starts[b] + placing_.count(b));
    }
    const auto here = stretch_of(frame);
    moved_.assign(here.begin(), here.end());
    for (std::size_t i = 0; i < n_here; ++i) rows_[next_[placing_[i]]++] = moved_[i];
    if (frame.side.empty() && placing_.n_lost() == 0) return;
    placing_.add(frame.side);
    frame.side_parts.assign(n, {});
    Rows lost;
    append(lost, stretch(frame.starts[n], frame.starts[n + 1]));
    for (std::size_t i = 0; i < frame.side.size(); ++i) {
      const std::size_t at = placing_[n_here + i];
      (at == n ? lost : frame.side_parts[at]).push_back(frame.side[i]);
    }
    if (lost.empty()) return;
    known_.assign(n, 0.0);
    append(moved_, frame.side);
    placing_.find_shares(known_, moved_);
    const std::vector<double>& shares = placing_.shares();
    for (std::size_t b = 0; b < n; ++b)
      if (shares[b] > 0)
        for (const WeightedRow& item : lost) frame.side_parts[b].push_back(item.part(shares[b]));
  }

  void settle_leaf(const Frame& frame, double errors) {
    Draft& draft = drafts_[frame.node];
    draft.errors = errors;
    draft.has_side = !frame.side.empty();
    const auto whole = whole_weights(frame.node);
    if (draft.has_side) {
      std::fill(whole.begin(), whole.end(), 0.0);
      add_up(stretch_of(frame), whole);
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
    draft.has_side = !frame.side.empty();
    draft.lost_begin = frame.starts[n];
    draft.lost_end = frame.starts[n + 1];
    const auto whole = whole_weights(frame.node);
    std::fill(whole.begin(), whole.end(), 0.0);
    add_up(stretch(draft.lost_begin, draft.lost_end), whole);
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
    // From here on the branch has lost, whatever else it costs.
    const double too_many = leaf_may_do ? as_leaf - spare : as_is + spare + 2 * c45_slack;
    const auto branch = static_cast<std::size_t>(draft.children[heaviest]);
    const double as_branch =
        drafts_[branch].is_leaf() ? as_leaf : try_raising(heaviest, frame, too_many);
    if (leaf_may_do && at_least(as_branch + spare, as_leaf)) {
      draft.children = {};
      draft.shares = {};
      settle_leaf(frame, as_leaf);
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

  // The estimated errors of a branch if it had all rows of its node, or some number of `too_many`
  // or more. Rows that went down the branch whole end in its leaves again: the others are sent, and
  // rows that lose their way in it, which now may be shared out otherwise.
  double try_raising(std::size_t b, const Frame& frame, double too_many) {
    if (!estimate_.never_falls()) too_many = std::numeric_limits<double>::infinity();
    sent_.clear();
    append(sent_, stretch(frame.begin, frame.starts[b]));
    append(sent_, stretch(frame.starts[b + 1], frame.end));
    append(sent_, frame.side);
    const auto top = static_cast<std::size_t>(drafts_[frame.node].children[b]);
    pending_.assign(1, {top, 0});
    double errors = drafts_[top].whole_errors;
    // The rows of the nodes that wait lie one after the other, those of the last one at the end.
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

  // Lets the branches wait that get other rows than they had; gives the errors of the others that
  // are not counted yet.
  double send_further(const Draft& draft, std::size_t begin) {
    append(sent_, stretch(draft.lost_begin, draft.lost_end));
    take_up(draft, begin);
    if (placing_.n_lost() > 0) {
      known_.clear();
      for (const std::int32_t child : draft.children)
        known_.push_back(total_weight(whole_weights(static_cast<std::size_t>(child))));
      placing_.find_shares(known_, moved_);
    }
    double unchanged = 0;
    hand_out(draft, begin, [&](std::size_t child, std::size_t n_rows) {
      const bool changes = n_rows > 0 || drafts_[child].has_side;
      if (!changes) unchanged += drafts_[child].errors - drafts_[child].whole_errors;
      return changes;
    });
    return unchanged;
  }

  // Sends all rows of a node through one of its branches, whose nodes get new weights and shares.
  void raise(std::size_t top, const Frame& frame) {
    sent_.clear();
    append(sent_, stretch_of(frame));
    append(sent_, frame.side);
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
      take_up(draft, begin);
      known_.assign(draft.children.size(), 0.0);
      placing_.find_shares(known_, moved_);
      draft.shares = kept_.emplace_back(placing_.shares());
      hand_out(draft, begin, [](std::size_t, std::size_t) { return true; });
    }
  }

  // Places the last rows of sent_.
  void take_up(const Draft& draft, std::size_t begin) {
    const auto rows = std::span(sent_).subspan(begin);
    moved_.assign(rows.begin(), rows.end());
    place(draft, moved_);
  }

  // Puts the rows that were taken up back, branch by branch; those branches wait for which
  // waits(child, rows) is true.
  template <class Waits>
  void hand_out(const Draft& draft, std::size_t begin, Waits&& waits) {
    const std::size_t n = draft.children.size(), n_lost = placing_.n_lost();
    const std::vector<double>& shares = placing_.shares();
    next_.clear();
    std::size_t end = begin;
    for (std::size_t b = 0; b < n; ++b) {
      next_.push_back(end);
      const auto child = static_cast<std::size_t>(draft.children[b]);
      const std::size_t size = placing_.count(b) + (n_lost > 0 && shares[b] > 0 ? n_lost : 0);
      if (waits(child, size)) pending_.push_back({child, end});
      end += size;
    }
    sent_.resize(end);
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (placing_[i] < n) sent_[next_[placing_[i]]++] = moved_[i];
    if (n_lost == 0) return;
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (placing_[i] == n)
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
  Patience& patience_;
  std::vector<Draft> drafts_;
  std::deque<std::vector<double>> kept_;  // weights and shares that are not the tree's
  Rows rows_;
  std::vector<double> whole_weights_;
  // Scratch, so that a node costs no allocation.
  Placing placing_;
  std::vector<double> sums_, known_;
  std::vector<std::size_t> next_;
  Rows moved_, sent_;
  std::vector<std::pair<std::size_t, std::size_t>> pending_;  // a node, where its rows begin
};

}  // namespace detail

// With `are_copies` a row of weight k stands for k rows, as in growing.
inline Tree prune_pessimistic(const Tree& tree, const Columns& table,
                              std::span<const std::int32_t> labels, std::span<const double> weights,
                              bool are_copies, const PessimisticErrors& estimate,
                              Patience& patience) {
  detail::Rows rows;
  rows.reserve(table.n_rows);
  // A raised branch may get rows of a category that it has not seen.
  const bool any_may_part = std::ranges::any_of(tree.category_branch, [](auto b) { return b < 0; });
  auto may_part = [&](std::size_t row) {
    return any_may_part || std::ranges::any_of(table.columns, [=](const Column& column) {
             return column.kind == Kind::numeric ? std::isnan(column.number(row))
                                                 : column.code(row) < 0;
           });
  };
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    const double weight = weights.empty() ? 1.0 : weights[row];
    if (!(weight > 0)) continue;
    const bool apart = are_copies && weight > 1 && may_part(row);
    const detail::WeightedRow item{static_cast<std::uint32_t>(row),
                                   static_cast<std::uint32_t>(labels[row]), apart ? 1.0 : weight};
    rows.insert(rows.end(), apart ? static_cast<std::size_t>(weight) : 1, item);
  }
  return detail::PessimisticPruner(tree, table, estimate, patience).run(std::move(rows));
}

}  // namespace sureleaf
