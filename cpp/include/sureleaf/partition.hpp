// Making a split: the branch of every row, and every list partitioned by branch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sureleaf/growth.hpp"
#include "sureleaf/node_queue.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/threshold.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf::detail {

template <class Entry>
class BranchAssigner {
 public:
  explicit BranchAssigner(const Growth<Entry>& growth) : growth_(growth) {}

  // Marks the branch of every row of the lists and of the fractional rows; sums the class weights
  // of the branches.
  void assign(NodeTask& task, std::size_t j, const Candidate& candidate, Arena& arena,
              Workspace<Entry>& space) const {
    Branches<Entry>& branches = space.branches;
    double* const sums = arena.weights(branches.first_child).data();
    const std::span<const Entry> listed = growth_.source_list(j, task);
    const Column& column = growth_.data.table[j];
    if (growth_.has_list(j)) {
      const std::size_t n_known = growth_.n_known(j, task), n_missing = task.n - n_known;
      if (candidate.missing_branch < 0)
        assign_list(listed, candidate.cut, n_known, sums, space);
      else
        assign_list(listed, candidate.cut + (candidate.missing_branch == 0 ? n_missing : 0), task.n,
                    sums, space);
      sum_branches(branches, sums);
      assign_fractional_rows(task, sums, branches, [&](std::size_t row) -> std::uint32_t {
        const double value = column.value(row);
        return std::isnan(value) ? no_code : value > candidate.threshold;
      });
      return;
    }
    const std::uint32_t missing_branch = candidate.missing_branch < 0
                                             ? no_code
                                             : static_cast<std::uint32_t>(candidate.missing_branch);
    growth_.with_codes(j, [&](auto&& code_of) {
      auto branch_of = [&](std::size_t row) -> std::uint32_t {
        const std::uint32_t code = code_of(row);
        if (code == no_code) return missing_branch;
        if (column.has_thresholds()) return code > candidate.cut;
        return candidate.groups.empty() ? code : static_cast<std::uint32_t>(candidate.groups[code]);
      };
      assign_codes(listed, j, branch_of, sums, space);
      sum_branches(branches, sums);
      assign_fractional_rows(task, sums, branches, branch_of);
    });
  }

 private:
  // The first `cut` entries go left, the others up to `known` right; the rest is missing.
  void assign_list(std::span<const Entry> listed, std::size_t cut, std::size_t known, double* sums,
                   Workspace<Entry>& space) const {
    Branches<Entry>& branches = space.branches;
    branches.n_rows[0] = cut;
    branches.n_rows[1] = known - cut;
    add_classes(listed.first(cut), sums, space);
    add_classes(listed.subspan(cut, known - cut), sums + growth_.n_classes, space);
    branches.missing_rows.assign(listed.begin() + static_cast<std::ptrdiff_t>(known), listed.end());
    if (branches.go_by_bits()) {
      prepare_bits(space);
      for (std::size_t i = 0; i < known; ++i)
        set_bit(space, growth_.packing.row(listed[i]), i >= cut);
      return;
    }
    prepare_marks(space);
    for (std::size_t i = 0; i < listed.size(); ++i)
      space.branch_of[growth_.packing.row(listed[i])] = i < cut ? 0 : i < known ? 1 : no_code;
  }

  // Adds the weights of entries to the sum of their class.
  void add_classes(std::span<const Entry> entries, double* sums, Workspace<Entry>& space) const {
    const Packing<Entry> packing = growth_.packing;
    if (!growth_.weights.are_unit()) {
      growth_.with_weights([&](auto&& weigh) {
        for (const Entry entry : entries) sums[packing.cls(entry)] += weigh(entry);
      });
      return;
    }
    // Neighbours are often of the same class, and a sum would have to wait for the one before: so
    // there are several.
    constexpr std::size_t n_lanes = 4;
    const std::size_t n_classes = growth_.n_classes;
    space.class_lanes.assign(n_lanes * n_classes, 0);
    std::int64_t* const lanes = space.class_lanes.data();
    for (std::size_t i = 0; i < entries.size(); ++i)
      ++lanes[i % n_lanes * n_classes + packing.cls(entries[i])];
    for (std::size_t i = 0; i < n_lanes * n_classes; ++i)
      sums[i % n_classes] += static_cast<double>(lanes[i]);
  }

  template <class BranchOf>
  void assign_codes(std::span<const Entry> listed, std::size_t j, BranchOf&& branch_of,
                    double* sums, Workspace<Entry>& space) const {
    std::pair<const std::uint8_t*, std::size_t> codes{nullptr, 0};
    if (!growth_.data.columns[j].codes_in_table) codes = growth_.data.small_codes_of(j);

    Branches<Entry>& branches = space.branches;
    const bool by_bits = branches.n == 2;
    by_bits ? prepare_bits(space) : prepare_marks(space);
    // Rows of a small node are far apart: their codes are fetched ahead.
    constexpr std::size_t n_ahead = 16;
    growth_.with_weights([&](auto&& weigh) {
      for (std::size_t i = 0; i < listed.size(); ++i) {
        const Entry entry = listed[i], later = listed[std::min(i + n_ahead, listed.size() - 1)];
        __builtin_prefetch(codes.first + growth_.packing.row(later) * codes.second);
        const std::size_t row = growth_.packing.row(entry);
        const std::uint32_t branch = branch_of(row);
        if (by_bits)
          set_bit(space, row, branch == 1);
        else
          space.branch_of[row] = branch;
        if (branch == no_code) {
          branches.missing_rows.push_back(entry);
          continue;
        }
        sums[branch * growth_.n_classes + growth_.packing.cls(entry)] += weigh(entry);
        ++branches.n_rows[branch];
      }
    });
    if (by_bits == branches.go_by_bits()) return;
    prepare_marks(space);
    for (const Entry entry : listed) {
      const std::size_t row = growth_.packing.row(entry);
      space.branch_of[row] = branch_of(row);
    }
  }

  void prepare_bits(Workspace<Entry>& space) const {
    if (space.goes_right.empty()) space.goes_right.resize(growth_.data.table.n_rows / 64 + 1);
  }
  void prepare_marks(Workspace<Entry>& space) const {
    if (space.branch_of.empty()) space.branch_of.resize(growth_.data.table.n_rows);
  }
  static void set_bit(Workspace<Entry>& space, std::size_t row, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (row & 63);
    std::uint64_t& word = space.goes_right[row >> 6];
    word = value ? word | bit : word & ~bit;
  }

  void sum_branches(Branches<Entry>& branches, const double* sums) const {
    for (std::size_t b = 0; b < branches.n; ++b, sums += growth_.n_classes)
      branches.share[b] = std::accumulate(sums, sums + growth_.n_classes, 0.0);
  }

  // Assigns fractional rows. Rows whose value is missing go down all branches, with the share that
  // each branch has of the known weight.
  template <class BranchOf>
  void assign_fractional_rows(NodeTask& task, double* sums, Branches<Entry>& branches,
                              BranchOf&& branch_of) const {
    collect_fractional_rows(task, branches);
    const std::size_t n_classes = growth_.n_classes;
    branches.missing_weights.assign(n_classes, 0.0);
    branches.fractional_branch.resize(branches.fractional_rows.size());
    for (std::size_t i = 0; i < branches.fractional_rows.size(); ++i) {
      const FractionalRow& part = branches.fractional_rows[i];
      const std::uint32_t branch = branches.fractional_branch[i] = branch_of(part.row);
      if (branch == no_code) {
        branches.missing_weights[part.cls] += part.weight;
        ++branches.n_missing;
        continue;
      }
      ++branches.n_fractional[branch];
      branches.share[branch] += part.weight;
      sums[branch * n_classes + part.cls] += part.weight;
    }
    const double known = std::accumulate(branches.share.begin(), branches.share.end(), 0.0);
    for (std::size_t b = 0; b < branches.n; ++b) {
      branches.share[b] /= known;
      for (std::size_t k = 0; k < n_classes; ++k)
        sums[b * n_classes + k] += branches.missing_weights[k] * branches.share[b];
    }
  }

  // The node's fractional rows, including rows that were whole up to here. They are kept in the
  // order of the first list, so that it need not be found again.
  void collect_fractional_rows(NodeTask& task, Branches<Entry>& branches) const {
    branches.fractional_rows.swap(task.fractional_rows);
    if (branches.missing_rows.empty()) return;
    const std::size_t n_before = branches.fractional_rows.size();
    for (const Entry entry : branches.missing_rows) {
      const std::size_t row = growth_.packing.row(entry);
      const RowWeights& weights = growth_.weights;
      const bool are_copies = weights.are_copies && weights.are_whole();
      const FractionalRow part{static_cast<std::uint32_t>(row),
                               static_cast<std::uint32_t>(growth_.packing.cls(entry)),
                               are_copies ? 1.0 : weights.weight(row)};
      branches.fractional_rows.insert(branches.fractional_rows.end(),
                                      are_copies ? static_cast<std::size_t>(weights.count(row)) : 1,
                                      part);
    }
    for (const std::vector<std::uint32_t>& ranks : growth_.ranks) {
      if (ranks.empty()) continue;
      auto is_before = [&](const FractionalRow& a, const FractionalRow& b) {
        return ranks[a.row] < ranks[b.row];
      };
      const auto first_new =
          branches.fractional_rows.begin() + static_cast<std::ptrdiff_t>(n_before);
      std::stable_sort(first_new, branches.fractional_rows.end(), is_before);
      std::inplace_merge(branches.fractional_rows.begin(), first_new,
                         branches.fractional_rows.end(), is_before);
      return;
    }
  }

  const Growth<Entry>& growth_;
};

}  // namespace sureleaf::detail

namespace sureleaf::detail {

template <class Entry>
class Partitioner {
  friend class LevelGrower;

 public:
  Partitioner(Growth<Entry>& growth, std::vector<Workspace<Entry>>& workspaces,
              InterruptFlag& interrupt)
      : growth_(growth),
        assigner_(growth),
        thresholds_(growth),
        workspaces_(workspaces),
        interrupt_(interrupt) {}

  void make_split(NodeTask& task, std::size_t j, Candidate& candidate, Arena& arena,
                  Workspace<Entry>& space, ThreadPool& pool, std::vector<NodeTask>& pending) {
    if (growth_.data.columns[j].is_ordered_list() && !growth_.has_list(j))
      return split_by_rank(task, j, candidate, arena, space, pending);
    if (growth_.data.table[j].has_thresholds()) candidate.threshold = thresholds_.of(candidate, j);
    Branches<Entry>& branches = space.branches;
    const std::size_t n = n_branches(j, candidate);
    branches.start(n, arena.add_nodes(n));
    if (growth_.has_list(j) && candidate.missing_branch == 0) {
      // Missing values are last in the left branch, too.
      const auto begin = growth_.lists[j].begin() + static_cast<std::ptrdiff_t>(task.begin);
      std::rotate(begin + static_cast<std::ptrdiff_t>(candidate.cut),
                  begin + static_cast<std::ptrdiff_t>(growth_.n_known(j, task)),
                  begin + static_cast<std::ptrdiff_t>(task.n));
    }
    assigner_.assign(task, j, candidate, arena, space);
    record(task, j, candidate, arena, branches);
    const std::size_t n_before = pending.size();
    add_children(task, arena, branches, pending);
    if (pending.size() == n_before) return;
    if (growth_.config.is_monotone() && growth_.data.table[j].has_thresholds() &&
        !candidate.tests_missing)
      tighten_bounds(j, arena, branches, std::span(pending).subspan(n_before));
    // The list of the split column is already in the order of the branches.
    std::vector<std::vector<std::size_t>> known(growth_.missing_columns.size());
    if (growth_.has_list(j) && growth_.has_missing[j])
      known[growth_.missing_index(j)] = {candidate.cut, growth_.n_known(j, task) - candidate.cut};
    if (pool.size() == 1) {
      for (std::size_t c = 0; c < growth_.lists.size(); ++c)
        partition_list(c, j, task, branches, space, space, known);
    } else {
      pool.run(growth_.lists.size(), interrupt_, [&](std::size_t c, std::size_t thread) {
        partition_list(c, j, task, branches, space, workspaces_[thread], known);
      });
    }
    for (std::size_t i = n_before; i < pending.size(); ++i)
      for (const std::vector<std::size_t>& by_branch : known)
        pending[i].n_known.push_back(by_branch[pending[i].node - branches.first_child]);
  }

  std::size_t n_branches(std::size_t j, const Candidate& candidate) const {
    if (!candidate.groups.empty() || growth_.data.table[j].has_thresholds()) return 2;
    return growth_.data.n_codes(j) + (candidate.missing_branch < 0 ? 0 : 1);
  }

 private:
  // The same for a column without list: one pass over the node's rows, which are the only list.
  void split_by_rank(NodeTask& task, std::size_t j, Candidate& candidate, Arena& arena,
                     Workspace<Entry>& space, std::vector<NodeTask>& pending) {
    const Ranks& ranks = *growth_.shared_ranks;
    Branches<Entry>& branches = space.branches;
    branches.start(2, arena.add_nodes(2));
    if (space.scratch.size() < task.n) space.scratch.resize(task.n);
    Entry* const left_out = growth_.lists.back().data() + task.begin;
    Entry* const right_out = space.scratch.data();
    // Missing values have the highest rank; one more makes it the lowest.
    const std::uint32_t added = candidate.missing_branch == 0 ? 1 : 0;
    const auto cut = static_cast<std::uint32_t>(candidate.cut);
    const std::uint32_t* const of_column = ranks.table.data() + ranks.position[j];
    SideCounts counts;  // of the left branch
    std::size_t n_left = 0, n_right = 0;
    std::uint32_t below = 0, above = no_rank;
    growth_.with_counts([&](auto&& count) {
      const Packing<Entry> packing = growth_.packing;
      for (std::size_t i = 0; i < task.n; ++i) {
        const Entry entry = left_out[i];
        const std::uint32_t rank = of_column[packing.row(entry) * ranks.n_per_row];
        const bool is_left = rank + added <= cut + added;
        left_out[n_left] = entry;
        right_out[n_right] = entry;
        n_left += is_left;
        n_right += !is_left;
        counts.add(SideCounts::of(is_left ? static_cast<std::uint64_t>(count(entry)) : 0,
                                  packing.cls(entry)));
        const bool is_below = rank <= cut;
        below = std::max(below, is_below ? rank : 0u);
        above = std::min(above, is_below ? no_rank : rank);
      }
    });
    // The values next to the threshold are far apart in memory: fetched now, they are there when
    // the children are made.
    const std::vector<std::uint32_t>& row_of_rank = ranks.row_of_rank[j];
    if (!candidate.tests_missing) {
      __builtin_prefetch(row_of_rank.data() + below);
      __builtin_prefetch(row_of_rank.data() + above);
    }
    std::copy(right_out, right_out + n_right, left_out + n_left);
    branches.n_rows = {n_left, n_right};
    const std::span<double> all = arena.weights(task.node);
    const std::span<double> left = arena.weights(branches.first_child);
    const std::span<double> right = arena.weights(branches.first_child + 1);
    left[0] = static_cast<double>(counts.all() - counts.second());
    left[1] = static_cast<double>(counts.second());
    for (std::size_t k = 0; k < 2; ++k) right[k] = all[k] - left[k];
    auto weight = [](std::span<const double> sums) {
      return std::accumulate(sums.begin(), sums.end(), 0.0);
    };
    branches.share = {weight(left) / weight(all), weight(right) / weight(all)};
    if (!candidate.tests_missing) {
      candidate.below = row_of_rank[below];
      candidate.above = row_of_rank[above];
      growth_.data.table[j].prefetch(candidate.below);
      growth_.data.table[j].prefetch(candidate.above);
    }
    branches.fractional_rows.clear();
    const std::size_t n_before = pending.size();
    add_children(task, arena, branches, pending);
    candidate.threshold = thresholds_.of(candidate, j);
    record(task, j, candidate, arena, branches);
    if (candidate.tests_missing) return;
    for (NodeTask& child : std::span(pending).subspan(n_before)) {
      RankRange& range = child.rank_ranges[j];
      (child.node == branches.first_child ? range.high : range.low) =
          child.node == branches.first_child ? below : above;
    }
  }

  // The branch with most weight, the first one on ties.
  static std::int32_t heaviest(const Branches<Entry>& branches) {
    const double least = *std::ranges::max_element(branches.share) - tie_share;
    std::int32_t b = 0;
    while (!(branches.share[static_cast<std::size_t>(b)] > least)) ++b;
    return b;
  }

  void record(const NodeTask& task, std::size_t j, const Candidate& candidate, Arena& arena,
              const Branches<Entry>& branches) const {
    GrownNode& node = arena.nodes[task.node];
    node.feature = static_cast<std::int32_t>(j);
    node.first_child = static_cast<std::uint32_t>(branches.first_child);
    node.n_children = static_cast<std::uint32_t>(branches.n);
    if (growth_.config.missing_takes_branch())
      node.missing_branch =
          candidate.missing_branch < 0 ? heaviest(branches) : candidate.missing_branch;
    std::copy(branches.share.begin(), branches.share.end(),
              arena.shares.begin() + node.first_child);
    if (growth_.data.table[j].has_thresholds()) {
      node.threshold = candidate.threshold;
      return;
    }
    const std::size_t n_codes = growth_.data.n_codes(j);
    if (arena.category_branch.size() + n_codes > max_category_entries) throw TooManyNodes();
    node.first_category = static_cast<std::uint32_t>(arena.category_branch.size());
    node.n_categories = static_cast<std::uint32_t>(n_codes);
    for (std::size_t code = 0; code < n_codes; ++code)
      arena.category_branch.push_back(candidate.groups.empty() ? static_cast<std::int32_t>(code)
                                                               : candidate.groups[code]);
  }

  // Adds tasks for the children that may be split further, the last one first.
  void add_children(const NodeTask& task, Arena& arena, Branches<Entry>& branches,
                    std::vector<NodeTask>& pending) const {
    const std::size_t n_before = pending.size();
    std::size_t begin = std::accumulate(branches.n_rows.begin(), branches.n_rows.end(), task.begin);
    branches.task_index.assign(branches.n, none);
    for (std::size_t b = branches.n; b-- > 0;) {
      begin -= branches.n_rows[b];
      if (growth_.is_leaf(arena.weights(branches.first_child + b), task.depth + 1)) continue;
      branches.task_index[b] = pending.size();
      NodeTask& child = pending.emplace_back();
      child.node = branches.first_child + b;
      child.begin = begin;
      child.n = branches.n_rows[b];
      child.depth = task.depth + 1;
      child.key = child_key(task.key, b);
      child.bounds = task.bounds;
      child.exhausted = task.exhausted;
      child.rank_ranges = task.rank_ranges;
      child.fractional_rows.reserve(branches.n_fractional[b] + branches.n_missing);
    }
    for (std::size_t i = 0; i < branches.fractional_rows.size(); ++i) {
      const FractionalRow& part = branches.fractional_rows[i];
      if (const std::uint32_t branch = branches.fractional_branch[i]; branch != no_code) {
        if (branches.task_index[branch] != none)
          pending[branches.task_index[branch]].fractional_rows.push_back(part);
        continue;
      }
      for (std::size_t at = n_before; at < pending.size(); ++at) {
        const double share = branches.share[pending[at].node - branches.first_child];
        if (share > 0)
          pending[at].fractional_rows.push_back({part.row, part.cls, part.weight * share});
      }
    }
  }

  // The midpoint between the probabilities of the two branches separates those of all nodes below.
  void tighten_bounds(std::size_t j, Arena& arena, const Branches<Entry>& branches,
                      std::span<NodeTask> children) const {
    const std::span<const std::int8_t> signs = growth_.config.signs_of(j, growth_.n_classes);
    const std::span<const double> left = arena.weights(branches.first_child);
    const std::span<const double> right = arena.weights(branches.first_child + 1);
    const double n_left = std::accumulate(left.begin(), left.end(), 0.0);
    const double n_right = std::accumulate(right.begin(), right.end(), 0.0);
    for (std::size_t k = 0; k < signs.size(); ++k) {
      if (signs[k] == 0) continue;
      const double middle = (left[k] / n_left + right[k] / n_right) / 2;
      for (NodeTask& child : children) {
        const bool is_left = child.node == branches.first_child;
        (is_left == (signs[k] > 0) ? child.bounds.upper : child.bounds.lower)[k] = middle;
      }
    }
  }

  // Partitions the node's range of list c by branch, keeping the order.
  void partition_list(std::size_t c, std::size_t split_column, const NodeTask& task,
                      const Branches<Entry>& branches, const Workspace<Entry>& marks,
                      Workspace<Entry>& space, std::vector<std::vector<std::size_t>>& known) {
    std::vector<Entry>& list = growth_.lists[c];
    if (list.empty() || c == split_column) return;
    std::vector<std::size_t>* n_known_here = nullptr;
    if (c < growth_.has_missing.size() && growth_.has_missing[c])
      n_known_here = &known[growth_.missing_index(c)];
    const std::size_t n_with_value =
        c < growth_.has_missing.size() ? growth_.n_known(c, task) : task.n;
    Entry* range = list.data() + task.begin;
    if (space.scratch.size() < task.n) space.scratch.resize(task.n);
    if (branches.go_by_bits())
      partition_in_two(range, task.n, n_with_value, growth_.has_ties[c] != 0,
                       marks.goes_right.data(), space, n_known_here);
    else
      partition_in_many(range, task.n, n_with_value, marks.branch_of.data(), branches, space,
                        n_known_here);
  }

  // How far two branches have been filled. An entry that is skipped passes its mark of increase to
  // the next entry of the other branch: these are the marks to be passed on.
  struct Halves {
    std::size_t n_left = 0, n_right = 0;
    Entry pending_left = 0, pending_right = 0;
  };

  void partition_in_two(Entry* range, std::size_t n, std::size_t n_with_value, bool has_ties,
                        const std::uint64_t* goes_right, Workspace<Entry>& space,
                        std::vector<std::size_t>* known) const {
    Entry* const right_out = space.scratch.data();
    Halves halves;
    auto fill = [&](std::size_t from, std::size_t to) {
      if (has_ties)
        halves = fill_halves(range, from, to, goes_right, right_out, halves);
      else
        halves.n_right = fill_plain_halves(range, from, to, goes_right, right_out, halves.n_right);
      halves.n_left = to - halves.n_right;
    };
    fill(0, n_with_value);
    if (known) *known = {halves.n_left, halves.n_right};
    fill(n_with_value, n);
    std::copy(right_out, right_out + halves.n_right, range + halves.n_left);
  }

  // Without ties all entries have the same mark, which they keep. Returns the end of the right
  // branch.
  std::size_t fill_plain_halves(Entry* range, std::size_t from, std::size_t to,
                                const std::uint64_t* goes_right, Entry* right_out,
                                std::size_t n_right) const {
    const Packing<Entry> packing = growth_.packing;
    for (std::size_t i = from; i < to; ++i) {
      const Entry entry = range[i];
      const std::size_t row = packing.row(entry);
      range[i - n_right] = entry;
      right_out[n_right] = entry;
      n_right += (goes_right[row >> 6] >> (row & 63)) & 1;
    }
    return n_right;
  }

  // Takes and returns the state by value, so that it stays in registers.
  Halves fill_halves(Entry* range, std::size_t from, std::size_t to,
                     const std::uint64_t* goes_right, Entry* right_out, Halves state) const {
    const Packing<Entry> packing = growth_.packing;
    for (std::size_t i = from; i < to; ++i) {
      const Entry entry = range[i];
      const std::size_t row = packing.row(entry);
      const auto right = static_cast<Entry>((goes_right[row >> 6] >> (row & 63)) & 1);
      const Entry increase = entry & Packing<Entry>::increase;
      range[state.n_left] = entry | state.pending_left;
      right_out[state.n_right] = entry | state.pending_right;
      state.n_left += 1 - static_cast<std::size_t>(right);
      state.n_right += static_cast<std::size_t>(right);
      state.pending_left = (state.pending_left | increase) & (Entry{0} - right);
      state.pending_right = (state.pending_right | increase) & (right - Entry{1});
    }
    return state;
  }

  void partition_in_many(Entry* range, std::size_t n, std::size_t n_with_value,
                         const std::uint32_t* branch_of, const Branches<Entry>& branches,
                         Workspace<Entry>& space, std::vector<std::size_t>* known) const {
    std::vector<BranchEnd>& ends = space.branch_ends;
    ends.clear();
    std::size_t start = 0;
    for (const std::size_t n_rows : branches.n_rows) {
      ends.push_back({start, 0});
      start += n_rows;
    }
    std::size_t step = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (known && i == n_with_value) *known = rows_so_far(ends, branches);
      const Entry entry = range[i];
      if (entry & Packing<Entry>::increase) ++step;
      const std::uint32_t b = branch_of[growth_.packing.row(entry)];
      if (b == no_code) continue;
      BranchEnd& end = ends[b];
      space.scratch[end.next++] = (entry & ~Packing<Entry>::increase) |
                                  (end.last_step != step ? Packing<Entry>::increase : Entry{0});
      end.last_step = step;
    }
    if (known && n_with_value == n) *known = rows_so_far(ends, branches);
    std::copy(space.scratch.begin(), space.scratch.begin() + static_cast<std::ptrdiff_t>(start),
              range);
  }

  static std::vector<std::size_t> rows_so_far(const std::vector<BranchEnd>& ends,
                                              const Branches<Entry>& branches) {
    std::vector<std::size_t> result(ends.size());
    std::size_t start = 0;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      result[b] = ends[b].next - start;
      start += branches.n_rows[b];
    }
    return result;
  }

  Growth<Entry>& growth_;
  BranchAssigner<Entry> assigner_;
  Thresholds<Entry> thresholds_;
  std::vector<Workspace<Entry>>& workspaces_;
  InterruptFlag& interrupt_;
};

}  // namespace sureleaf::detail
