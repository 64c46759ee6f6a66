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
#include "sureleaf/threshold.hpp"
#include "sureleaf/tree.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf {

namespace detail {

template <class Entry>
class Grower {
 public:
  Grower(const Presorted& data, std::span<const std::int32_t> labels, std::size_t n_classes,
         RowWeights weights, const GrowthRules& rules, std::size_t n_threads, Patience& patience)
      : growth_(data, labels, n_classes, weights, rules),
        n_threads_(std::max<std::size_t>(1, n_threads)),
        patience_(patience),
        workspaces_(n_threads_, Workspace<Entry>(n_classes)),
        cuts_(growth_, patience),
        divider_(growth_, workspaces_, patience) {}

  // `take_order` hands over the order of a column: a copy of the shared one, or that one itself.
  template <class TakeOrder>
  Tree run(TakeOrder&& take_order) {
    growth_.make_lists(take_order, n_threads_, patience_);
    Arena arena(growth_.n_classes);
    arena.add_nodes(1);
    std::vector<Work> tasks = grow_top(growth_.make_root(arena.weights(0)), arena);
    std::vector<Arena> grown(tasks.size(), Arena(growth_.n_classes));
    run_jobs(tasks.size(), n_threads_, patience_, [&](std::size_t i, std::size_t thread) {
      grown[i].adopt_root(arena, tasks[i].node);
      arena.nodes[tasks[i].node].task = static_cast<std::int32_t>(i);
      tasks[i].node = 0;
      grow_below(std::move(tasks[i]), grown[i], workspaces_[thread]);
    });
    growth_.lists.clear();
    return flatten(arena, grown);
  }

 private:
  // ---- the order of work ------------------------------------------------------------------

  // Nodes near the root, one after the other, their columns shared out among the threads; returns
  // those small enough to be grown whole by one thread, the largest first.
  std::vector<Work> grow_top(Work root, Arena& arena) {
    std::vector<Work> tasks, pending;
    pending.push_back(std::move(root));
    const std::size_t small = n_threads_ == 1 ? growth_.n_root : growth_.n_root / (6 * n_threads_);
    while (!pending.empty()) {
      Work work = std::move(pending.back());
      pending.pop_back();
      if (work.n <= small || n_threads_ == 1) {
        tasks.push_back(std::move(work));
        continue;
      }
      split(work, arena, workspaces_[0], n_threads_, pending);
    }
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Work& a, const Work& b) { return a.n > b.n; });
    return tasks;
  }

  void grow_below(Work root, Arena& arena, Workspace<Entry>& space) {
    std::vector<Work> pending;
    pending.push_back(std::move(root));
    while (!pending.empty()) {
      patience_.check();
      Work work = std::move(pending.back());
      pending.pop_back();
      split(work, arena, space, 1, pending);
    }
  }

  void split(Work& work, Arena& arena, Workspace<Entry>& space, std::size_t n_threads,
             std::vector<Work>& pending) {
    if (growth_.is_leaf(arena.weights(work.node), work.depth)) return;
    Totals& totals = space.totals;
    set_totals(work, arena, totals);
    std::vector<Candidate>& candidates = space.candidates;
    candidates.resize(growth_.data.table.size());
    if (n_threads == 1)
      cuts_.find_cuts(work, totals, space, candidates);
    else
      cuts_.find_cuts(work, totals, workspaces_, candidates);
    for (std::size_t j = 0; j < candidates.size(); ++j)
      if (candidates[j].hopeless) work.give_up(j);
    const std::size_t chosen = choose(candidates, totals);
    if (chosen == candidates.size()) return;
    divider_.make_split(work, chosen, candidates[chosen], arena, space, n_threads, pending);
  }

  void set_totals(const Work& work, Arena& arena, Totals& totals) const {
    const std::span<const double> weights = arena.weights(work.node);
    totals.weights.assign(weights.begin(), weights.end());
    totals.weight = std::accumulate(weights.begin(), weights.end(), 0.0);
    totals.impurity = group_impurity<double>(weights, growth_.rules.uses_entropy());
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
    const double tie = tie_share * totals.impurity / totals.weight;
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

  // ---- the finished tree ------------------------------------------------------------------

  Tree flatten(Arena& arena, std::vector<Arena>& grown) {
    if (!growth_.rules.is_c45())
      return flatten_arenas(arena, grown,
                            [](const GrownNode& node) { return midpoint(node.low, node.high); });
    Thresholds thresholds(growth_.data.table.size());
    thresholds.add(arena);
    for (const Arena& task : grown) thresholds.add(task);
    run_jobs(growth_.data.table.size(), n_threads_, patience_, [&](std::size_t j, std::size_t) {
      thresholds.settle(j, [&](auto&& visit) { growth_.visit_values(j, visit); });
    });
    return flatten_arenas(arena, grown, [&](const GrownNode& node) { return thresholds.of(node); });
  }

  Growth<Entry> growth_;
  std::size_t n_threads_;
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
      // C4.5 looks up thresholds in the order of columns whose values are close.
      if (use_up && (!rules.is_c45() || column.gaps_are_wide)) return std::move(column.order);
      return column.order;
    });
  };
  if (Packing<std::uint32_t>::fits(data.table.n_rows, n_classes)) return run(std::uint32_t{});
  return run(std::uint64_t{});
}

}  // namespace sureleaf
