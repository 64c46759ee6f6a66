// Histograms: class weights per code of a column. How they are counted, and the splits that are
// found in them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sureleaf/criterion.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf {

// Class weights per code, one bin per code; if only few codes occur, only their bins.
template <class Weight>
struct Histogram {
  std::span<const Weight> cells;
  std::span<const std::uint32_t> codes;  // empty: bin i is code i
  std::size_t n_bins, n_classes;

  std::size_t code(std::size_t bin) const { return codes.empty() ? bin : codes[bin]; }
  std::span<const Weight> weights(std::size_t bin) const {
    return cells.subspan(bin * n_classes, n_classes);
  }
  Weight weight(std::size_t bin) const {
    const Weight* at = cells.data() + bin * n_classes;
    if (n_classes == 2) return at[0] + at[1];
    Weight sum = 0;
    for (std::size_t k = 0; k < n_classes; ++k) sum += at[k];
    return sum;
  }
  // The bin of a code, which is the last one if the code occurs at all.
  bool has_last_code(std::size_t code_) const {
    return n_bins > 0 && code(n_bins - 1) == code_ && !is_empty(n_bins - 1);
  }
  bool is_empty(std::size_t bin) const {
    const Weight* at = cells.data() + bin * n_classes;
    std::uint64_t bits = std::bit_cast<std::uint64_t>(at[0]) | std::bit_cast<std::uint64_t>(at[1]);
    for (std::size_t k = 2; k < n_classes; ++k) bits |= std::bit_cast<std::uint64_t>(at[k]);
    return bits == 0;
  }
  // Calls visit(bin) for the bins with any weight, in order, and returns their number. Bins are
  // selected without a branch: most bins of a small node are empty, which is hard to predict.
  template <class Visit>
  std::size_t visit_bins(Visit&& visit) const {
    std::size_t n_visited = 0;
    for (std::size_t first = 0; first < n_bins; first += 64) {
      std::uint64_t occurs = 0;
      for (std::size_t bin = std::min(n_bins, first + 64); bin-- > first;)
        occurs = 2 * occurs + (is_empty(bin) ? 0 : 1);
      n_visited += static_cast<std::size_t>(std::popcount(occurs));
      for (; occurs != 0; occurs &= occurs - 1)
        visit(first + static_cast<std::size_t>(std::countr_zero(occurs)));
    }
    return n_visited;
  }
};

// Thresholds between codes. Missing values, if they have a bin, are the last code and stay on the
// right: the last threshold tests whether a value is missing.
template <class Weight, class Scorer>
void scan_codes(const Histogram<Weight>& table, Scorer scorer, const PresortedColumn& column,
                bool needs_gap, BestThreshold& best, Candidate& candidate) {
  bool started = false;
  std::size_t before = 0;
  const std::size_t code_of_missing = column.values.size();
  const std::size_t n_values = table.visit_bins([&](std::size_t bin) {
    const std::size_t code = table.code(bin);
    if (started &&
        (!needs_gap || code == code_of_missing ||
         column.values[before] + c45_gap < column.values[code]) &&
        best.offer(scorer, code != code_of_missing)) {
      candidate.tests_missing = code == code_of_missing;
      candidate.cut = before;
      candidate.below = static_cast<std::uint32_t>(before);
      candidate.above = static_cast<std::uint32_t>(code);
    }
    const std::span<const Weight> weights = table.weights(bin);
    // Moving a weight of 0 is cheaper than a mispredicted branch, unless it needs table look-ups.
    for (std::size_t k = 0; k < table.n_classes; ++k)
      if (std::is_same_v<Weight, double> || weights[k] > 0) scorer.move(k, weights[k]);
    before = code;
    started = true;
  });
  candidate.exhausted = n_values < 2;
}

// The same with missing values on the left.
template <class Weight, class Scorer>
void scan_codes_missing_left(const Histogram<Weight>& table, Scorer scorer,
                             const PresortedColumn& column, bool needs_gap, BestThreshold& best,
                             Candidate& candidate) {
  const std::size_t missing_bin = table.n_bins - 1;
  auto move = [&](std::size_t bin) {
    const std::span<const Weight> weights = table.weights(bin);
    for (std::size_t k = 0; k < table.n_classes; ++k)
      if (weights[k] > 0) scorer.move(k, weights[k]);
  };
  move(missing_bin);
  bool started = false;
  std::size_t before = 0;
  table.visit_bins([&](std::size_t bin) {
    if (bin == missing_bin) return;
    const std::size_t code = table.code(bin);
    if (started && (!needs_gap || column.values[before] + c45_gap < column.values[code]) &&
        best.offer(scorer)) {
      candidate.missing_branch = 0;
      candidate.tests_missing = false;
      candidate.cut = before;
      candidate.below = static_cast<std::uint32_t>(before);
      candidate.above = static_cast<std::uint32_t>(code);
    }
    move(bin);
    before = code;
    started = true;
  });
}

// One branch per category. `known` is the part of the node whose value is known.
template <class Impurity, class Weight>
void split_multiway(const Histogram<Weight>& table, const Group& node, const Group& known,
                    const GrowthConfig& config, const MonotoneCheck* check, Candidate& candidate) {
  double after = 0, branch_logs = 0;
  std::size_t n_heavy = 0;
  bool is_allowed = true;
  const double least =
      std::max(config.min_samples_leaf - c45_slack, std::numeric_limits<double>::min());
  table.visit_bins([&](std::size_t bin) {
    const std::span<const Weight> weights = table.weights(bin);
    const auto weight = static_cast<double>(table.weight(bin));
    const auto largest = static_cast<double>(*std::max_element(weights.begin(), weights.end()));
    if (weight >= least) ++n_heavy;
    is_allowed = is_allowed && (check == nullptr || check->is_within(weights));
    const bool is_mixed = largest < weight;
    const double log =
        config.has_c45_rules() || (is_mixed && Impurity::needs_logs) ? xlog2x(weight) : 0.0;
    branch_logs += log;
    if (is_mixed) after += Impurity::impurity(weights, weight, log);
  });
  if (n_heavy < 2) {
    candidate.exhausted = true;
    return;
  }
  if (!is_allowed) return;
  double penalty = 0;
  if (config.has_category_penalty()) {
    std::vector<double> sizes, totals(table.n_classes, 0.0);
    table.visit_bins([&](std::size_t bin) {
      sizes.push_back(static_cast<double>(table.weight(bin)));
      for (std::size_t k = 0; k < totals.size(); ++k)
        totals[k] += static_cast<double>(table.weights(bin)[k]);
    });
    penalty = config.category_penalty * category_cost<Impurity>(totals, {sizes, false});
  }
  const double gain = known.impurity - after - penalty;
  candidate.gain = gain / node.weight;
  // Without penalty whatever the gain: C4.5's average gain includes gains of 0.
  candidate.valid = penalty == 0 || gain > tie_share * known.impurity;
  if (config.has_c45_rules())
    candidate.split_info =
        (node.weight_log - branch_logs - xlog2x(node.weight - known.weight)) / node.weight;
}

}  // namespace sureleaf

namespace sureleaf::detail {

template <class Entry>
class HistogramBuilder {
 public:
  HistogramBuilder(const Growth<Entry>& growth, InterruptFlag& interrupt)
      : growth_(growth), interrupt_(interrupt) {}

  // Decides which columns are counted together.
  void prepare(NodeTask& task, ThreadPool& pool, Totals& totals) const {
    const Presorted& data = growth_.data;
    totals.flags_are_counted = totals.whole && data.n_flags > 0 && growth_.largest_count <= 255;
    if (!task.flag_counts.empty())
      totals.flag_counts = std::exchange(task.flag_counts, {});
    else if (totals.flags_are_counted)
      count_flags(task, pool, totals);
    totals.codes_are_inherited = !task.code_counts.empty() || !task.code_weights.empty();
    if (totals.codes_are_inherited) {
      totals.code_counts.swap(task.code_counts);
      totals.code_weights.swap(task.code_weights);
      totals.codes_are_counted = true;
      return;
    }
    // Clearing and scanning the bins must not cost more than counting the rows.
    const std::size_t n_rows = task.n + task.fractional_rows.size();
    const std::size_t n_small =
        totals.is_drawn.empty() ? data.small_columns.size() : totals.n_drawn_small;
    totals.codes_are_counted = 4 * n_rows * n_small >= growth_.n_bins && n_small > 0;
    if (!totals.codes_are_counted) return;
    const std::size_t n_cells = growth_.n_bins * growth_.n_classes;
    if (totals.whole)
      totals.code_counts.assign(n_cells, 0);
    else
      totals.code_weights.assign(n_cells, 0.0);
  }

  void count_small_columns(const NodeTask& task, std::size_t first, std::size_t last,
                           Totals& totals, Workspace<Entry>& space) const {
    if (!totals.codes_are_counted || totals.codes_are_inherited) return;
    if (totals.whole) {
      RowCounter<std::int64_t>(growth_, task, totals, first, last, totals.code_counts, space)
          .add(task.begin, task.begin + task.n);
      return;
    }
    const RowCounter<double> counter(growth_, task, totals, first, last, totals.code_weights,
                                     space);
    counter.add(task.begin, task.begin + task.n);
    counter.add(task.fractional_rows);
  }

  // Whether a node of n rows gives histograms to its children. They are kept while a node is
  // queued, so they must be small compared with its rows.
  bool passes_down(std::size_t n, const Totals& totals) const {
    return totals.whole && totals.codes_are_counted && totals.is_drawn.empty() &&
           n * growth_.data.small_columns.size() >= 8 * totals.code_counts.size();
  }

  // The same for the counts of flags, which take a line per class.
  bool passes_flags_down(std::size_t n, const Totals& totals) const {
    return totals.whole && totals.flags_are_counted && n >= 8 * growth_.n_classes;
  }

  // Gives histograms to the children that are to be split, if all rows of the node went down whole.
  // The histogram of the largest child is that of the node minus that of the other rows, which are
  // fewer.
  void pass_down(const NodeTask& task, const Totals& totals, std::span<NodeTask> branches,
                 Workspace<Entry>& space, ThreadPool& pool) const {
    if (branches.empty()) return;
    NodeTask& largest = *std::ranges::max_element(branches, {}, &NodeTask::n);
    const std::size_t n_rest = task.n - largest.n;
    if (n_rest > largest.n) return;
    NodeTask* sibling = nullptr;  // that has all of the other rows
    if (branches.size() == 2) sibling = &branches[&largest == &branches[0] ? 1 : 0];
    if (sibling != nullptr && sibling->n != n_rest) sibling = nullptr;
    auto pass = [&](std::vector<std::int64_t> NodeTask::* counts, std::vector<std::int64_t> rest,
                    const std::vector<std::int64_t>& all, bool to_sibling) {
      largest.*counts = all;
      for (std::size_t i = 0; i < all.size(); ++i) (largest.*counts)[i] -= rest[i];
      if (sibling != nullptr && to_sibling) sibling->*counts = std::move(rest);
    };
    if (passes_down(largest.n, totals))
      pass(&NodeTask::code_counts, count_around(task, largest, totals, space, pool),
           totals.code_counts, passes_down(n_rest, totals));
    if (passes_flags_down(largest.n, totals))
      pass(&NodeTask::flag_counts, count_flags_around(task, largest, pool), totals.flag_counts,
           passes_flags_down(n_rest, totals));
  }

  template <class Weight>
  Histogram<Weight> histogram_of(std::size_t j, const NodeTask& task, const Totals& totals,
                                 Workspace<Entry>& space) const {
    const PresortedColumn& column = growth_.data.columns[j];
    if (column.flag >= 0 && totals.flags_are_counted)
      return flag_histogram<Weight>(j, totals, space);
    if (column.small < 0 || !totals.codes_are_counted) return count_column<Weight>(j, task, space);
    const std::size_t n_classes = growth_.n_classes, n_bins = growth_.n_bins_of(j);
    const std::size_t first = growth_.first_bin[static_cast<std::size_t>(column.small)];
    const std::span<const Weight> all = totals.template codes<Weight>();
    return {all.subspan(first * n_classes, n_bins * n_classes), {}, n_bins, n_classes};
  }

 private:
  // The histograms of the rows of a node that are not in one of its children.
  std::vector<std::int64_t> count_around(const NodeTask& task, const NodeTask& child,
                                         const Totals& totals, Workspace<Entry>& space,
                                         ThreadPool& pool) const {
    const std::size_t n_parts = n_parts_of(task.n - child.n, pool);
    std::vector<std::vector<std::int64_t>> parts(n_parts);
    std::vector<RowCounter<std::int64_t>> counters;
    counters.reserve(n_parts);
    for (std::vector<std::int64_t>& cells : parts) {
      cells.assign(totals.code_counts.size(), 0);
      counters.emplace_back(growth_, task, totals, 0, growth_.data.small_columns.size(), cells,
                            space);
    }
    visit_around(
        task, child, n_parts, pool,
        [&](std::size_t i, std::size_t begin, std::size_t end) { counters[i].add(begin, end); });
    return sum_of(parts);
  }

  std::vector<std::int64_t> count_flags_around(const NodeTask& task, const NodeTask& child,
                                               ThreadPool& pool) const {
    std::vector<std::vector<std::int64_t>> parts(n_parts_of(task.n - child.n, pool));
    for (std::vector<std::int64_t>& counts : parts) counts.assign(n_flag_cells(), 0);
    visit_around(task, child, parts.size(), pool,
                 [&](std::size_t i, std::size_t begin, std::size_t end) {
                   add_flags(begin, end, parts[i]);
                 });
    return sum_of(parts);
  }

  static std::size_t n_parts_of(std::size_t n_rows, const ThreadPool& pool) {
    constexpr std::size_t least_rows = 1 << 14;  // per thread
    return std::clamp<std::size_t>(n_rows / least_rows, 1, pool.size());
  }

  // Calls visit(part, begin, end) with positions in the lists, which together are the rows of a
  // node that are not in one of its children; each thread takes some of the rows.
  template <class Visit>
  void visit_around(const NodeTask& task, const NodeTask& child, std::size_t n_parts,
                    ThreadPool& pool, Visit&& visit) const {
    const std::size_t n_rows = task.n - child.n, n_before = child.begin - task.begin;
    auto visit_part = [&](std::size_t i) {
      const std::size_t begin = i * n_rows / n_parts, end = (i + 1) * n_rows / n_parts;
      const std::size_t middle = std::clamp(n_before, begin, end);
      visit(i, task.begin + begin, task.begin + middle);
      visit(i, task.begin + middle + child.n, task.begin + end + child.n);
    };
    if (n_parts == 1)
      visit_part(0);
    else
      pool.run(n_parts, interrupt_, [&](std::size_t i, std::size_t) { visit_part(i); });
  }

  static std::vector<std::int64_t> sum_of(std::vector<std::vector<std::int64_t>>& parts) {
    for (std::size_t i = 1; i < parts.size(); ++i)
      std::ranges::transform(parts[0], parts[i], parts[0].begin(), std::plus<>{});
    return std::move(parts[0]);
  }

  // Adds rows to the histograms of small columns `first` to `last`, all codes of a row at a time;
  // exhausted columns, and those that are not drawn, are left out.
  template <class Weight>
  class RowCounter {
   public:
    RowCounter(const Growth<Entry>& growth, const NodeTask& task, const Totals& totals,
               std::size_t first, std::size_t last, std::vector<Weight>& cells,
               Workspace<Entry>& space)
        : growth_(growth), cells_(cells), counted_(space.counted) {
      counted_.clear();
      for (std::size_t c = first; c < last; ++c)
        if (!task.is_exhausted(growth.data.small_columns[c]) &&
            !totals.skips(growth.data.small_columns[c]))
          counted_.push_back({c, growth.first_bin[c] * growth.n_classes});
    }
    // Adds the rows from one position of the lists to another.
    void add(std::size_t begin, std::size_t end) const {
      const std::span<const Entry> rows(growth_.lists.back().data() + begin, end - begin);
      with_row([&](auto&& add_row) {
        // Rows of a small node are far apart: their codes are fetched ahead.
        constexpr std::size_t n_ahead = 16;
        const std::uint8_t* const codes = growth_.data.small_codes.data();
        const std::size_t step = growth_.data.small_columns.size();
        const Packing<Entry> packing = growth_.packing;
        auto add_all = [&](auto&& weigh) {
          const std::size_t n_fetched = rows.size() < n_ahead ? 0 : rows.size() - n_ahead;
          for (std::size_t i = 0; i < n_fetched; ++i) {
            __builtin_prefetch(codes + packing.row(rows[i + n_ahead]) * step);
            add_row(packing.row(rows[i]), packing.cls(rows[i]), weigh(rows[i]));
          }
          for (const Entry entry : rows.subspan(n_fetched))
            add_row(packing.row(entry), packing.cls(entry), weigh(entry));
        };
        if constexpr (std::is_same_v<Weight, double>)
          growth_.with_weights(add_all);
        else
          growth_.with_counts(add_all);
      });
    }
    void add(std::span<const FractionalRow> rows) const {
      with_row([&](auto&& add_row) {
        for (const FractionalRow& row : rows) add_row(row.row, row.cls, row.weight);
      });
    }

   private:
    // Hands over a function that adds a row. It has copies of all that stays the same, because the
    // compiler cannot know that it does. Four columns at a time keep the processor busy.
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
          sums[column.first_cell + codes[column.position] * n_classes + k] += w;
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

  std::size_t n_flag_cells() const { return growth_.n_classes * growth_.data.n_flags; }

  // Counts all flags of the node's rows by class.
  void count_flags(const NodeTask& task, ThreadPool& pool, Totals& totals) const {
    const std::size_t n_parts = n_parts_of(task.n, pool);
    totals.flag_counts.assign(n_flag_cells(), 0);
    if (n_parts == 1) return add_flags(task.begin, task.begin + task.n, totals.flag_counts);
    std::vector<std::vector<std::int64_t>> parts(n_parts, totals.flag_counts);
    pool.run(n_parts, interrupt_, [&](std::size_t i, std::size_t) {
      add_flags(task.begin + i * task.n / n_parts, task.begin + (i + 1) * task.n / n_parts,
                parts[i]);
    });
    totals.flag_counts = sum_of(parts);
  }

  // Bytes are summed, a vector at a time, and moved to wide sums before they can overflow.
  void add_flags(std::size_t at, std::size_t end, std::vector<std::int64_t>& sum) const {
    if (at == end) return;
    std::vector<std::uint8_t> bytes(sum.size(), 0);
    const std::size_t n_flags = growth_.data.n_flags;
    const std::size_t n_at_once = 255 / growth_.largest_count;
    constexpr std::size_t n_ahead = 16;  // rows whose flags are fetched ahead
    const Entry* rows = growth_.lists.back().data();
    while (at < end) {
      const std::size_t stop = std::min(end, at + n_at_once);
      for (; at < stop; ++at) {
        const Entry later = rows[std::min(at + n_ahead, end - 1)];
        __builtin_prefetch(growth_.data.flags_of(growth_.packing.row(later)));
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

  // Calls visit(code, class, weight) for the node's rows whose value is known, or has a bin.
  template <class Weight, class Visit>
  void visit_codes(std::size_t j, const NodeTask& task, Visit&& visit) const {
    const std::span<const Entry> rows(growth_.lists.back().data() + task.begin, task.n);
    const std::uint32_t missing =
        growth_.has_missing_bin(j) ? static_cast<std::uint32_t>(growth_.data.n_codes(j)) : no_code;
    auto each = [&](auto&& code_of) {
      for (const Entry entry : rows) {
        const std::size_t row = growth_.packing.row(entry);
        std::uint32_t code = code_of(row);
        if (code == no_code) code = missing;
        if (code == no_code) continue;
        if constexpr (std::is_same_v<Weight, double>)
          visit(code, growth_.packing.cls(entry), growth_.weights.weight(row));
        else
          visit(code, growth_.packing.cls(entry), growth_.count_of(entry));
      }
      if constexpr (std::is_same_v<Weight, double>)
        for (const FractionalRow& item : task.fractional_rows) {
          const std::uint32_t code = code_of(item.row);
          if (code != no_code) visit(code, item.cls, item.weight);
        }
    };
    growth_.with_codes(j, each);
  }

  template <class Weight>
  Histogram<Weight> count_column(std::size_t j, const NodeTask& task,
                                 Workspace<Entry>& space) const {
    const std::size_t n_bins = growth_.n_bins_of(j), n_cells = n_bins * growth_.n_classes;
    std::vector<Weight>& cells = space.template cells<Weight>();
    if (4 * (task.n + task.fractional_rows.size()) >= n_cells) {
      cells.assign(n_cells, Weight{0});
      visit_codes<Weight>(j, task, [&](std::uint32_t code, std::size_t k, Weight w) {
        cells[code * growth_.n_classes + k] += w;
      });
      return {cells, {}, n_bins, growth_.n_classes};
    }
    auto& coded = space.template coded<Weight>();
    coded.clear();
    visit_codes<Weight>(j, task, [&](std::uint32_t code, std::size_t k, Weight w) {
      coded.push_back({code, static_cast<std::uint32_t>(k), w});
    });
    sort_by_code(coded);
    cells.clear();
    space.bin_codes.clear();
    for (const auto& item : coded) {
      if (space.bin_codes.empty() || space.bin_codes.back() != item.code) {
        space.bin_codes.push_back(item.code);
        cells.resize(cells.size() + growth_.n_classes, Weight{0});
      }
      cells[cells.size() - growth_.n_classes + item.cls] += item.weight;
    }
    return {cells, space.bin_codes, space.bin_codes.size(), growth_.n_classes};
  }

  // Fractional rows stay behind whole rows, so that sums are rounded as in a full histogram. Few
  // rows are sorted by insertion, which needs no allocation.
  template <class Coded>
  static void sort_by_code(std::vector<Coded>& coded) {
    constexpr std::size_t few = 32;
    auto is_before = [](const Coded& a, const Coded& b) { return a.code < b.code; };
    if (coded.size() > few) return std::stable_sort(coded.begin(), coded.end(), is_before);
    for (auto at = coded.begin(); at != coded.end(); ++at)
      std::rotate(std::upper_bound(coded.begin(), at, *at, is_before), at, at + 1);
  }

  // The histogram of a flag; without bins if all rows of the node have the same flag.
  template <class Weight>
  Histogram<Weight> flag_histogram(std::size_t j, const Totals& totals,
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
  InterruptFlag& interrupt_;
};

}  // namespace sureleaf::detail
