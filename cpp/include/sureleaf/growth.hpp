// The state of growing a tree: lists of rows, and the weight of each row.
//
// Rows of whole weight are in lists, one list per column in the order of its values. A node has the
// same range in every list; splitting a node partitions its range of every list and keeps the
// order. Rows that went down several branches because of a missing value are in a small weighted
// list per node, so that data without missing values pays nothing for them.
//
// A tree that looks at few columns per node keeps one list only, of rows in table order, and sorts
// the rows of a node when it looks at a column (node_sorter.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "sureleaf/criterion.hpp"
#include "sureleaf/monotone.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/random.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/thread_pool.hpp"

namespace sureleaf {

// The weight of each row. Rows of weight 0 are left out.
struct RowWeights {
  std::span<const std::uint32_t> whole;  // empty: every row counts once
  std::span<const double> fractional;    // not empty: used instead
  // A row of count k stands for k rows, and its fractions are kept one by one: then the tree is
  // that of k rows to the last digit.
  bool are_copies = false;

  bool are_whole() const { return fractional.empty(); }
  bool are_unit() const { return fractional.empty() && whole.empty(); }
  std::int64_t count(std::size_t row) const { return whole.empty() ? 1 : whole[row]; }
  double weight(std::size_t row) const {
    return fractional.empty() ? static_cast<double>(count(row)) : fractional[row];
  }
  std::size_t largest_count() const {
    return whole.empty() ? 1 : *std::max_element(whole.begin(), whole.end());
  }
};

namespace detail {

inline constexpr std::uint32_t no_code = 0xFFFFFFFFu;
inline constexpr std::size_t none = static_cast<std::size_t>(-1);

// A row, or a fraction of one.
struct FractionalRow {
  std::uint32_t row;
  std::uint32_t cls;
  double weight;
};

// All ranks of a node in one column are between these two.
struct RankRange {
  std::uint32_t low, high;
};

// A node that is to be split.
struct NodeTask {
  std::size_t node = 0;
  std::size_t begin = 0, n = 0;  // its range in every list
  std::int64_t depth = 0;
  std::uint64_t key = 0;  // of random draws
  std::vector<FractionalRow> fractional_rows;
  ClassBounds bounds;
  std::vector<std::size_t> n_known;      // one per column with missing values
  std::vector<std::uint64_t> exhausted;  // one bit per column: no node below can be split on it
  std::vector<std::int64_t>
      code_counts;  // histograms of the small columns, if they follow from the parent's
  std::vector<double> code_weights;       // the same if weights are fractional and it is known
  std::vector<std::int64_t> flag_counts;  // of the flags, if they follow from the parent's
  std::vector<RankRange> rank_ranges;     // per column, if nodes are sorted

  bool is_exhausted(std::size_t j) const { return (exhausted[j / 64] >> (j % 64)) & 1; }
  void mark_exhausted(std::size_t j) { exhausted[j / 64] |= std::uint64_t{1} << (j % 64); }
};

// Where a tree starts that is grown below a node of a larger tree, on the rows of that node: all
// that depends on the larger tree.
struct NodeStart {
  std::int64_t depth = 0;
  std::uint64_t key = 0;
  ClassBounds bounds;
  std::vector<std::uint64_t> exhausted;
  double total_weight = 0;  // of the whole tree
  // Per column with thresholds, where C4.5 needs it: a row of each code; no_code if no row has it.
  std::vector<std::vector<std::uint32_t>> first_rows;
};

template <class Entry>
class Growth {
 public:
  Growth(const Presorted& presorted, std::span<const std::int32_t> row_labels,
         std::size_t number_of_classes, RowWeights row_weights, const GrowthConfig& growth_config)
      : data(presorted),
        labels(row_labels),
        n_classes(number_of_classes),
        weights(row_weights),
        config(growth_config),
        packing(data.table.n_rows, n_classes, weights.largest_count()),
        logs(make_logs()),
        largest_count(weights.largest_count()) {}

  const Presorted& data;
  std::span<const std::int32_t> labels;
  std::size_t n_classes;
  RowWeights weights;
  GrowthConfig config;
  Packing<Entry> packing;
  LogTable logs;
  std::size_t largest_count;
  std::vector<std::vector<Entry>> lists;  // one per column; the last: rows in table order
  std::vector<char> has_ties;             // per list: some of its values are equal
  // The first row of each code of a column with thresholds, where C4.5 needs it or not all codes
  // occur.
  std::vector<std::vector<std::uint32_t>> first_rows;
  std::vector<std::vector<std::uint32_t>> ranks;  // of each row's value, if rows can be fractional
  const Ranks* shared_ranks = nullptr;            // not null: nodes are sorted, see sorts_nodes()
  std::vector<char> has_missing;
  std::vector<std::size_t> missing_columns, root_known;
  std::size_t n_root = 0;
  double total_weight = 0;
  std::vector<std::size_t> first_bin;  // of each small column in the histograms of all
  std::size_t n_bins = 0;
  std::vector<std::size_t> large_columns;  // all but the small ones

  // Logarithms are scaled for the weight of the whole tree; counts are up to `highest` here.
  void set_total_weight(double total, double highest) {
    total_weight = total;
    logs = make_logs(total, highest);
  }
  // Makes the root of this growth a node of a larger tree.
  void start_below(const NodeStart& start, NodeTask& root) {
    set_total_weight(start.total_weight, total_weight);
    root.depth = start.depth;
    root.key = start.key;
    root.bounds = start.bounds;
    root.exhausted = start.exhausted;
    if (!start.first_rows.empty()) first_rows = start.first_rows;
  }

  bool takes_part(std::size_t row) const { return weights.are_unit() || weights.weight(row) > 0; }

  template <class TakeOrder>
  void make_lists(TakeOrder&& take_order, ThreadPool& pool, InterruptFlag& interrupt) {
    const std::size_t p = data.table.size();
    lists.resize(p + 1);
    has_ties.assign(p + 1, 0);
    for (const std::size_t j : data.small_columns) {
      first_bin.push_back(n_bins);
      n_bins += data.n_codes(j) + 1;
    }
    for (std::size_t j = 0; j < p; ++j)
      if (data.columns[j].small < 0) large_columns.push_back(j);
    first_rows.resize(p);
    ranks.resize(p);
    has_missing.assign(p, 0);
    root_known.assign(p, 0);
    const std::vector<Entry> entries = pack_rows();
    if (sorts_nodes()) shared_ranks = &data.ranks(pool, interrupt);
    pool.run(p, interrupt, [&](std::size_t j, std::size_t) {
      const PresortedColumn& column = data.columns[j];
      if (!has_list(j)) return;
      std::vector<std::uint32_t> order = take_order(j);
      if (rows_may_be_fractional()) ranks[j] = ranks_of(order, column.n_known);
      lists[j] = pack_list(std::move(order), column.n_known, entries, root_known[j]);
      has_ties[j] = has_ties_in(std::span(lists[j]).first(root_known[j]));
    });
    bool any_codes = false;
    for (std::size_t j = 0; j < p; ++j) {
      any_codes = any_codes || !has_list(j);
      if (has_list(j)) {
        n_root = lists[j].size();
        if (root_known[j] < lists[j].size()) has_missing[j] = 1;
      }
    }
    for (std::size_t j = 0; j < p; ++j)
      if (has_missing[j]) missing_columns.push_back(j);
    if (!any_codes && p > 0) return;
    std::vector<Entry>& rows = lists[p];
    std::ranges::copy_if(entries, std::back_inserter(rows), is_taken);
    n_root = rows.size();
    pool.run(p, interrupt, [&](std::size_t j, std::size_t) {
      const bool are_few = !data.columns[j].is_ordered_list() && data.table[j].has_thresholds();
      const bool may_lack = data.columns[j].may_lack_codes || !weights.are_unit();
      if (needs_rows_of_codes() && are_few && (needs_gap(j) || may_lack))
        first_rows[j] = first_rows_of_codes(j);
    });
  }

  // Whether the column has a sorted list.
  bool has_list(std::size_t j) const {
    return data.columns[j].is_ordered_list() && shared_ranks == nullptr;
  }

  std::size_t label(std::size_t row) const { return static_cast<std::size_t>(labels[row]); }

  Entry pack(std::size_t row, bool increases) const {
    const std::int64_t count = weights.are_whole() ? weights.count(row) : 1;
    return packing.pack(row, label(row), static_cast<std::size_t>(count), increases);
  }

  std::int64_t count_of(Entry entry) const {
    return packing.holds_counts() ? packing.count(entry) : weights.count(packing.row(entry));
  }

  // Hands over a function from entry to whole weight, for loops in which a branch would cost time.
  template <class Use>
  void with_counts(Use&& use) const {
    if (weights.are_unit())
      use([](Entry) { return std::int64_t{1}; });
    else if (packing.holds_counts())
      use([this](Entry entry) { return packing.count(entry); });
    else
      use([this](Entry entry) { return weights.count(packing.row(entry)); });
  }

  // The same for weights of any kind.
  template <class Use>
  void with_weights(Use&& use) const {
    if (weights.are_whole())
      with_counts([&](auto&& count) {
        use([&](Entry entry) { return static_cast<double>(count(entry)); });
      });
    else
      use([this](Entry entry) { return weights.fractional[packing.row(entry)]; });
  }

  std::size_t n_known(std::size_t j, const NodeTask& task) const {
    if (!has_missing[j]) return task.n;
    return task.n_known[missing_index(j)];
  }

  // The position of a column among those with missing values.
  std::size_t missing_index(std::size_t j) const {
    const auto at = std::lower_bound(missing_columns.begin(), missing_columns.end(), j);
    return static_cast<std::size_t>(at - missing_columns.begin());
  }

  bool needs_gap(std::size_t j) const {
    return config.threshold_rule() == ThresholdRule::c45 && !data.columns[j].gaps_are_wide;
  }
  bool needs_rows_of_codes() const { return config.threshold_rule() == ThresholdRule::c45; }

  // The bins of a column's histogram: its codes and, if missing values take a branch, one more.
  std::size_t n_bins_of(std::size_t j) const {
    return data.n_codes(j) + (has_missing_bin(j) ? 1 : 0);
  }
  bool has_missing_bin(std::size_t j) const {
    return config.missing_takes_branch() && data.columns[j].has_missing;
  }

  // Hands over a function from row to code (`no_code` if the value is missing); the code of a value
  // in a column that has no list, but many values, is its rank.
  template <class Use>
  void with_codes(std::size_t j, Use&& use) const {
    const PresortedColumn& column = data.columns[j];
    if (column.is_ordered_list()) {
      const std::uint32_t* table = shared_ranks->table.data() + shared_ranks->position[j];
      use([table, step = shared_ranks->n_per_row](std::size_t row) { return table[row * step]; });
    } else if (column.codes_in_table) {
      const Column& source = data.table[j];
      use([&source](std::size_t row) -> std::uint32_t {
        const std::int32_t code = source.code(row);
        return code < 0 ? no_code : static_cast<std::uint32_t>(code);
      });
    } else {
      const auto [codes, step] = data.small_codes_of(j);
      const std::size_t missing = data.n_codes(j);
      use([codes = codes, step = step, missing](std::size_t row) -> std::uint32_t {
        const std::uint8_t code = codes[row * step];
        return code == missing ? no_code : code;
      });
    }
  }

  // The node's range of the column's list, or of the rows in table order if it has none.
  std::span<const Entry> source_list(std::size_t j, const NodeTask& task) const {
    const std::vector<Entry>& list = has_list(j) ? lists[j] : lists.back();
    return {list.data() + task.begin, task.n};
  }

  bool is_leaf(std::span<const double> class_weights, std::int64_t depth) const {
    double total = 0, largest = 0;
    for (const double w : class_weights) {
      total += w;
      largest = std::max(largest, w);
    }
    return depth >= config.max_depth || 2 * config.min_samples_leaf - total > c45_slack ||
           total - largest < c45_slack;
  }

  // The root; its class totals are added to `totals`.
  NodeTask make_root(std::span<double> totals) {
    for (std::size_t row = 0; row < data.table.n_rows; ++row)
      if (takes_part(row)) totals[label(row)] += weights.weight(row);
    total_weight = std::accumulate(totals.begin(), totals.end(), 0.0);
    NodeTask root;
    root.n = n_root;
    root.key = root_key(config.seed, config.tree);
    if (config.is_monotone()) root.bounds.start(n_classes);
    root.exhausted.assign(data.table.size() / 64 + 1, 0);
    for (const std::size_t j : missing_columns) root.n_known.push_back(root_known[j]);
    if (shared_ranks != nullptr)
      for (const std::vector<std::uint32_t>& rows : shared_ranks->row_of_rank)
        root.rank_ranges.push_back(
            {0, static_cast<std::uint32_t>(std::max<std::size_t>(rows.size(), 1) - 1)});
    return root;
  }

 private:
  // Whether sorting the columns that are drawn is faster than partitioning the lists of all. Sorted
  // entries hold a rank instead of a row, so they must hold the count. With more classes than two
  // there is no search by buckets, and nothing is gained.
  bool sorts_nodes() const {
    constexpr std::size_t cost_of_sorting = 3;
    const bool draws_few =
        config.max_features > 0 && cost_of_sorting * config.max_features <= data.table.size();
    return draws_few && n_classes == 2 && config.criterion == criterion_id<Gini> &&
           !config.is_monotone() && (weights.are_unit() || packing.holds_counts()) &&
           !rows_may_be_fractional();
  }

  // If values are missing, rows go down several branches.
  bool rows_may_be_fractional() const {
    if (config.missing_takes_branch()) return false;
    return std::any_of(data.columns.begin(), data.columns.end(), [&](const auto& column) {
      return column.is_ordered_list() ? column.n_known < data.table.n_rows : column.has_missing;
    });
  }

  static std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& order,
                                             std::size_t n_known) {
    std::vector<std::uint32_t> result(order.size(), no_code);
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < n_known; ++i) {
      if (order[i] & increase_bit) ++rank;
      result[order[i] & ~increase_bit] = rank;
    }
    return result;
  }

  LogTable make_logs() const {
    double total = 0;
    for (std::size_t row = 0; row < data.table.n_rows; ++row) total += weights.weight(row);
    return make_logs(total, total);
  }
  LogTable make_logs(double total, double highest) const {
    // Fractional weights have no table, and their sum may exceed any whole number.
    const bool stored = config.needs_logs() && weights.are_whole();
    const std::size_t largest = stored ? static_cast<std::size_t>(total) + 1 : 1;
    const std::size_t n_stored = stored ? static_cast<std::size_t>(highest) + 2 : 1;
    // Few rows of large weights look up few of the counts: filling a table of all would take most
    // of the time.
    const std::size_t most = std::min(8 * data.table.n_rows + 2, std::size_t{1} << 23);
    return LogTable(largest, std::min(n_stored, most));
  }

  // The entry of each row. One that does not take part is marked, which no other row is here.
  std::vector<Entry> pack_rows() const {
    std::vector<Entry> entries(data.table.n_rows);
    for (std::size_t row = 0; row < entries.size(); ++row)
      entries[row] = takes_part(row) ? pack(row, false) : Packing<Entry>::increase;
    return entries;
  }
  static bool is_taken(Entry entry) { return !(entry & Packing<Entry>::increase); }

  // The list of one column: the rows that take part, in order, with their classes. Made in the
  // memory of the order itself if the types agree. No branch depends on whether a row takes part.
  std::vector<Entry> pack_list(std::vector<std::uint32_t> order, std::size_t n_known,
                               std::span<const Entry> entries, std::size_t& known_kept) const {
    std::vector<Entry> list;
    if constexpr (std::is_same_v<Entry, std::uint32_t>)
      list = std::move(order);
    else
      list.assign(order.begin(), order.end());
    auto mark_of = [](std::uint32_t item) {
      return item & increase_bit ? Packing<Entry>::increase : Entry{0};
    };
    if (weights.are_unit()) {
      for (Entry& entry : list) {
        const auto item = static_cast<std::uint32_t>(entry);
        entry = entries[item & ~increase_bit] | mark_of(item);
      }
      known_kept = n_known;
      return list;
    }
    std::size_t kept = 0;
    Entry mark = 0;  // of the rows since the last one that was kept
    auto pack_part = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const auto item = static_cast<std::uint32_t>(list[i]);
        const Entry entry = entries[item & ~increase_bit];
        mark |= mark_of(item);
        list[kept] = entry | mark;
        kept += is_taken(entry);
        mark = is_taken(entry) ? Entry{0} : mark;
      }
    };
    pack_part(0, n_known);
    known_kept = kept;
    pack_part(n_known, list.size());
    list.resize(kept);
    list.shrink_to_fit();  // a bootstrap leaves out every third row
    return list;
  }

  static bool has_ties_in(std::span<const Entry> known) {
    return !std::all_of(known.begin() + !known.empty(), known.end(),
                        [](Entry entry) { return (entry & Packing<Entry>::increase) != 0; });
  }

  std::vector<std::uint32_t> first_rows_of_codes(std::size_t j) const {
    // The last entry is that of missing values.
    std::vector<std::uint32_t> first_row(data.n_codes(j) + 1, no_code);
    const auto [codes, step] = data.small_codes_of(j);
    for (auto entry = lists.back().rbegin(); entry != lists.back().rend(); ++entry) {
      const std::size_t row = packing.row(*entry);
      first_row[codes[row * step]] = static_cast<std::uint32_t>(row);
    }
    return first_row;
  }
};

}  // namespace detail

}  // namespace sureleaf
