// The best cut of each column in a node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

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
      : growth_(growth), patience_(patience) {}

  Candidate best_cut(std::size_t j, const Work& work, const Totals& totals,
                     Workspace<Entry>& space) const {
    if (totals.whole) {
      if (growth_.rules.uses_entropy()) return best_cut_by<CountEntropy>(j, work, totals, space);
      return best_cut_by<CountGini>(j, work, totals, space);
    }
    if (growth_.rules.uses_entropy()) return best_cut_by<WeightMeter<true>>(j, work, totals, space);
    return best_cut_by<WeightMeter<false>>(j, work, totals, space);
  }

  // Counts all flags of the node's rows by class. Bytes are added up, a vector of them at a time,
  // and moved to wide sums before they can overflow.
  void count_flags(const Work& work, std::size_t n_threads,
                   std::vector<std::int64_t>& counts) const {
    const std::size_t n_flags = growth_.data.n_flags;
    const std::size_t n_parts = work.n < 50'000 ? 1 : n_threads;
    std::vector<std::vector<std::int64_t>> sums(n_parts);
    run_jobs(n_parts, n_parts, patience_, [&](std::size_t part, std::size_t) {
      std::vector<std::int64_t>& sum = sums[part];
      sum.assign(growth_.n_classes * n_flags, 0);
      std::vector<std::uint8_t> bytes(growth_.n_classes * n_flags, 0);
      const std::size_t n_at_once = 255 / growth_.largest_count;
      const Entry* rows = growth_.lists.back().data() + work.begin;
      std::size_t at = part * work.n / n_parts;
      const std::size_t end = (part + 1) * work.n / n_parts;
      while (at < end) {
        const std::size_t stop = std::min(end, at + n_at_once);
        for (; at < stop; ++at) {
          const std::uint8_t* flags = growth_.data.flags_of(growth_.packing.row(rows[at]));
          std::uint8_t* to = bytes.data() + growth_.packing.cls(rows[at]) * n_flags;
          if (growth_.largest_count == 1) {
            for (std::size_t f = 0; f < n_flags; f += Presorted::flag_padding)
              for (std::size_t b = 0; b < Presorted::flag_padding; ++b) to[f + b] += flags[f + b];
            continue;
          }
          // A flag is 0 or 1, so minus it is a mask: there is no product of bytes to be had.
          const auto count = static_cast<std::uint8_t>(growth_.count_of(rows[at]));
          for (std::size_t f = 0; f < n_flags; f += Presorted::flag_padding)
            for (std::size_t b = 0; b < Presorted::flag_padding; ++b)
              to[f + b] += static_cast<std::uint8_t>(count & -flags[f + b]);
        }
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += bytes[i];
        std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
      }
    });
    counts = std::move(sums[0]);
    for (std::size_t part = 1; part < n_parts; ++part)
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += sums[part][i];
  }

 private:
  template <class Meter>
  Candidate best_cut_by(std::size_t j, const Work& work, const Totals& totals,
                        Workspace<Entry>& space) const {
    using Weight = typename Meter::Weight;
    if (!growth_.data.columns[j].is_ordered_list())
      return best_code_cut<Meter>(j, work, totals, space);
    if constexpr (std::is_same_v<Weight, double>)
      return best_value_cut<Meter>(j, work, totals, space);
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

  // Fractional weights: the list and the node's own rows merged by value.
  template <class Meter>
  Candidate best_value_cut(std::size_t j, const Work& work, const Totals& totals,
                           Workspace<Entry>& space) const {
    const Column& column = growth_.data.table[j];
    std::vector<WeighedValue>& values = space.values;
    values.clear();
    for (const Entry entry :
         std::span(growth_.lists[j].data() + work.begin, growth_.n_known(j, work))) {
      const std::size_t row = growth_.packing.row(entry);
      values.push_back({column.value(row), growth_.weights.weight(row),
                        static_cast<std::uint32_t>(growth_.packing.cls(entry)), true});
    }
    const auto middle = static_cast<std::ptrdiff_t>(values.size());
    for (const SideRow& side : work.side) {
      const double value = column.value(side.row);
      if (!std::isnan(value))
        values.push_back(
            {value, side.weight, static_cast<std::uint32_t>(growth_.labels[side.row]), false});
    }
    auto below = [](const WeighedValue& a, const WeighedValue& b) { return a.value < b.value; };
    std::stable_sort(values.begin() + middle, values.end(), below);
    std::inplace_merge(values.begin(), values.begin() + middle, values.end(), below);

    std::fill(space.known_weights.begin(), space.known_weights.end(), 0.0);
    for (const WeighedValue& item : values) space.known_weights[item.cls] += item.weight;
    const double known_weight =
        std::accumulate(space.known_weights.begin(), space.known_weights.end(), 0.0);
    Candidate candidate;
    BestCut best(growth_.rules, known_weight, totals.weight, totals.impurity, growth_.n_classes);
    Meter meter(space.known_weights, space.weight_sides, growth_.logs);
    const double gap = growth_.rules.is_c45() ? c45_gap : 0.0;
    std::size_t n_listed = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0 && values[i - 1].value + gap < values[i].value && best.offer(meter)) {
        candidate.cut = n_listed;
        candidate.low = values[i - 1].value;
        candidate.high = values[i].value;
      }
      meter.move(values[i].cls, values[i].weight);
      n_listed += values[i].in_list;
    }
    best.finish(growth_.rules, known_weight, totals.weight, candidate);
    return candidate;
  }

  // Few values, or categories: a table of class weights by code.
  template <class Meter>
  Candidate best_code_cut(std::size_t j, const Work& work, const Totals& totals,
                          Workspace<Entry>& space) const {
    using Weight = typename Meter::Weight;
    Candidate candidate;
    if (growth_.n_codes(j) < 2) return candidate;
    const bool is_counted = !totals.flag_counts.empty() && growth_.data.columns[j].flag >= 0;
    const CodeTable<Weight> table =
        is_counted ? tabulate_flag<Weight>(j, totals, space) : tabulate<Weight>(j, work, space);
    if (table.n_lines < 2) return candidate;
    auto& known = space.template known<Weight>();
    std::fill(known.begin(), known.end(), Weight{0});
    for (std::size_t line = 0; line < table.n_lines; ++line)
      for (std::size_t k = 0; k < growth_.n_classes; ++k) known[k] += table.weights(line)[k];
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

  // Calls visit(code, class, weight) for the node's rows whose value is known.
  template <class Weight, class Visit>
  void visit_codes(std::size_t j, const Work& work, Visit&& visit) const {
    const std::span<const Entry> rows(growth_.lists.back().data() + work.begin, work.n);
    auto each = [&](auto&& code_of) {
      for (const Entry entry : rows) {
        const std::size_t row = growth_.packing.row(entry);
        const std::uint32_t code = code_of(row);
        if (code == no_code) continue;
        if constexpr (std::is_same_v<Weight, double>)
          visit(code, growth_.packing.cls(entry), growth_.weights.weight(row));
        else
          visit(code, growth_.packing.cls(entry), growth_.count_of(entry));
      }
      if constexpr (std::is_same_v<Weight, double>)
        for (const SideRow& side : work.side) {
          const std::uint32_t code = code_of(side.row);
          if (code != no_code) visit(code, growth_.label(side.row), side.weight);
        }
    };
    growth_.with_codes(j, each);
  }

  template <class Weight>
  CodeTable<Weight> tabulate(std::size_t j, const Work& work, Workspace<Entry>& space) const {
    const std::size_t n_cells = growth_.n_codes(j) * growth_.n_classes;
    std::vector<Weight>& cells = space.template cells<Weight>();
    if (4 * (work.n + work.side.size()) >= n_cells) {
      cells.assign(n_cells, Weight{0});
      visit_codes<Weight>(j, work, [&](std::uint32_t code, std::size_t k, Weight w) {
        cells[code * growth_.n_classes + k] += w;
      });
      return {cells, {}, growth_.n_codes(j), growth_.n_classes};
    }
    auto& coded = space.template coded<Weight>();
    coded.clear();
    visit_codes<Weight>(j, work, [&](std::uint32_t code, std::size_t k, Weight w) {
      coded.push_back({code, static_cast<std::uint32_t>(k), w});
    });
    std::sort(coded.begin(), coded.end(),
              [](const auto& a, const auto& b) { return a.code < b.code; });
    cells.clear();
    space.line_codes.clear();
    for (const auto& item : coded) {
      if (space.line_codes.empty() || space.line_codes.back() != item.code) {
        space.line_codes.push_back(item.code);
        cells.resize(cells.size() + growth_.n_classes, Weight{0});
      }
      cells[cells.size() - growth_.n_classes + item.cls] += item.weight;
    }
    return {cells, space.line_codes, space.line_codes.size(), growth_.n_classes};
  }

  // The table of a flag; without lines if it is the same for all rows of the node.
  template <class Weight>
  CodeTable<Weight> tabulate_flag(std::size_t j, const Totals& totals,
                                  Workspace<Entry>& space) const {
    const auto flag = static_cast<std::size_t>(growth_.data.columns[j].flag);
    std::vector<Weight>& cells = space.template cells<Weight>();
    cells.resize(2 * growth_.n_classes);
    Weight n_set = 0, n_clear = 0;
    for (std::size_t k = 0; k < growth_.n_classes; ++k) {
      const auto set = static_cast<Weight>(totals.flag_counts[k * growth_.data.n_flags + flag]);
      cells[growth_.n_classes + k] = set;
      cells[k] = static_cast<Weight>(totals.counts[k]) - set;
      n_set += set;
      n_clear += cells[k];
    }
    const bool varies = n_set > 0 && n_clear > 0;
    return {cells, {}, varies ? std::size_t{2} : std::size_t{0}, growth_.n_classes};
  }

  const Growth<Entry>& growth_;
  Patience& patience_;
};

}  // namespace sureleaf::detail
