// C4.5's pruning by pessimistic errors: subtree replacement and raising.
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

#include "sureleaf/pessimistic_errors.hpp"
#include "sureleaf/prune.hpp"
#include "sureleaf/route.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

namespace detail {

struct WeightedRow {
  std::uint32_t row, label;
  double weight;
};
using Rows = std::vector<WeightedRow>;

inline void append(Rows& rows, std::span<const WeightedRow> further) {
  rows.insert(rows.end(), further.begin(), further.end());
}

inline std::ptrdiff_t as_offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

// Subtree replacement and raising. The draft is a copy of the tree with links, in which a branch
// can take its parent's place; `source` is the node of the original tree whose test it has.
class PessimisticPruner {
 public:
  PessimisticPruner(const Tree& tree, const Columns& table, PessimisticErrors estimate,
                    Patience& patience)
      : tree_(tree),
        table_(table),
        estimate_(estimate),
        patience_(patience),
        whole_weights_(tree.class_weights.size()),
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
        const auto whole = whole_weights(frame.node);
        std::fill(whole.begin(), whole.end(), 0.0);
        add_up(stretch_of(frame), whole);
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
    double errors = 0;  // estimated, of its leaves together
    // The same without the parts of rows, of which there are more if there is a side.
    double whole_errors = 0;
    bool has_side = false;
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

  // Finds the branch of each row, the number of branches if its value is missing.
  void place(const Draft& draft, std::span<const WeightedRow> rows) {
    const auto n = static_cast<std::uint32_t>(draft.children.size());
    const std::size_t first = places_.size();
    places_.resize(first + rows.size());
    std::uint32_t* places = places_.data() + first;
    std::uint32_t* counts = counts_.data();
    auto put = [&](auto&& place_of_row) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        places[i] = place_of_row(rows[i].row);
        ++counts[places[i]];
      }
    };
    const Column column = table_[static_cast<std::size_t>(tree_.feature[draft.source])];
    if (column.kind == Kind::numeric) {
      const double threshold = tree_.threshold[draft.source];
      put([=](std::size_t row) {  // sums, since what is to come cannot be guessed
        const double x = column.number(row);
        return static_cast<std::uint32_t>(x > threshold) + 2 * static_cast<std::uint32_t>(x != x);
      });
    } else {
      with_branches(tree_, draft.source, table_, [&](auto&& branch_of_row) {
        put([&](std::size_t row) {
          const std::int32_t branch = branch_of_row(row);
          return branch < 0 ? n : static_cast<std::uint32_t>(branch);
        });
      });
    }
  }
  void start_placing(const Draft& draft) {
    places_.clear();
    counts_.assign(draft.children.size() + 1, 0);
  }

  // Shares of the branches by what they are known to get: what is in `known` and these rows, which
  // have been placed in this order.
  void find_shares(std::vector<double>& known, std::span<const WeightedRow> rows,
                   std::span<const WeightedRow> further = {}) {
    const std::size_t n = counts_.size() - 1;
    for (std::size_t i = 0; i < rows.size(); ++i) known[places_[i]] += rows[i].weight;
    for (std::size_t i = 0; i < further.size(); ++i)
      known[places_[rows.size() + i]] += further[i].weight;
    const double total = std::accumulate(known.begin(), known.begin() + as_offset(n), 0.0);
    shares_.assign(n, 1.0 / static_cast<double>(n));
    if (total > 0)
      for (std::size_t b = 0; b < n; ++b) shares_[b] = known[b] / total;
  }

  // Sorts a node's stretch by branch, rows without a value last, and hands out the side rows.
  void arrange(const Draft& draft, Frame& frame) {
    const std::size_t n = draft.children.size();
    start_placing(draft);
    place(draft, stretch_of(frame));
    frame.starts.assign(1, frame.begin);
    frame.side_parts.clear();
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
    known_.assign(n + 1, 0.0);
    find_shares(known_, moved_, frame.side);
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
          frame.side_parts[b].push_back({item.row, item.label, item.weight * shares_[b]});
  }

  void settle_leaf(const Frame& frame, double errors) {
    Draft& draft = drafts_[frame.node];
    draft.errors = errors;
    draft.has_side = !frame.side.empty();
    draft.whole_errors = draft.has_side ? estimate_(whole_weights(frame.node)) : errors;
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
    const std::size_t n = draft.children.size();
    moved_.assign(sent_.begin() + as_offset(begin), sent_.end());
    append(moved_, stretch(draft.lost_begin, draft.lost_end));
    start_placing(draft);
    place(draft, moved_);
    if (counts_[n] > 0) {
      known_.clear();
      for (const std::int32_t child : draft.children)
        known_.push_back(total_weight(whole_weights(static_cast<std::size_t>(child))));
      known_.push_back(0.0);
      find_shares(known_, moved_);
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
      moved_.assign(sent_.begin() + as_offset(begin), sent_.end());
      start_placing(draft);
      place(draft, moved_);
      known_.assign(draft.children.size() + 1, 0.0);
      find_shares(known_, moved_);
      draft.shares = kept_.emplace_back(shares_);
      hand_out(draft, begin, [](std::size_t, std::size_t) { return true; });
    }
  }

  // Puts the rows that have been placed at the end of sent_, branch by branch; those branches wait
  // for which waits(child, rows) is true.
  template <class Waits>
  void hand_out(const Draft& draft, std::size_t begin, Waits&& waits) {
    const std::size_t n = draft.children.size(), n_lost = counts_[n];
    next_.clear();
    std::size_t end = begin;
    for (std::size_t b = 0; b < n; ++b) {
      next_.push_back(end);
      const auto child = static_cast<std::size_t>(draft.children[b]);
      const std::size_t size = counts_[b] + (n_lost > 0 && shares_[b] > 0 ? n_lost : 0);
      if (waits(child, size)) pending_.push_back({child, end});
      end += size;
    }
    sent_.resize(end);
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (places_[i] < n) sent_[next_[places_[i]]++] = moved_[i];
    if (n_lost == 0) return;
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (places_[i] == n)
        for (std::size_t b = 0; b < n; ++b)
          if (shares_[b] > 0)
            sent_[next_[b]++] = {moved_[i].row, moved_[i].label, moved_[i].weight * shares_[b]};
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
  PessimisticErrors estimate_;
  Patience& patience_;
  std::vector<Draft> drafts_;
  std::deque<std::vector<double>> kept_;  // weights and shares that are not the tree's
  Rows rows_;
  std::vector<double> whole_weights_;
  // Scratch, so that a node costs no allocation.
  std::vector<double> sums_, known_, shares_;
  std::vector<std::uint32_t> places_, counts_;
  std::vector<std::size_t> next_;
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
    if (weight > 0)
      rows.push_back(
          {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(labels[row]), weight});
  }
  return detail::PessimisticPruner(tree, table, estimate, patience).run(std::move(rows));
}

}  // namespace sureleaf
