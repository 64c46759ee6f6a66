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

  // The best cut of every column, found by one thread with its `space` or by several.
  void find_cuts(const Work& work, Totals& totals, Workspace<Entry>& space,
                 std::vector<Candidate>& candidates) const {
    prepare(work, 1, totals);
    const std::size_t n_small = growth_.data.small_columns.size();
    count_codes(work, 0, n_small, totals, space);
    for (std::size_t j = 0; j < candidates.size(); ++j)
      candidates[j] = best_cut(j, work, totals, space);
  }
  void find_cuts(const Work& work, Totals& totals, std::vector<Workspace<Entry>>& spaces,
                 std::vector<Candidate>& candidates) const {
    prepare(work, spaces.size(), totals);
    const std::vector<std::size_t>&small = growth_.data.small_columns,
          &others = growth_.lone_columns;
    const std::size_t n_parts = std::min(small.size(), 2 * spaces.size());
    run_jobs(others.size() + n_parts, spaces.size(), patience_, [&](std::size_t i, std::size_t t) {
      if (i < others.size()) {
        candidates[others[i]] = best_cut(others[i], work, totals, spaces[t]);
        return;
      }
      const std::size_t part = i - others.size();
      const std::size_t first = part * small.size() / n_parts;
      const std::size_t last = (part + 1) * small.size() / n_parts;
      count_codes(work, first, last, totals, spaces[t]);
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

  // Decides what is cheaper to count for many columns together.
  void prepare(const Work& work, std::size_t n_threads, Totals& totals) const {
    const Presorted& data = growth_.data;
    totals.flags_are_counted = totals.whole && data.n_flags > 0 && growth_.largest_count <= 255;
    if (totals.flags_are_counted) count_flags(work, n_threads, totals);
    // Clearing and scanning lines must not cost more than the rows do.
    const std::size_t n_rows = work.n + work.side.size();
    totals.codes_are_counted =
        4 * n_rows * data.small_columns.size() >= growth_.n_lines && !data.small_columns.empty();
    if (!totals.codes_are_counted) return;
    const std::size_t n_cells = growth_.n_lines * growth_.n_classes;
    if (totals.whole)
      totals.code_counts.assign(n_cells, 0);
    else
      totals.code_weights.assign(n_cells, 0.0);
  }

  void count_codes(const Work& work, std::size_t first, std::size_t last, Totals& totals,
                   Workspace<Entry>& space) const {
    if (!totals.codes_are_counted) return;
    if (totals.whole)
      count_codes<std::int64_t>(work, first, last, totals.code_counts, space);
    else
      count_codes<double>(work, first, last, totals.code_weights, space);
  }

  // Tabulates small columns number `first` to `last`, a row's codes at a time.
  template <class Weight>
  void count_codes(const Work& work, std::size_t first, std::size_t last,
                   std::vector<Weight>& cells, Workspace<Entry>& space) const {
    const Presorted& data = growth_.data;
    const std::size_t n_columns = data.small_columns.size(), n_classes = growth_.n_classes;
    std::vector<CountedColumn>& counted = space.counted;
    counted.clear();
    for (std::size_t c = first; c < last; ++c)
      if (!work.is_hopeless(data.small_columns[c]))
        counted.push_back({c, growth_.first_line[c] * n_classes});
    // Copies of what does not change: the compiler cannot know that it does not.
    const std::uint8_t* const small_codes = data.small_codes.data();
    Weight* const sums = cells.data();
    const CountedColumn *const begin = counted.data(), *const end = begin + counted.size();
    auto add = [=](std::size_t row, std::size_t k, Weight w) {
      const std::uint8_t* codes = small_codes + row * n_columns;
      for (const CountedColumn* column = begin; column != end; ++column) {
        const std::uint8_t code = codes[column->place];
        if (code != small_missing) sums[column->first_cell + code * n_classes + k] += w;
      }
    };
    const std::span<const Entry> rows(growth_.lists.back().data() + work.begin, work.n);
    if constexpr (std::is_same_v<Weight, double>) {
      for (const Entry entry : rows) {
        const std::size_t row = growth_.packing.row(entry);
        add(row, growth_.packing.cls(entry), growth_.weights.weight(row));
      }
      for (const SideRow& side : work.side) add(side.row, side.cls, side.weight);
    } else {
      growth_.with_counts([&](auto&& weigh) {
        for (const Entry entry : rows)
          add(growth_.packing.row(entry), growth_.packing.cls(entry), weigh(entry));
      });
    }
  }

  // Counts all flags of the node's rows by class. Bytes are added up, a vector of them at a time,
  // and moved to wide sums before they can overflow.
  void count_flags(const Work& work, std::size_t n_threads, Totals& totals) const {
    const std::size_t n_cells = growth_.n_classes * growth_.data.n_flags;
    totals.flag_counts.assign(n_cells, 0);
    const std::size_t n_parts = work.n < 50'000 ? 1 : n_threads;
    if (n_parts == 1) {
      totals.flag_bytes.assign(n_cells, 0);
      return add_flags(work.begin, work.begin + work.n, totals.flag_bytes, totals.flag_counts);
    }
    std::vector<std::vector<std::int64_t>> sums(n_parts, std::vector<std::int64_t>(n_cells, 0));
    run_jobs(n_parts, n_parts, patience_, [&](std::size_t part, std::size_t) {
      std::vector<std::uint8_t> bytes(n_cells, 0);
      add_flags(work.begin + part * work.n / n_parts, work.begin + (part + 1) * work.n / n_parts,
                bytes, sums[part]);
    });
    for (const std::vector<std::int64_t>& sum : sums)
      for (std::size_t i = 0; i < n_cells; ++i) totals.flag_counts[i] += sum[i];
  }

  void add_flags(std::size_t at, std::size_t end, std::vector<std::uint8_t>& bytes,
                 std::vector<std::int64_t>& sum) const {
    const std::size_t n_flags = growth_.data.n_flags;
    const std::size_t n_at_once = 255 / growth_.largest_count;
    const Entry* rows = growth_.lists.back().data();
    while (at < end) {
      const std::size_t stop = std::min(end, at + n_at_once);
      for (; at < stop; ++at) {
        const std::uint8_t* flags = growth_.data.flags_of(growth_.packing.row(rows[at]));
        std::uint8_t* to = bytes.data() + growth_.packing.cls(rows[at]) * n_flags;
        const auto count = static_cast<std::uint8_t>(growth_.count_of(rows[at]));
        if (growth_.largest_count == 1) {
          for (std::size_t f = 0; f < n_flags; f += Presorted::flag_padding)
            for (std::size_t b = 0; b < Presorted::flag_padding; ++b) to[f + b] += flags[f + b];
        } else {
          for (std::size_t f = 0; f < n_flags; f += Presorted::flag_padding)
            for (std::size_t b = 0; b < Presorted::flag_padding; ++b)
              to[f + b] = static_cast<std::uint8_t>(to[f + b] + flags[f + b] * count);
        }
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += bytes[i];
      std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
    }
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
    const CodeTable<Weight> table = table_of<Weight>(j, work, totals, space);
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
          if (code != no_code) visit(code, side.cls, side.weight);
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

  template <class Weight>
  CodeTable<Weight> table_of(std::size_t j, const Work& work, const Totals& totals,
                             Workspace<Entry>& space) const {
    const PresortedColumn& column = growth_.data.columns[j];
    if (column.flag >= 0 && totals.flags_are_counted)
      return tabulate_flag<Weight>(j, totals, space);
    if (column.small < 0 || !totals.codes_are_counted) return tabulate<Weight>(j, work, space);
    const std::size_t n_classes = growth_.n_classes, n_codes = growth_.n_codes(j);
    const std::size_t first = growth_.first_line[static_cast<std::size_t>(column.small)];
    const std::span<const Weight> all = totals.template codes<Weight>();
    return {all.subspan(first * n_classes, n_codes * n_classes), {}, n_codes, n_classes};
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
