// Growing a tree: the order of nodes, their threads, and the column of each split.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sureleaf/best_split.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/node_queue.hpp"
#include "sureleaf/partition.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/tree.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf {

namespace detail {

template <class Entry>
class Grower {
  friend class LevelGrower;

 public:
  Grower(const Presorted& data, std::span<const std::int32_t> labels, std::size_t n_classes,
         RowWeights weights, const GrowthConfig& config, std::size_t n_threads,
         InterruptFlag& interrupt)
      : growth_(data, labels, n_classes, weights, config),
        pool_(n_threads),
        interrupt_(interrupt),
        workspaces_(pool_.size(), Workspace<Entry>(n_classes)),
        finder_(growth_, interrupt),
        partitioner_(growth_, workspaces_, interrupt) {}

  // `take_order` gives the order of a column: a copy of the shared one, or the shared one itself.
  template <class TakeOrder>
  Tree run(TakeOrder&& take_order, const NodeStart* start = nullptr) {
    growth_.make_lists(take_order, pool_, interrupt_);
    Arena top(growth_.n_classes);
    top.add_nodes(1);
    NodeQueue queue(interrupt_);
    NodeTask root = growth_.make_root(top.weights(0));
    if (start != nullptr) growth_.start_below(*start, root);
    if (growth_.config.max_leaves > 0)
      grow_best_first(std::move(root), top);
    else
      grow_all(std::move(root), top, queue);
    growth_.lists.clear();
    return flatten_arenas(top, queue.arenas());
  }

 private:
  // ---- the order of nodes -----------------------------------------------------------------

  void grow_all(NodeTask root, Arena& top, NodeQueue& queue) {
    std::vector<NodeTask> nodes;
    nodes.push_back(std::move(root));
    queue.add(std::move(nodes), top);
    split_together(queue, top);
    pool_.run(pool_.size(), interrupt_, [&](std::size_t, std::size_t thread) {
      queue.run([&](NodeTask& task, Arena& arena) {
        grow_below(task, arena, workspaces_[thread], queue);
      });
    });
  }

  // The split of largest decrease is made next, the first node's on ties, as long as the leaves are
  // not too many. Threads share the columns of a node.
  void grow_best_first(NodeTask root, Arena& arena) {
    struct Planned {
      std::int64_t decrease;  // rounded, so that ties are ties
      NodeTask task;
      std::size_t column;
      Candidate candidate;
      std::vector<std::int64_t> code_counts;  // of the node, if its children's follow from them
    };
    auto is_worse = [](const Planned& a, const Planned& b) {
      return a.decrease < b.decrease || (a.decrease == b.decrease && a.task.node > b.task.node);
    };
    std::vector<Planned> heap;
    Workspace<Entry>& space = workspaces_[0];
    const double unit =
        1e-9 * Group(std::span<const double>(arena.weights(0)), growth_.config.criterion).impurity;
    auto plan = [&](NodeTask task) {
      interrupt_.check();
      const std::size_t column = find_split(task, arena, space, pool_);
      if (column == none) return;
      const double decrease = space.candidates[column].gain * space.totals.node.weight;
      std::vector<std::int64_t> code_counts;
      if (finder_.passes_down(task, space.totals)) code_counts = space.totals.code_counts;
      heap.push_back({std::llround(decrease / unit), std::move(task), column,
                      std::move(space.candidates[column]), std::move(code_counts)});
      std::push_heap(heap.begin(), heap.end(), is_worse);
    };
    plan(std::move(root));
    std::size_t n_leaves = 1;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), is_worse);
      Planned best = std::move(heap.back());
      heap.pop_back();
      const std::size_t n_more = partitioner_.n_branches(best.column, best.candidate) - 1;
      if (n_leaves + n_more > growth_.config.max_leaves) continue;
      n_leaves += n_more;
      std::vector<NodeTask> children;
      partitioner_.make_split(best.task, best.column, best.candidate, arena, space, pool_,
                              children);
      if (!best.code_counts.empty() && space.branches.missing_rows.empty()) {
        space.totals.whole = space.totals.codes_are_counted = true;  // were those of another node
        space.totals.flags_are_counted = false;                      // and are not kept
        space.totals.code_counts.swap(best.code_counts);
        finder_.pass_down(best.task, space.totals, children, space, pool_);
      }
      for (NodeTask& child : children) plan(std::move(child));
    }
  }

  // Nodes near the root are split one after the other, and threads share their columns, until there
  // is enough work for each thread to take nodes of its own.
  void split_together(NodeQueue& queue, Arena& arena) {
    while (!queue.is_empty() &&
           queue.n_rows() - queue.largest() < (pool_.size() - 1) * queue.largest()) {
      NodeTask task = queue.take_largest();
      std::vector<NodeTask> branches;
      split(task, arena, workspaces_[0], pool_, branches);
      queue.add(std::move(branches), arena);
    }
  }

  // Grows a node to the end; a large node is split once, and its children are queued.
  void grow_below(NodeTask& root, Arena& arena, Workspace<Entry>& space, NodeQueue& queue) {
    constexpr std::size_t n_turns = 6;  // per thread at least, so that all threads end together
    const bool is_large = root.n > growth_.n_root / (n_turns * pool_.size()) && pool_.size() > 1;
    std::vector<NodeTask> pending;
    pending.push_back(std::move(root));
    ThreadPool alone(1);
    while (!pending.empty()) {
      interrupt_.check();
      NodeTask task = std::move(pending.back());
      pending.pop_back();
      split(task, arena, space, alone, pending);
      if (is_large) return queue.add(std::move(pending), arena);
    }
  }

  void split(NodeTask& task, Arena& arena, Workspace<Entry>& space, ThreadPool& pool,
             std::vector<NodeTask>& pending) {
    const std::size_t column = find_split(task, arena, space, pool);
    if (column == none) return;
    const std::size_t n_before = pending.size();
    partitioner_.make_split(task, column, space.candidates[column], arena, space, pool, pending);
    if (space.branches.missing_rows.empty())
      finder_.pass_down(task, space.totals, std::span(pending).subspan(n_before), space, pool);
  }

  // The column of the best split, whose candidate is in `space`; none if the node is a leaf.
  std::size_t find_split(NodeTask& task, Arena& arena, Workspace<Entry>& space, ThreadPool& pool) {
    if (growth_.is_leaf(arena.weights(task.node), task.depth)) return none;
    Totals& totals = space.totals;
    set_totals(task, arena, totals);
    const std::size_t n_columns = growth_.data.table.size();
    const std::size_t n_wanted = growth_.config.max_features;
    if (n_wanted == 0 || n_wanted >= n_columns) {
      space.columns.resize(n_columns);
      std::iota(space.columns.begin(), space.columns.end(), std::size_t{0});
      return find_split_of_drawn(task, space, pool);
    }
    // Some columns first; then one by one, until there is a split.
    space.draw.start(task.key, n_columns);
    for (std::size_t n = n_wanted; !space.draw.is_over(); n = 1) {
      totals.is_drawn.assign(n_columns, 0);
      totals.n_drawn_small = 0;
      space.columns.clear();
      for (; n > 0 && !space.draw.is_over(); --n) {
        const std::size_t j = space.draw.next();
        totals.is_drawn[j] = 1;
        space.columns.push_back(j);
        totals.n_drawn_small += growth_.data.columns[j].small >= 0 ? 1 : 0;
      }
      std::ranges::sort(space.columns);
      const std::size_t column = find_split_of_drawn(task, space, pool);
      if (column != none) return column;
      if (totals.codes_are_inherited) {  // the next draw needs them again
        totals.code_counts.swap(task.code_counts);
        totals.code_weights.swap(task.code_weights);
      }
    }
    return none;
  }

  std::size_t find_split_of_drawn(NodeTask& task, Workspace<Entry>& space, ThreadPool& pool) {
    Totals& totals = space.totals;
    std::vector<Candidate>& candidates = space.candidates;
    candidates.resize(growth_.data.table.size());
    if (pool.size() == 1)
      finder_.find_splits(task, totals, space, candidates);
    else
      finder_.find_splits(task, totals, workspaces_, pool, candidates);
    for (const std::size_t j : space.columns)
      if (candidates[j].exhausted) task.mark_exhausted(j);
    const std::size_t chosen = choose(space.columns, candidates, totals);
    return chosen == candidates.size() ? none : chosen;
  }

  void set_totals(const NodeTask& task, Arena& arena, Totals& totals) const {
    const std::span<const double> weights = arena.weights(task.node);
    totals.weights.assign(weights.begin(), weights.end());
    totals.node = Group(weights, growth_.config.criterion);
    totals.whole = task.fractional_rows.empty() && growth_.weights.are_whole();
    totals.counts.clear();
    if (totals.whole)
      for (const double w : weights) totals.counts.push_back(static_cast<std::int64_t>(w));
  }

  // ---- the best column --------------------------------------------------------------------

  std::size_t choose(std::span<const std::size_t> columns, const std::vector<Candidate>& candidates,
                     const Totals& totals) const {
    return growth_.config.has_c45_rules() ? choose_by_ratio(columns, candidates)
                                          : choose_by_gain(columns, candidates, totals);
  }

  std::size_t choose_by_gain(std::span<const std::size_t> columns,
                             const std::vector<Candidate>& candidates, const Totals& totals) const {
    const double tie = tie_share * totals.node.impurity / totals.node.weight;
    std::size_t chosen = candidates.size();
    double best = 0;
    for (const std::size_t j : columns) {
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

  std::size_t choose_by_ratio(std::span<const std::size_t> columns,
                              const std::vector<Candidate>& candidates) const {
    bool all_many = true;
    for (std::size_t j = 0; j < candidates.size(); ++j) all_many = all_many && has_many_values(j);
    double sum = 0, n_valid = 0;
    for (const std::size_t j : columns) {
      if (!candidates[j].valid || (!all_many && has_many_values(j))) continue;
      sum += candidates[j].gain;
      n_valid += 1;
    }
    std::size_t chosen = candidates.size();
    if (n_valid == 0) return chosen;
    const double least = sum / n_valid - c45_average_gain_slack;
    double best = 0;
    for (const std::size_t j : columns) {
      if (!candidates[j].valid || candidates[j].gain < least) continue;
      if (!(candidates[j].ratio() - best > c45_slack)) continue;
      chosen = j;
      best = candidates[j].ratio();
    }
    return chosen;
  }

  Growth<Entry> growth_;
  ThreadPool pool_;
  InterruptFlag& interrupt_;
  std::vector<Workspace<Entry>> workspaces_;
  BestSplitFinder<Entry> finder_;
  Partitioner<Entry> partitioner_;
};

}  // namespace detail

// Grows a tree. Orders are shared with other trees; with `use_up` the tree may take them, which
// saves memory. With `start` it is the tree below a node of a larger one.
inline Tree grow(Presorted& data, std::span<const std::int32_t> labels, std::size_t n_classes,
                 const RowWeights& weights, const GrowthConfig& config, std::size_t n_threads,
                 bool use_up, InterruptFlag& interrupt, const detail::NodeStart* start = nullptr) {
  auto run = [&](auto entry) {
    detail::Grower<decltype(entry)> grower(data, labels, n_classes, weights, config, n_threads,
                                           interrupt);
    auto take_order = [&](std::size_t j) -> std::vector<std::uint32_t> {
      PresortedColumn& column = data.columns[j];
      // C4.5 looks up its thresholds in the orders.
      if (use_up && config.threshold_rule() != ThresholdRule::c45) return std::move(column.order);
      return column.order;
    };
    return grower.run(take_order, start);
  };
  if (Packing<std::uint32_t>::fits(data.table.n_rows, n_classes)) return run(std::uint32_t{});
  return run(std::uint64_t{});
}

}  // namespace sureleaf
