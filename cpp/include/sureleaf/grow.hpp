// Growing a tree: which node when, by which threads, and split by which column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sureleaf/arena.hpp"
#include "sureleaf/cut.hpp"
#include "sureleaf/divide.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"
#include "sureleaf/waiting.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf {

namespace detail {

template <class Entry>
class Grower {
 public:
  Grower(const Presorted& data, std::span<const std::int32_t> labels, std::size_t n_classes,
         RowWeights weights, const GrowthRules& rules, std::size_t n_threads, Patience& patience)
      : growth_(data, labels, n_classes, weights, rules),
        crew_(n_threads),
        patience_(patience),
        workspaces_(crew_.size(), Workspace<Entry>(n_classes)),
        cuts_(growth_, patience),
        divider_(growth_, workspaces_, patience) {}

  // `take_order` hands over the order of a column: a copy of the shared one, or that one itself.
  template <class TakeOrder>
  Tree run(TakeOrder&& take_order) {
    growth_.make_lists(take_order, crew_, patience_);
    Arena top(growth_.n_classes);
    top.add_nodes(1);
    Waiting waiting(patience_);
    std::vector<Work> nodes;
    nodes.push_back(growth_.make_root(top.weights(0)));
    waiting.add(std::move(nodes), top);
    split_together(waiting, top);
    crew_.run(crew_.size(), patience_, [&](std::size_t, std::size_t thread) {
      waiting.work_off(
          [&](Work& work, Arena& arena) { grow_below(work, arena, workspaces_[thread], waiting); });
    });
    growth_.lists.clear();
    return flatten_arenas(top, waiting.arenas());
  }

 private:
  // ---- the order of work ------------------------------------------------------------------

  // Nodes near the root are split one after the other, their columns shared out among the threads,
  // until there is enough for each thread to do alone while the largest node is split.
  void split_together(Waiting& waiting, Arena& arena) {
    while (!waiting.is_empty() &&
           waiting.n_rows() - waiting.largest() < (crew_.size() - 1) * waiting.largest()) {
      Work work = waiting.take_largest();
      std::vector<Work> branches;
      split(work, arena, workspaces_[0], crew_, branches);
      waiting.add(std::move(branches), arena);
    }
  }

  // Grows a node to its end, or splits it for others to go on with where it is large.
  void grow_below(Work& root, Arena& arena, Workspace<Entry>& space, Waiting& waiting) {
    constexpr std::size_t n_turns = 6;  // of a thread at the least, for all to end together
    const bool is_large = root.n > growth_.n_root / (n_turns * crew_.size()) && crew_.size() > 1;
    std::vector<Work> pending;
    pending.push_back(std::move(root));
    Crew alone(1);
    while (!pending.empty()) {
      patience_.check();
      Work work = std::move(pending.back());
      pending.pop_back();
      split(work, arena, space, alone, pending);
      if (is_large) return waiting.add(std::move(pending), arena);
    }
  }

  void split(Work& work, Arena& arena, Workspace<Entry>& space, Crew& crew,
             std::vector<Work>& pending) {
    if (growth_.is_leaf(arena.weights(work.node), work.depth)) return;
    Totals& totals = space.totals;
    set_totals(work, arena, totals);
    std::vector<Candidate>& candidates = space.candidates;
    candidates.resize(growth_.data.table.size());
    if (crew.size() == 1)
      cuts_.find_cuts(work, totals, space, candidates);
    else
      cuts_.find_cuts(work, totals, workspaces_, crew, candidates);
    for (std::size_t j = 0; j < candidates.size(); ++j)
      if (candidates[j].hopeless) work.give_up(j);
    const std::size_t chosen = choose(candidates, totals);
    if (chosen == candidates.size()) return;
    const std::size_t n_before = pending.size();
    divider_.make_split(work, chosen, candidates[chosen], arena, space, crew, pending);
    if (space.branches.lost_rows.empty())
      cuts_.hand_down(work, totals, std::span(pending).subspan(n_before), space);
  }

  void set_totals(const Work& work, Arena& arena, Totals& totals) const {
    const std::span<const double> weights = arena.weights(work.node);
    totals.weights.assign(weights.begin(), weights.end());
    totals.node = Group(weights, growth_.rules.uses_entropy());
    totals.whole = work.side.empty() && growth_.weights.are_whole();
    totals.counts.clear();
    if (totals.whole)
      for (const double w : weights) totals.counts.push_back(static_cast<std::int64_t>(w));
  }

  // ---- the best column --------------------------------------------------------------------

  std::size_t choose(const std::vector<Candidate>& candidates, const Totals& totals) const {
    return growth_.rules.is_c45() ? choose_by_ratio(candidates)
                                  : choose_by_gain(candidates, totals);
  }

  std::size_t choose_by_gain(const std::vector<Candidate>& candidates, const Totals& totals) const {
    const double tie = tie_share * totals.node.impurity / totals.node.weight;
    std::size_t chosen = candidates.size();
    double best = 0;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      if (!candidates[j].valid) continue;
      if (chosen < candidates.size() && !(candidates[j].gain - best > tie)) continue;
      chosen = j;
      best = candidates[j].gain;
    }
    return chosen;
  }

  bool has_many_values(std::size_t j) const {
    return !growth_.data.table[j].has_thresholds() &&
           !(c45_many_values_share * growth_.total_weight - growth_.data.table[j].n_categories >
             c45_slack);
  }

  std::size_t choose_by_ratio(const std::vector<Candidate>& candidates) const {
    bool all_many = true;
    for (std::size_t j = 0; j < candidates.size(); ++j) all_many = all_many && has_many_values(j);
    double sum = 0, n_valid = 0;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      if (!candidates[j].valid || (!all_many && has_many_values(j))) continue;
      sum += candidates[j].gain;
      n_valid += 1;
    }
    std::size_t chosen = candidates.size();
    if (n_valid == 0) return chosen;
    const double least = sum / n_valid - c45_average_gain_slack;
    double best = 0;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      if (!candidates[j].valid || candidates[j].gain < least) continue;
      if (!(candidates[j].ratio() - best > c45_slack)) continue;
      chosen = j;
      best = candidates[j].ratio();
    }
    return chosen;
  }

  Growth<Entry> growth_;
  Crew crew_;
  Patience& patience_;
  std::vector<Workspace<Entry>> workspaces_;
  CutFinder<Entry> cuts_;
  Divider<Entry> divider_;
};

}  // namespace detail

// Grows a tree. Orders are shared with other trees; with `use_up` the tree may have them, which
// saves their memory.
inline Tree grow(Presorted& data, std::span<const std::int32_t> labels, std::size_t n_classes,
                 const RowWeights& weights, const GrowthRules& rules, std::size_t n_threads,
                 bool use_up, Patience& patience) {
  auto run = [&](auto entry) {
    detail::Grower<decltype(entry)> grower(data, labels, n_classes, weights, rules, n_threads,
                                           patience);
    return grower.run([&](std::size_t j) -> std::vector<std::uint32_t> {
      PresortedColumn& column = data.columns[j];
      // C4.5 looks up its thresholds in the orders.
      if (use_up && !rules.is_c45()) return std::move(column.order);
      return column.order;
    });
  };
  if (Packing<std::uint32_t>::fits(data.table.n_rows, n_classes)) return run(std::uint32_t{});
  return run(std::uint64_t{});
}

}  // namespace sureleaf
