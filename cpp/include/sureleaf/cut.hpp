// The best cut of each column in a node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "sureleaf/code_table.hpp"
#include "sureleaf/count.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/subset.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf::detail {

template <class Entry>
class CutFinder {
 public:
  CutFinder(const Growth<Entry>& growth, Patience& patience)
      : growth_(growth), patience_(patience), counter_(growth, patience) {}

  // The best cut of every column, found by one thread with its `space` or by several.
  void find_cuts(const Work& work, Totals& totals, Workspace<Entry>& space,
                 std::vector<Candidate>& candidates) const {
    counter_.prepare(work, 1, totals);
    counter_.count_codes(work, 0, growth_.data.small_columns.size(), totals, space);
    for (std::size_t j = 0; j < candidates.size(); ++j)
      candidates[j] = best_cut(j, work, totals, space);
  }
  void find_cuts(const Work& work, Totals& totals, std::vector<Workspace<Entry>>& spaces,
                 std::vector<Candidate>& candidates) const {
    counter_.prepare(work, spaces.size(), totals);
    const std::vector<std::size_t>& small = growth_.data.small_columns;
    const std::vector<std::size_t>& others = growth_.lone_columns;
    const std::size_t n_parts = std::min(small.size(), 2 * spaces.size());
    run_jobs(others.size() + n_parts, spaces.size(), patience_, [&](std::size_t i, std::size_t t) {
      if (i < others.size()) {
        candidates[others[i]] = best_cut(others[i], work, totals, spaces[t]);
        return;
      }
      const std::size_t part = i - others.size();
      const std::size_t first = part * small.size() / n_parts;
      const std::size_t last = (part + 1) * small.size() / n_parts;
      counter_.count_codes(work, first, last, totals, spaces[t]);
      for (std::size_t c = first; c < last; ++c)
        candidates[small[c]] = best_cut(small[c], work, totals, spaces[t]);
    });
  }

 private:
  Candidate best_cut(std::size_t j, const Work& work, const Totals& totals,
                     Workspace<Entry>& space) const {
    if (work.is_hopeless(j)) return {};
    if (totals.whole) {
      if (growth_.rules.uses_entropy()) return best_cut_by<CountEntropy>(j, work, totals, space);
      return best_cut_by<CountGini>(j, work, totals, space);
    }
    if (growth_.rules.uses_entropy()) return best_cut_by<WeightMeter<true>>(j, work, totals, space);
    return best_cut_by<WeightMeter<false>>(j, work, totals, space);
  }

  template <class Meter>
  Candidate best_cut_by(std::size_t j, const Work& work, const Totals& totals,
                        Workspace<Entry>& space) const {
    using Weight = typename Meter::Weight;
    if (!growth_.data.columns[j].is_ordered_list())
      return best_code_cut<Meter>(j, work, totals, space);
    if constexpr (std::is_same_v<Weight, double>)
      return best_merged_cut<Meter>(j, work, totals, space);
    else
      return best_list_cut<Meter>(j, work, totals, space);
  }

  // Whole weights: straight along the list.
  template <class Meter>
  Candidate best_list_cut(std::size_t j, const Work& work, const Totals& totals,
                          Workspace<Entry>& space) const {
    const std::span<const Entry> list(growth_.lists[j].data() + work.begin,
                                      growth_.n_known(j, work));
    std::span<const std::int64_t> known = totals.counts;
    if (list.size() < work.n) {
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
    BestCut best(growth_.rules, known_weight, totals.weight, totals.impurity, growth_.n_classes);
    bool found = false;
    if constexpr (std::is_same_v<Meter, CountGini>) {
      double gain = 0;
      found = best_gini_cut(list, known, space, candidate.cut, gain);
      candidate.valid = found;
      candidate.hopeless = !found;
      candidate.gain = gain / totals.weight;
    } else {
      Meter meter(known, space.count_sides, growth_.logs);
      const Column& column = growth_.data.table[j];
      const bool gap = growth_.needs_gap(j);
      auto apart = [&](std::size_t a, std::size_t b) {
        return !gap || column.value(a) + c45_gap < column.value(b);
      };
      growth_.with_counts([&](auto&& count) {
        found = scan_list(list, growth_.packing, meter, count, apart, best, candidate.cut);
      });
      best.finish(growth_.rules, known_weight, totals.weight, candidate);
    }
    if (found) {
      candidate.low = growth_.data.table[j].value(growth_.packing.row(list[candidate.cut - 1]));
      candidate.high = growth_.data.table[j].value(growth_.packing.row(list[candidate.cut]));
    }
    return candidate;
  }

  bool best_gini_cut(std::span<const Entry> list, std::span<const std::int64_t> known,
                     Workspace<Entry>& space, std::size_t& cut, double& gain) const {
    const double least = growth_.rules.min_samples_leaf - c45_slack;
    if (growth_.weights.are_unit())
      return growth_.n_classes == 2
                 ? scan_list_gini_two(list, growth_.packing, known[1], least, cut, gain)
                 : scan_list_gini(list, growth_.packing, known, least, space.count_sides, cut,
                                  gain);
    bool found = false;
    growth_.with_counts([&](auto&& count) {
      found = growth_.n_classes == 2
                  ? scan_counted_gini_two(list, growth_.packing, known[0] + known[1], known[1],
                                          least, count, cut, gain)
                  : scan_counted_gini(list, growth_.packing, known, least, count, space.count_sides,
                                      cut, gain);
    });
    return found;
  }

  // Fractional weights: the list and the node's own rows, merged by rank on the way.
  template <class Meter>
  Candidate best_merged_cut(std::size_t j, const Work& work, const Totals& totals,
                            Workspace<Entry>& space) const {
    const Column& column = growth_.data.table[j];
    const std::span<const Entry> list(growth_.lists[j].data() + work.begin,
                                      growth_.n_known(j, work));
    std::fill(space.known_weights.begin(), space.known_weights.end(), 0.0);
    for (const Entry entry : list)
      space.known_weights[growth_.packing.cls(entry)] +=
          growth_.weights.weight(growth_.packing.row(entry));
    const std::vector<std::uint64_t>& side = sort_side_rows(j, work, space);
    const double known_weight =
        std::accumulate(space.known_weights.begin(), space.known_weights.end(), 0.0);
    Candidate candidate;
    BestCut best(growth_.rules, known_weight, totals.weight, totals.impurity, growth_.n_classes);
    Meter meter(space.known_weights, space.weight_sides, growth_.logs);
    const bool gap = growth_.needs_gap(j);
    const std::vector<std::uint32_t>& ranks = growth_.ranks[j];  // none where no row may part
    std::uint32_t rank_before = no_code, n_increases = 0;
    std::size_t at = 0, row_before = 0, low_row = 0, high_row = 0;
    auto pass = [&](std::uint32_t rank, std::size_t row, std::size_t k, double weight) {
      if (rank != rank_before && rank_before != no_code &&
          (!gap || column.value(row_before) + c45_gap < column.value(row)) && best.offer(meter)) {
        candidate.cut = at;
        low_row = row_before;
        high_row = row;
      }
      meter.move(k, weight);
      rank_before = rank;
      row_before = row;
    };
    auto pass_list = [&](std::uint32_t last_rank) {
      for (; at < list.size(); ++at) {
        const std::size_t row = growth_.packing.row(list[at]);
        if (list[at] & Packing<Entry>::increase) ++n_increases;
        const std::uint32_t rank = ranks.empty() ? n_increases : ranks[row];
        if (rank > last_rank) return;
        pass(rank, row, growth_.packing.cls(list[at]), growth_.weights.weight(row));
      }
    };
    for (const std::uint64_t placed : side) {
      const auto rank = static_cast<std::uint32_t>(placed >> 32);
      pass_list(rank);
      const SideRow& item = work.side[placed & 0xFFFFFFFFu];
      pass(rank, item.row, item.cls, item.weight);
    }
    pass_list(no_code);
    best.finish(growth_.rules, known_weight, totals.weight, candidate);
    if (best.found()) {
      candidate.low = column.value(low_row);
      candidate.high = column.value(high_row);
    }
    return candidate;
  }

  // The node's own rows in the order of a column, each as its rank and its place among them;
  // their weights are added to the known ones.
  const std::vector<std::uint64_t>& sort_side_rows(std::size_t j, const Work& work,
                                                   Workspace<Entry>& space) const {
    std::vector<std::uint64_t>& placed = space.placed;
    placed.clear();
    bool is_sorted = true;
    for (std::size_t i = 0; i < work.side.size(); ++i) {
      const SideRow& item = work.side[i];
      const std::uint64_t rank = growth_.ranks[j][item.row];
      if (rank == no_code) continue;
      is_sorted = is_sorted && (placed.empty() || placed.back() >> 32 <= rank);
      placed.push_back(rank << 32 | i);
      space.known_weights[item.cls] += item.weight;
    }
    if (!is_sorted) std::sort(placed.begin(), placed.end());
    return placed;
  }

  // Few values, or categories: a table of class weights by code.
  template <class Meter>
  Candidate best_code_cut(std::size_t j, const Work& work, const Totals& totals,
                          Workspace<Entry>& space) const {
    using Weight = typename Meter::Weight;
    Candidate candidate;
    candidate.hopeless = growth_.n_codes(j) < 2;
    if (candidate.hopeless) return candidate;
    const CodeTable<Weight> table = counter_.template table_of<Weight>(j, work, totals, space);
    candidate.hopeless = table.n_lines < 2;
    if (candidate.hopeless) return candidate;
    std::span<const Weight> known = totals.template of<Weight>();
    if (growth_.data.columns[j].has_missing) {
      auto& sums = space.template known<Weight>();
      std::fill(sums.begin(), sums.end(), Weight{0});
      for (std::size_t line = 0; line < table.n_lines; ++line)
        for (std::size_t k = 0; k < growth_.n_classes; ++k) sums[k] += table.weights(line)[k];
      known = sums;
    }
    if (!growth_.data.table[j].has_thresholds()) {
      if (growth_.rules.subsets)
        split_subsets<Weight>(table, growth_.n_codes(j), totals.weight, growth_.rules, candidate);
      else
        split_multiway<Weight>(table, known, totals.weight, growth_.rules, candidate);
      return candidate;
    }
    double known_weight = 0;
    for (const Weight w : known) known_weight += static_cast<double>(w);
    BestCut best(growth_.rules, known_weight, totals.weight, totals.impurity, growth_.n_classes);
    Meter meter(known, space.template sides<Weight>(), growth_.logs);
    scan_codes<Weight>(table, meter, growth_.data.columns[j], growth_.needs_gap(j), best,
                       candidate);
    best.finish(growth_.rules, known_weight, totals.weight, candidate);
    return candidate;
  }

  const Growth<Entry>& growth_;
  Patience& patience_;
  CodeCounter<Entry> counter_;
};

}  // namespace sureleaf::detail
