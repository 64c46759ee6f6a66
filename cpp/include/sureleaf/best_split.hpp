// The best split of each column in a node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "sureleaf/growth.hpp"
#include "sureleaf/histogram.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/subset.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf::detail {

template <class Entry>
class BestSplitFinder {
 public:
  BestSplitFinder(const Growth<Entry>& growth, InterruptFlag& interrupt)
      : growth_(growth), interrupt_(interrupt), histograms_(growth, interrupt) {}

  // The best split of every column that is looked at, by one thread with its `space` or by several
  // threads.
  void find_splits(NodeTask& task, Totals& totals, Workspace<Entry>& space,
                   std::vector<Candidate>& candidates) const {
    ThreadPool alone(1);
    histograms_.prepare(task, alone, totals);
    histograms_.count_small_columns(task, 0, growth_.data.small_columns.size(), totals, space);
    space.buckets.columns.clear();
    space.gain_floor = no_floor;
    for (const std::size_t j : space.columns) {
      candidates[j] = {};
      if (task.is_exhausted(j)) continue;
      if (is_searched_in_buckets(j, task)) {
        space.buckets.columns.push_back(bucket_column(j, task));
        continue;
      }
      candidates[j] = best_split(j, task, totals, space);
      // C4.5 compares a gain with the mean of all columns.
      if (candidates[j].valid && !growth_.config.has_c45_rules())
        space.gain_floor = std::max(space.gain_floor, candidates[j].gain * totals.node.weight);
    }
    space.gain_floor = no_floor;
    if (!space.buckets.columns.empty()) search_buckets(task, totals, space, candidates);
  }
  void find_splits(NodeTask& task, Totals& totals, std::vector<Workspace<Entry>>& spaces,
                   ThreadPool& pool, std::vector<Candidate>& candidates) const {
    histograms_.prepare(task, pool, totals);
    const std::vector<std::size_t>& small = growth_.data.small_columns;
    const std::vector<std::size_t>& rest = growth_.large_columns;
    const std::size_t n_parts = std::min(small.size(), 2 * spaces.size());
    pool.run(rest.size() + n_parts, interrupt_, [&](std::size_t i, std::size_t t) {
      if (i < rest.size()) {
        candidates[rest[i]] = best_split(rest[i], task, totals, spaces[t]);
        return;
      }
      const std::size_t part = i - rest.size();
      const std::size_t first = part * small.size() / n_parts;
      const std::size_t last = (part + 1) * small.size() / n_parts;
      histograms_.count_small_columns(task, first, last, totals, spaces[t]);
      for (std::size_t c = first; c < last; ++c)
        candidates[small[c]] = best_split(small[c], task, totals, spaces[t]);
    });
  }

  bool passes_down(const NodeTask& task, const Totals& totals) const {
    return histograms_.passes_down(task.n, totals);
  }
  void pass_down(const NodeTask& task, const Totals& totals, std::span<NodeTask> branches,
                 Workspace<Entry>& space, ThreadPool& pool) const {
    histograms_.pass_down(task, totals, branches, space, pool);
  }

 private:
  static constexpr double no_floor = -std::numeric_limits<double>::infinity();
  // Below so many rows it is faster to sort them all.
  static constexpr std::size_t least_bucket_rows = 32;

  bool is_searched_in_buckets(std::size_t j, const NodeTask& task) const {
    return growth_.shared_ranks != nullptr && task.n >= least_bucket_rows &&
           growth_.data.columns[j].is_ordered_list() &&
           growth_.data.columns[j].n_known == growth_.data.table.n_rows;
  }

  BucketColumn bucket_column(std::size_t j, const NodeTask& task) const {
    BucketColumn column;
    column.column = j;
    column.ranks = growth_.shared_ranks->table.data() + growth_.shared_ranks->position[j];
    column.low = task.rank_ranges[j].low;
    column.high = task.rank_ranges[j].high;
    return column;
  }

  void search_buckets(NodeTask& task, const Totals& totals, Workspace<Entry>& space,
                      std::vector<Candidate>& candidates) const {
    double floor = no_floor;
    for (const std::size_t j : space.columns)
      if (candidates[j].valid) floor = std::max(floor, candidates[j].gain * totals.node.weight);
    const TwoClassNode node{SideCounts::total(totals.counts),
                            growth_.config.min_samples_leaf - c45_slack,
                            tie_share * totals.node.impurity, &growth_.logs};
    space.buckets.find(growth_.source_list(space.buckets.columns[0].column, task),
                       growth_.shared_ranks->n_per_row, growth_.packing, node, floor, space.sorter);
    for (const BucketColumn& column : space.buckets.columns) {
      task.rank_ranges[column.column] = {column.low, column.high};
      Candidate& candidate = candidates[column.column];
      candidate.valid = column.best.is_found();
      candidate.exhausted = !candidate.valid && !column.is_pruned;
      candidate.gain = column.best.gain() / totals.node.weight;
      candidate.cut = column.best.cut();
    }
  }

  // The node's rows in the order of a column.
  NodeList<Entry> list_of(std::size_t j, const NodeTask& task, Workspace<Entry>& space) const {
    const std::span<const Entry> rows = growth_.source_list(j, task);
    if (!growth_.has_list(j))
      return space.sorter.sort(rows, *growth_.shared_ranks, j, growth_.packing);
    const std::size_t n_known = growth_.n_known(j, task);
    return {rows.first(n_known), rows.subspan(n_known)};
  }

  // Says where a threshold is, given the number of entries on its left.
  void set_cut(std::size_t j, const NodeList<Entry>& list, Candidate& candidate) const {
    if (candidate.tests_missing) {
      if (!growth_.has_list(j)) candidate.cut = no_rank - 1;
      return;
    }
    const std::size_t below = growth_.packing.row(list.known[candidate.cut - 1]);
    if (growth_.has_list(j)) {
      candidate.below = static_cast<std::uint32_t>(below);
      candidate.above = static_cast<std::uint32_t>(growth_.packing.row(list.known[candidate.cut]));
    } else {
      candidate.cut = below;
    }
  }

  Candidate best_split(std::size_t j, const NodeTask& task, const Totals& totals,
                       Workspace<Entry>& space) const {
    if (task.is_exhausted(j) || totals.skips(j)) return {};
    return Criteria::visit(growth_.config.criterion, [&](auto policy) {
      using Impurity = decltype(policy);
      if (growth_.n_classes == 2 && !growth_.config.is_monotone())
        return totals.whole
                   ? best_split_by<Impurity,
                                   typename Impurity::template TwoClassScorer<std::int64_t>>(
                         j, task, totals, space)
                   : best_split_by<Impurity, typename Impurity::template TwoClassScorer<double>>(
                         j, task, totals, space);
      return totals.whole
                 ? best_split_by<Impurity, typename Impurity::template Scorer<std::int64_t>>(
                       j, task, totals, space)
                 : best_split_by<Impurity, typename Impurity::template Scorer<double>>(
                       j, task, totals, space);
    });
  }

  // The check of monotone constraints, if there are any.
  template <class Weight>
  std::optional<MonotoneCheck> make_check(std::size_t j, const NodeTask& task, const Totals& totals,
                                          std::span<const Weight> known) const {
    if (!growth_.config.is_monotone()) return std::nullopt;
    return MonotoneCheck(growth_.config.signs_of(j, growth_.n_classes), task.bounds, totals.weights,
                         known);
  }

  template <class Impurity, class Scorer>
  Candidate best_split_by(std::size_t j, const NodeTask& task, const Totals& totals,
                          Workspace<Entry>& space) const {
    using Weight = typename Scorer::Weight;
    if (!growth_.data.columns[j].is_ordered_list())
      return best_histogram_split<Impurity, Scorer>(j, task, totals, space);
    const NodeList<Entry> list = list_of(j, task, space);
    if (growth_.config.missing_takes_branch() && !list.missing.empty())
      return best_split_with_missing<Scorer>(j, task, totals, list, space);
    if constexpr (std::is_same_v<Weight, double>)
      return best_merged_split<Impurity, Scorer>(j, task, totals, list, space);
    else
      return best_list_split<Impurity, Scorer>(j, task, totals, list, space);
  }

  // A list with missing values, which take a branch: thresholds with missing values on the right,
  // the test whether a value is missing, then thresholds with missing values on the left.
  template <class Scorer>
  Candidate best_split_with_missing(std::size_t j, const NodeTask& task, const Totals& totals,
                                    const NodeList<Entry>& node_list,
                                    Workspace<Entry>& space) const {
    using Weight = typename Scorer::Weight;
    const std::span<const Entry> list = node_list.known, missing = node_list.missing;
    Candidate candidate;
    BestThreshold best(growth_.config, totals.node, totals.node.weight, growth_.n_classes);
    const auto check = make_check(j, task, totals, totals.template of<Weight>());
    if (check) best.set_check(&*check, space.template sides<Weight>());
    const Column& column = growth_.data.table[j];
    const bool needs_gap = growth_.needs_gap(j);
    auto scan = [&](auto&& weigh, std::int32_t missing_branch) {
      Scorer scorer(totals.template of<Weight>(), space.template sides<Weight>(), growth_.logs);
      auto move = [&](Entry entry) { scorer.move(growth_.packing.cls(entry), weigh(entry)); };
      auto take_if_best = [&](std::size_t cut) {
        if (!best.offer(scorer, cut != list.size())) return;
        candidate.cut = cut;
        candidate.missing_branch = missing_branch;
        candidate.tests_missing = cut == list.size();
      };
      if (missing_branch == 0) std::ranges::for_each(missing, move);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if ((list[i] & Packing<Entry>::increase) && i > 0 &&
            (!needs_gap || column.value(growth_.packing.row(list[i - 1])) + c45_gap <
                               column.value(growth_.packing.row(list[i]))))
          take_if_best(i);
        move(list[i]);
      }
      if (missing_branch == 1 && !list.empty()) take_if_best(list.size());
    };
    auto scan_both = [&](auto&& weigh) {
      scan(weigh, 1);
      scan(weigh, 0);
    };
    if constexpr (std::is_same_v<Weight, double>)
      growth_.with_weights(scan_both);
    else
      growth_.with_counts(scan_both);
    best.finish(candidate);
    if (best.has_threshold()) set_cut(j, node_list, candidate);
    return candidate;
  }

  // Whole weights: along the list.
  template <class Impurity, class Scorer>
  Candidate best_list_split(std::size_t j, const NodeTask& task, const Totals& totals,
                            const NodeList<Entry>& node_list, Workspace<Entry>& space) const {
    const std::span<const Entry> list = node_list.known;
    std::span<const std::int64_t> known = totals.counts;
    if (!node_list.missing.empty()) {
      std::fill(space.known_counts.begin(), space.known_counts.end(), 0);
      growth_.with_counts([&](auto&& count) {
        for (const Entry entry : list)
          space.known_counts[growth_.packing.cls(entry)] += count(entry);
      });
      known = space.known_counts;
    }
    const auto known_weight =
        static_cast<double>(std::accumulate(known.begin(), known.end(), std::int64_t{0}));
    Candidate candidate;
    BestThreshold best(growth_.config, totals.node, known_weight, growth_.n_classes);
    bool has_split = false;
    if (is_scanned_in_blocks<Impurity>(j, known_weight)) {
      has_split =
          scan_blocks<Impurity, Scorer>(list, known, totals, known_weight, space, candidate);
    } else if (Impurity::has_own_list_scan && !growth_.config.is_monotone()) {
      double gain = 0;
      bool is_pruned = false;
      has_split = best_gini_threshold(list, known, space, candidate.cut, gain, is_pruned);
      candidate.valid = has_split;
      candidate.exhausted = !has_split && !is_pruned;
      candidate.gain = gain / totals.node.weight;
    } else {
      const auto check = make_check(j, task, totals, known);
      if (check) best.set_check(&*check, space.count_sides);
      Scorer scorer(known, space.count_sides, growth_.logs);
      const Column& column = growth_.data.table[j];
      const bool gap = growth_.needs_gap(j);
      auto are_apart = [&](std::size_t a, std::size_t b) {
        return !gap || column.value(a) + c45_gap < column.value(b);
      };
      growth_.with_counts([&](auto&& count) {
        has_split = scan_list(list, growth_.packing, scorer, count, are_apart, best, candidate.cut);
      });
      best.finish(candidate);
    }
    if (has_split) set_cut(j, node_list, candidate);
    return candidate;
  }

  template <class Impurity>
  bool is_scanned_in_blocks(std::size_t j, double known_weight) const {
    return !std::is_void_v<typename Impurity::TwoClassThreshold> && growth_.n_classes == 2 &&
           !growth_.config.is_monotone() && !growth_.needs_gap(j) &&
           known_weight < SideCounts::limit;
  }

  template <class Impurity, class Scorer>
  bool scan_blocks(std::span<const Entry> list, std::span<const std::int64_t> known,
                   const Totals& totals, double known_weight, Workspace<Entry>& space,
                   Candidate& candidate) const {
    bool has_split = false;
    if constexpr (!std::is_void_v<typename Impurity::TwoClassThreshold>) {
      BestThreshold best(growth_.config, totals.node, known_weight, growth_.n_classes);
      const TwoClassNode node{SideCounts::total(known), best.min_side(), best.step(),
                              &growth_.logs};
      typename Impurity::TwoClassThreshold threshold(node);
      growth_.with_counts([&](auto&& count) {
        const bool is_pruned =
            space.blocks.find(list, growth_.packing, count, space.gain_floor, node, threshold);
        if (threshold.has_near_tie()) {
          Scorer scorer(known, space.count_sides, growth_.logs);
          auto are_apart = [](std::size_t, std::size_t) { return true; };
          has_split =
              scan_list(list, growth_.packing, scorer, count, are_apart, best, candidate.cut);
        } else {
          if (growth_.config.has_c45_rules())
            best.set_n_offered(count_thresholds(list, count, node));
          candidate.cut = threshold.cut();
          has_split = threshold.is_found() && best.take(threshold.gain(), threshold.left());
        }
        best.finish(candidate);
        candidate.exhausted = candidate.exhausted && !is_pruned;
      });
    }
    return has_split;
  }

  // The number of thresholds with enough weight on both sides.
  template <class Count>
  std::size_t count_thresholds(std::span<const Entry> list, Count&& count,
                               const TwoClassNode& node) const {
    std::size_t begin = 0, end = list.size();
    for (double left = 0; begin < end && left < node.min_side; ++begin)
      left += static_cast<double>(count(list[begin]));
    for (double right = 0; begin < end && right < node.min_side; --end)
      right += static_cast<double>(count(list[end - 1]));
    std::size_t n = 0;
    for (std::size_t i = begin; i <= end && i < list.size(); ++i)
      n += (list[i] & Packing<Entry>::increase) ? 1 : 0;
    return n;
  }

  // Gini of more classes than two, or of very large counts.
  bool best_gini_threshold(std::span<const Entry> list, std::span<const std::int64_t> known,
                           Workspace<Entry>& space, std::size_t& cut, double& gain,
                           bool& is_pruned) const {
    const double least = growth_.config.min_samples_leaf - c45_slack;
    if (growth_.weights.are_unit()) {
      GiniListScan<Entry> scan(list, growth_.packing, known, least, space.count_sides);
      if (GiniBlockScan<Entry>::pays(list.size(), known.size()))
        is_pruned =
            space.gini_blocks.find(list, growth_.packing, known, least, space.gain_floor, scan);
      else
        scan.scan(0, list.size());
      if (!scan.is_found()) return false;
      cut = scan.cut();
      gain = scan.gain();
      return true;
    }
    bool has_split = false;
    growth_.with_counts([&](auto&& count) {
      has_split = scan_counted_gini(list, growth_.packing, known, least, count, space.count_sides,
                                    cut, gain);
    });
    return has_split;
  }

  // Fractional weights: along the list merged with the node's fractional rows.
  template <class Impurity, class Scorer>
  Candidate best_merged_split(std::size_t j, const NodeTask& task, const Totals& totals,
                              const NodeList<Entry>& list, Workspace<Entry>& space) const {
    const std::span<const RankedRow> rows = merge_rows(j, task, list, space);
    std::span<const double> known = totals.weights;
    if (growth_.data.columns[j].n_known < growth_.data.table.n_rows) {
      std::fill(space.known_weights.begin(), space.known_weights.end(), 0.0);
      for (const RankedRow& row : rows) space.known_weights[row.cls] += row.weight;
      known = space.known_weights;
    }
    Candidate candidate;
    BestThreshold best(growth_.config, totals.node,
                       std::accumulate(known.begin(), known.end(), 0.0), growth_.n_classes);
    const auto check = make_check(j, task, totals, known);
    if (check) best.set_check(&*check, space.weight_sides);
    Scorer scorer(known, space.weight_sides, growth_.logs);
    const Column& column = growth_.data.table[j];
    const bool gap = growth_.needs_gap(j);
    std::size_t n_listed = 0, first_above = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0 && rows[i].rank != rows[i - 1].rank &&
          (!gap || column.value(rows[i - 1].row) + c45_gap < column.value(rows[i].row)) &&
          best.offer(scorer)) {
        candidate.cut = n_listed;
        first_above = i;
      }
      scorer.move(rows[i].cls, rows[i].weight);
      n_listed += rows[i].is_listed;
    }
    best.finish(candidate);
    if (best.has_threshold()) {
      candidate.below = rows[first_above - 1].row;
      candidate.above = rows[first_above].row;
    }
    return candidate;
  }

  // The rows of the list and the fractional rows with a known value, in order of value.
  std::span<const RankedRow> merge_rows(std::size_t j, const NodeTask& task,
                                        const NodeList<Entry>& list,
                                        Workspace<Entry>& space) const {
    const std::vector<std::uint32_t>& ranks = growth_.ranks[j];  // empty: no row can be fractional
    const RankedRow end{0.0, no_code, 0, 0, 0};
    std::vector<RankedRow>& listed = space.listed_rows;
    listed.clear();
    std::uint32_t n_increases = 0;
    for (const Entry entry : list.known) {
      const std::size_t row = growth_.packing.row(entry);
      n_increases += (entry & Packing<Entry>::increase) ? 1 : 0;
      listed.push_back({growth_.weights.weight(row), ranks.empty() ? n_increases : ranks[row],
                        static_cast<std::uint32_t>(row),
                        static_cast<std::uint32_t>(growth_.packing.cls(entry)), 1});
    }
    if (task.fractional_rows.empty()) return listed;
    std::vector<RankedRow>& fractional = space.fractional_ranked;
    fractional.clear();
    for (const FractionalRow& item : task.fractional_rows)
      if (ranks[item.row] != no_code)
        fractional.push_back({item.weight, ranks[item.row], item.row, item.cls, 0});
    auto is_before = [](const RankedRow& a, const RankedRow& b) {
      return a.rank < b.rank || (a.rank == b.rank && a.row < b.row);
    };
    // They are kept in the order of the first list.
    if (!std::is_sorted(fractional.begin(), fractional.end(), is_before))
      std::sort(fractional.begin(), fractional.end(), is_before);
    std::vector<RankedRow>& merged = space.merged_rows;
    merged.resize(listed.size() + fractional.size());
    listed.push_back(end);
    fractional.push_back(end);
    const RankedRow *a = listed.data(), *b = fractional.data();
    for (RankedRow& out :
         merged) {  // without a branch, which would be mispredicted half of the time
      const bool from_fractional = b->rank < a->rank;
      out = from_fractional ? *b : *a;
      b += from_fractional;
      a += !from_fractional;
    }
    return merged;
  }

  // Few values, or categories: by histogram.
  template <class Impurity, class Scorer>
  Candidate best_histogram_split(std::size_t j, const NodeTask& task, const Totals& totals,
                                 Workspace<Entry>& space) const {
    using Weight = typename Scorer::Weight;
    Candidate candidate;
    candidate.exhausted = growth_.n_bins_of(j) < 2;
    if (candidate.exhausted) return candidate;
    const Histogram<Weight> table =
        histograms_.template histogram_of<Weight>(j, task, totals, space);
    candidate.exhausted = table.n_bins < 2;
    if (candidate.exhausted) return candidate;
    std::span<const Weight> known = totals.template of<Weight>();
    Group known_group = totals.node;
    if (growth_.data.columns[j].has_missing && !growth_.has_missing_bin(j)) {
      auto& sums = space.template known<Weight>();
      std::fill(sums.begin(), sums.end(), Weight{0});
      for (std::size_t line = 0; line < table.n_bins; ++line)
        for (std::size_t k = 0; k < growth_.n_classes; ++k) sums[k] += table.weights(line)[k];
      known = sums;
      known_group = Group(known, growth_.config.criterion);
    }
    const auto check = make_check(j, task, totals, known);
    if (!growth_.data.table[j].has_thresholds()) {
      const std::size_t n_bins = growth_.n_bins_of(j), n_codes = growth_.data.n_codes(j);
      if (growth_.config.uses_subsets())
        split_subsets<Impurity>(table, n_bins, totals.node.weight, growth_.config,
                                check ? &*check : nullptr, candidate);
      else
        split_multiway<Impurity>(table, totals.node, known_group, growth_.config,
                                 check ? &*check : nullptr, candidate);
      if (growth_.has_missing_bin(j) && table.has_last_code(n_codes))
        candidate.missing_branch = candidate.groups.empty() ? static_cast<std::int32_t>(n_codes)
                                                            : candidate.groups[n_codes];
      return candidate;
    }
    BestThreshold best(growth_.config, totals.node, known_group.weight, growth_.n_classes);
    if (check) best.set_check(&*check, space.template sides<Weight>());
    Scorer scorer(known, space.template sides<Weight>(), growth_.logs);
    const PresortedColumn& column = growth_.data.columns[j];
    const bool any_missing =
        growth_.has_missing_bin(j) && table.has_last_code(column.values.size());
    if (any_missing) candidate.missing_branch = 1;
    scan_codes<Weight>(table, scorer, column, growth_.needs_gap(j), best, candidate);
    if (any_missing)
      scan_codes_missing_left<Weight>(table,
                                      Scorer(known, space.template sides<Weight>(), growth_.logs),
                                      column, growth_.needs_gap(j), best, candidate);
    best.finish(candidate);
    return candidate;
  }

  const Growth<Entry>& growth_;
  InterruptFlag& interrupt_;
  HistogramBuilder<Entry> histograms_;
};

}  // namespace sureleaf::detail
