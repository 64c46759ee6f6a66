// Class weights by code: how the rows of a node are counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sureleaf/code_table.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf::detail {

template <class Entry>
class CodeCounter {
 public:
  CodeCounter(const Growth<Entry>& growth, Patience& patience)
      : growth_(growth), patience_(patience) {}

  // Decides what is cheaper to count for many columns together.
  void prepare(Work& work, Crew& crew, Totals& totals) const {
    const Presorted& data = growth_.data;
    totals.flags_are_counted = totals.whole && data.n_flags > 0 && growth_.largest_count <= 255;
    if (totals.flags_are_counted) count_flags(work, crew, totals);
    totals.codes_are_known = !work.code_counts.empty();
    if (totals.codes_are_known) {
      totals.code_counts.swap(work.code_counts);
      totals.codes_are_counted = true;
      return;
    }
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
    if (!totals.codes_are_counted || totals.codes_are_known) return;
    if (totals.whole) {
      Adder<std::int64_t>(growth_, work, first, last, totals.code_counts, space)
          .add(work.begin, work.begin + work.n);
      return;
    }
    const Adder<double> adder(growth_, work, first, last, totals.code_weights, space);
    adder.add(work.begin, work.begin + work.n);
    adder.add(work.side);
  }

  // The codes of a large branch are those of the node less those of its other rows, where these are
  // fewer. For the nodes that wait, the branches of this one, all of whose rows went down whole.
  void hand_down(const Work& work, const Totals& totals, std::span<Work> branches,
                 Workspace<Entry>& space) const {
    if (branches.empty() || !totals.whole || !totals.codes_are_counted) return;
    Work& largest = *std::ranges::max_element(branches, {}, &Work::n);
    const std::size_t n_others = work.n - largest.n, n_cells = totals.code_counts.size();
    const std::size_t n_columns = growth_.data.small_columns.size();
    // They are kept while the node waits, so they must be fewer than the cells of its rows.
    auto is_large = [&](std::size_t n) { return n * n_columns >= 8 * n_cells; };
    if (n_others > largest.n || !is_large(largest.n)) return;
    std::vector<std::int64_t> others(n_cells, 0);
    const Adder<std::int64_t> adder(growth_, work, 0, n_columns, others, space);
    adder.add(work.begin, largest.begin);
    adder.add(largest.begin + largest.n, work.begin + work.n);
    largest.code_counts = totals.code_counts;
    for (std::size_t i = 0; i < n_cells; ++i) largest.code_counts[i] -= others[i];
    if (branches.size() == 2)
      for (Work& branch : branches)
        if (branch.code_counts.empty() && branch.n == n_others && is_large(n_others))
          branch.code_counts = std::move(others);
  }

  template <class Weight>
  CodeTable<Weight> table_of(std::size_t j, const Work& work, const Totals& totals,
                             Workspace<Entry>& space) const {
    const PresortedColumn& column = growth_.data.columns[j];
    if (column.flag >= 0 && totals.flags_are_counted)
      return tabulate_flag<Weight>(j, totals, space);
    if (column.small < 0 || !totals.codes_are_counted) return tabulate<Weight>(j, work, space);
    const std::size_t n_classes = growth_.n_classes, n_codes = growth_.data.n_codes(j);
    const std::size_t first = growth_.first_line[static_cast<std::size_t>(column.small)];
    const std::span<const Weight> all = totals.template codes<Weight>();
    return {all.subspan(first * n_classes, n_codes * n_classes), {}, n_codes, n_classes};
  }

 private:
  // Adds rows to a table of small columns number `first` to `last`, a row's codes at a time; leaves
  // out those that the node has given up.
  template <class Weight>
  class Adder {
   public:
    Adder(const Growth<Entry>& growth, const Work& work, std::size_t first, std::size_t last,
          std::vector<Weight>& cells, Workspace<Entry>& space)
        : growth_(growth), cells_(cells), counted_(space.counted) {
      counted_.clear();
      for (std::size_t c = first; c < last; ++c)
        if (!work.is_hopeless(growth.data.small_columns[c]))
          counted_.push_back({c, growth.first_line[c] * growth.n_classes});
    }
    // Those from one place in the lists to another.
    void add(std::size_t begin, std::size_t end) const {
      const std::span<const Entry> rows(growth_.lists.back().data() + begin, end - begin);
      with_row([&](auto&& add_row) {
        auto add_all = [&](auto&& weigh) {
          for (const Entry entry : rows)
            add_row(growth_.packing.row(entry), growth_.packing.cls(entry), weigh(entry));
        };
        if constexpr (std::is_same_v<Weight, double>)
          growth_.with_weights(add_all);
        else
          growth_.with_counts(add_all);
      });
    }
    void add(std::span<const SideRow> rows) const {
      with_row([&](auto&& add_row) {
        for (const SideRow& row : rows) add_row(row.row, row.cls, row.weight);
      });
    }

   private:
    // Hands over a function that adds a row. It has copies of what does not change: the compiler
    // cannot know that it does not. Four columns at a time keep the processor busy.
    template <class Use>
    void with_row(Use&& use) const {
      const std::size_t n_columns = growth_.data.small_columns.size();
      const std::size_t n_classes = growth_.n_classes;
      const std::uint8_t* const small_codes = growth_.data.small_codes.data();
      Weight* const sums = cells_.data();
      const CountedColumn *const begin = counted_.data(), *const end = begin + counted_.size();
      const CountedColumn* const end_of_fours = begin + counted_.size() / 4 * 4;
      use([=](std::size_t row, std::size_t k, Weight w) {
        const std::uint8_t* codes = small_codes + row * n_columns;
        auto add = [=](const CountedColumn& column) {
          sums[column.first_cell + codes[column.place] * n_classes + k] += w;
        };
        const CountedColumn* column = begin;
        for (; column != end_of_fours; column += 4) {
          add(column[0]);
          add(column[1]);
          add(column[2]);
          add(column[3]);
        }
        for (; column != end; ++column) add(*column);
      });
    }

    const Growth<Entry>& growth_;
    std::vector<Weight>& cells_;
    std::vector<CountedColumn>& counted_;
  };

  // Counts all flags of the node's rows by class. Bytes are added up, a vector of them at a time,
  // and moved to wide sums before they can overflow.
  void count_flags(const Work& work, Crew& crew, Totals& totals) const {
    const std::size_t n_cells = growth_.n_classes * growth_.data.n_flags;
    totals.flag_counts.assign(n_cells, 0);
    const std::size_t n_parts = work.n < 50'000 ? 1 : crew.size();
    if (n_parts == 1) {
      totals.flag_bytes.assign(n_cells, 0);
      return add_flags(work.begin, work.begin + work.n, totals.flag_bytes, totals.flag_counts);
    }
    std::vector<std::vector<std::int64_t>> sums(n_parts, std::vector<std::int64_t>(n_cells, 0));
    crew.run(n_parts, patience_, [&](std::size_t part, std::size_t) {
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
    const std::size_t n_cells = growth_.data.n_codes(j) * growth_.n_classes;
    std::vector<Weight>& cells = space.template cells<Weight>();
    if (4 * (work.n + work.side.size()) >= n_cells) {
      cells.assign(n_cells, Weight{0});
      visit_codes<Weight>(j, work, [&](std::uint32_t code, std::size_t k, Weight w) {
        cells[code * growth_.n_classes + k] += w;
      });
      return {cells, {}, growth_.data.n_codes(j), growth_.n_classes};
    }
    auto& coded = space.template coded<Weight>();
    coded.clear();
    visit_codes<Weight>(j, work, [&](std::uint32_t code, std::size_t k, Weight w) {
      coded.push_back({code, static_cast<std::uint32_t>(k), w});
    });
    sort_by_code(coded);
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

  // Parts stay behind whole rows, so that sums are rounded as those of a full table are. Few rows
  // are sorted by insertion, for which nothing need be allocated.
  template <class Coded>
  static void sort_by_code(std::vector<Coded>& coded) {
    constexpr std::size_t few = 32;
    auto is_before = [](const Coded& a, const Coded& b) { return a.code < b.code; };
    if (coded.size() > few) return std::stable_sort(coded.begin(), coded.end(), is_before);
    for (auto at = coded.begin(); at != coded.end(); ++at)
      std::rotate(std::upper_bound(coded.begin(), at, *at, is_before), at, at + 1);
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
