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

// Gini of whole counts has its own ways along a list.
template <class Meter>
inline constexpr bool is_gini =
    std::is_same_v<Meter, CountGini> || std::is_same_v<Meter, TwoClassMeter<std::int64_t, false>>;

template <class Entry>
class CutFinder {
 public:
  CutFinder(const Growth<Entry>& growth, Patience& patience)
      : growth_(growth), patience_(patience), counter_(growth, patience) {}

  // The best cut of every column, found by one thread with its `space` or by several.
  void find_cuts(Work& work, Totals& totals, Workspace<Entry>& space,
                 std::vector<Candidate>& candidates) const {
    Crew alone(1);
    counter_.prepare(work, alone, totals);
    counter_.count_codes(work, 0, growth_.data.small_columns.size(), totals, space);
    for (std::size_t j = 0; j < candidates.size(); ++j)
      candidates[j] = best_cut(j, work, totals, space);
  }
  void find_cuts(Work& work, Totals& totals, std::vector<Workspace<Entry>>& spaces, Crew& crew,
                 std::vector<Candidate>& candidates) const {
    counter_.prepare(work, crew, totals);
    const std::vector<std::size_t>& small = growth_.data.small_columns;
    const std::vector<std::size_t>& others = growth_.lone_columns;
    const std::size_t n_parts = std::min(small.size(), 2 * spaces.size());
    crew.run(others.size() + n_parts, patience_, [&](std::size_t i, std::size_t t) {
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

  void hand_down(const Work& work, const Totals& totals, std::span<Work> branches,
                 Workspace<Entry>& space) const {
    counter_.hand_down(work, totals, branches, space);
  }

 private:
  Candidate best_cut(std::size_t j, const Work& work, const Totals& totals,
                     Workspace<Entry>& space) const {
    if (work.is_hopeless(j)) return {};
    const bool entropy = growth_.rules.uses_entropy();
    if (growth_.n_classes == 2 && totals.whole)
      return entropy ? best_cut_by<TwoClassMeter<std::int64_t, true>>(j, work, totals, space)
                     : best_cut_by<TwoClassMeter<std::int64_t, false>>(j, work, totals, space);
    if (growth_.n_classes == 2)
      return entropy ? best_cut_by<TwoClassMeter<double, true>>(j, work, totals, space)
                     : best_cut_by<TwoClassMeter<double, false>>(j, work, totals, space);
    if (totals.whole)
      return entropy ? best_cut_by<CountEntropy>(j, work, totals, space)
                     : best_cut_by<CountGini>(j, work, totals, space);
    return entropy ? best_cut_by<WeightMeter<true>>(j, work, totals, space)
                   : best_cut_by<WeightMeter<false>>(j, work, totals, space);
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
    const std::span<const Entry> list = growth_.known_list(j, work);
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
    BestCut best(growth_.rules, totals.node, known_weight, growth_.n_classes);
    bool found = false;
    if constexpr (is_gini<Meter>) {
      double gain = 0;
      found = best_gini_cut(list, known, space, candidate.cut, gain);
      candidate.valid = found;
      candidate.hopeless = !found;
      candidate.gain = gain / totals.node.weight;
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
      best.finish(candidate);
    }
    if (found) {
      candidate.below = static_cast<std::uint32_t>(growth_.packing.row(list[candidate.cut - 1]));
      candidate.above = static_cast<std::uint32_t>(growth_.packing.row(list[candidate.cut]));
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

  // Fractional weights: along the list and the node's own rows, merged.
  template <class Meter>
  Candidate best_merged_cut(std::size_t j, const Work& work, const Totals& totals,
                            Workspace<Entry>& space) const {
    const std::span<const RankedRow> rows = merge_rows(j, work, space);
    std::span<const double> known = totals.weights;
    if (growth_.data.columns[j].n_known < growth_.data.table.n_rows) {
      std::fill(space.known_weights.begin(), space.known_weights.end(), 0.0);
      for (const RankedRow& row : rows) space.known_weights[row.cls] += row.weight;
      known = space.known_weights;
    }
    Candidate candidate;
    BestCut best(growth_.rules, totals.node, std::accumulate(known.begin(), known.end(), 0.0),
                 growth_.n_classes);
    Meter meter(known, space.weight_sides, growth_.logs);
    const Column& column = growth_.data.table[j];
    const bool gap = growth_.needs_gap(j);
    std::size_t n_listed = 0, found = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0 && rows[i].rank != rows[i - 1].rank &&
          (!gap || column.value(rows[i - 1].row) + c45_gap < column.value(rows[i].row)) &&
          best.offer(meter)) {
        candidate.cut = n_listed;
        found = i;
      }
      meter.move(rows[i].cls, rows[i].weight);
      n_listed += rows[i].is_listed;
    }
    best.finish(candidate);
    if (best.found()) {
      candidate.below = rows[found - 1].row;
      candidate.above = rows[found].row;
    }
    return candidate;
  }

  // The rows of the list and the node's own that have a value, in its order.
  std::span<const RankedRow> merge_rows(std::size_t j, const Work& work,
                                        Workspace<Entry>& space) const {
    const std::vector<std::uint32_t>& ranks = growth_.ranks[j];  // none where no row may part
    const RankedRow end{0.0, no_code, 0, 0, 0};
    std::vector<RankedRow>& listed = space.listed_rows;
    listed.clear();
    std::uint32_t n_increases = 0;
    for (const Entry entry : growth_.known_list(j, work)) {
      const std::size_t row = growth_.packing.row(entry);
      n_increases += (entry & Packing<Entry>::increase) ? 1 : 0;
      listed.push_back({growth_.weights.weight(row), ranks.empty() ? n_increases : ranks[row],
                        static_cast<std::uint32_t>(row),
                        static_cast<std::uint32_t>(growth_.packing.cls(entry)), 1});
    }
    if (work.side.empty()) return listed;
    std::vector<RankedRow>& own = space.own_rows;
    own.clear();
    for (const SideRow& item : work.side)
      if (ranks[item.row] != no_code)
        own.push_back({item.weight, ranks[item.row], item.row, item.cls, 0});
    auto is_before = [](const RankedRow& a, const RankedRow& b) {
      return a.rank < b.rank || (a.rank == b.rank && a.row < b.row);
    };
    // They are kept in the order of the first list.
    if (!std::is_sorted(own.begin(), own.end(), is_before))
      std::sort(own.begin(), own.end(), is_before);
    std::vector<RankedRow>& merged = space.merged_rows;
    merged.resize(listed.size() + own.size());
    listed.push_back(end);
    own.push_back(end);
    const RankedRow *a = listed.data(), *b = own.data();
    for (RankedRow& out : merged) {  // without a branch: which is next cannot be guessed
      const bool from_own = b->rank < a->rank;
      out = from_own ? *b : *a;
      b += from_own;
      a += !from_own;
    }
    return merged;
  }

  // Few values, or categories: a table of class weights by code.
  template <class Meter>
  Candidate best_code_cut(std::size_t j, const Work& work, const Totals& totals,
                          Workspace<Entry>& space) const {
    using Weight = typename Meter::Weight;
    Candidate candidate;
    candidate.hopeless = growth_.data.n_codes(j) < 2;
    if (candidate.hopeless) return candidate;
    const CodeTable<Weight> table = counter_.template table_of<Weight>(j, work, totals, space);
    candidate.hopeless = table.n_lines < 2;
    if (candidate.hopeless) return candidate;
    std::span<const Weight> known = totals.template of<Weight>();
    Group known_group = totals.node;
    if (growth_.data.columns[j].has_missing) {
      auto& sums = space.template known<Weight>();
      std::fill(sums.begin(), sums.end(), Weight{0});
      for (std::size_t line = 0; line < table.n_lines; ++line)
        for (std::size_t k = 0; k < growth_.n_classes; ++k) sums[k] += table.weights(line)[k];
      known = sums;
      known_group = Group(known, growth_.rules.uses_entropy());
    }
    if (!growth_.data.table[j].has_thresholds()) {
      if (growth_.rules.subsets)
        split_subsets<Weight>(table, growth_.data.n_codes(j), totals.node.weight, growth_.rules,
                              candidate);
      else
        split_multiway<Weight>(table, totals.node, known_group, growth_.rules, candidate);
      return candidate;
    }
    BestCut best(growth_.rules, totals.node, known_group.weight, growth_.n_classes);
    Meter meter(known, space.template sides<Weight>(), growth_.logs);
    scan_codes<Weight>(table, meter, growth_.data.columns[j], growth_.needs_gap(j), best,
                       candidate);
    best.finish(candidate);
    return candidate;
  }

  const Growth<Entry>& growth_;
  Patience& patience_;
  CodeCounter<Entry> counter_;
};

}  // namespace sureleaf::detail
