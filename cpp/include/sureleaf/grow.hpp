// Growing a tree. Rows of whole weight stand in lists, one a column in the order of its values,
// cut into a stretch a node; splitting a node splits its stretch of every list and keeps the order.
// Rows that a missing value has sent down several branches are in a small weighted list of the
// node's own, so that data without missing values pays nothing for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "sureleaf/arena.hpp"
#include "sureleaf/impurity.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/subset.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/threshold.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// How much each row counts. Rows of weight zero take no part at all.
struct RowWeights {
  std::span<const std::uint32_t> whole;  // empty: every row counts once
  std::span<const double> fractional;    // not empty: used instead

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

struct SideRow {
  std::uint32_t row;
  double weight;
};

// A node that waits to be split.
struct Work {
  std::size_t node = 0;
  std::size_t begin = 0, n = 0;  // its stretch of every list
  std::int64_t depth = 0;
  std::vector<SideRow> side;
  std::vector<std::size_t> n_known;  // a column with gaps each
};

// One row of a column in a node with fractional weights.
struct WeighedValue {
  double value;
  double weight;
  std::uint32_t cls;
  bool in_list;
};

template <class Weight>
struct CodedRow {
  std::uint32_t code;
  std::uint32_t cls;
  Weight weight;
};

// What one thread writes while it works, allocated once.
template <class Entry>
struct Workspace {
  explicit Workspace(std::size_t n_classes)
      : count_sides(n_classes),
        weight_sides(n_classes),
        known_counts(n_classes),
        known_weights(n_classes) {}

  std::vector<Entry> scratch;
  std::vector<std::uint64_t> goes_right;  // a bit a row
  std::vector<std::uint32_t> branch_of;   // a row's branch, where bits do not do
  Sides<std::int64_t> count_sides;
  Sides<double> weight_sides;
  std::vector<std::int64_t> known_counts, count_cells;
  std::vector<double> known_weights, weight_cells;
  std::vector<std::uint32_t> line_codes;
  std::vector<CodedRow<std::int64_t>> coded_counts;
  std::vector<CodedRow<double>> coded_weights;
  std::vector<WeighedValue> values;

  template <class Weight>
  auto& sides() {
    if constexpr (std::is_same_v<Weight, double>)
      return weight_sides;
    else
      return count_sides;
  }
  template <class Weight>
  auto& known() {
    if constexpr (std::is_same_v<Weight, double>)
      return known_weights;
    else
      return known_counts;
  }
  template <class Weight>
  auto& cells() {
    if constexpr (std::is_same_v<Weight, double>)
      return weight_cells;
    else
      return count_cells;
  }
  template <class Weight>
  auto& coded() {
    if constexpr (std::is_same_v<Weight, double>)
      return coded_weights;
    else
      return coded_counts;
  }
};

// Class totals of the node at hand, as counts where they are whole.
struct Totals {
  std::vector<std::int64_t> counts;
  std::vector<double> weights;
  double weight = 0, impurity = 0;  // the impurity is times the weight
  bool whole = false;
  std::vector<std::int64_t> flag_counts;  // rows with each flag set, a line a class

  template <class Weight>
  std::span<const Weight> of() const {
    if constexpr (std::is_same_v<Weight, double>)
      return weights;
    else
      return counts;
  }
};

inline constexpr std::uint32_t no_code = 0xFFFFFFFFu;

template <class Entry>
class Grower {
 public:
  Grower(const Presorted& data, std::span<const std::int32_t> labels, std::size_t n_classes,
         RowWeights weights, const GrowthRules& rules, std::size_t n_threads, Patience& patience)
      : data_(data),
        labels_(labels),
        n_classes_(n_classes),
        weights_(weights),
        rules_(rules),
        n_threads_(std::max<std::size_t>(1, n_threads)),
        patience_(patience),
        packing_(data.table.n_rows, n_classes, weights.largest_count()),
        logs_(make_logs()) {
    for (std::size_t t = 0; t < n_threads_; ++t) workspaces_.emplace_back(n_classes);
  }

  // `order` is where the lists are made from: the shared order, or one that may be used up.
  template <class TakeOrder>
  Tree run(TakeOrder&& take_order) {
    make_lists(take_order);
    Arena arena(n_classes_);
    Work root = make_root(arena);
    std::vector<Work> tasks = grow_top(std::move(root), arena);
    std::vector<Arena> grown(tasks.size(), Arena(n_classes_));
    run_jobs(tasks.size(), n_threads_, patience_, [&](std::size_t i, std::size_t thread) {
      grown[i].adopt_root(arena, tasks[i].node);
      arena.nodes[tasks[i].node].task = static_cast<std::int32_t>(i);
      tasks[i].node = 0;
      grow_below(std::move(tasks[i]), grown[i], workspaces_[thread]);
    });
    lists_.clear();
    return flatten(arena, grown);
  }

 private:
  using Pack = Packing<Entry>;

  // ---- preparation ------------------------------------------------------------------------

  LogTable make_logs() const {
    double total = 0;
    for (std::size_t row = 0; row < data_.table.n_rows; ++row) total += weights_.weight(row);
    // Fractional weights have no table, and their sum may be beyond any whole number.
    const bool stored = rules_.uses_entropy() && weights_.are_whole();
    const std::size_t largest = stored ? static_cast<std::size_t>(total) + 1 : 1;
    return LogTable(largest, stored ? std::min(largest + 1, std::size_t{1} << 23) : 1);
  }

  bool takes_part(std::size_t row) const { return weights_.are_unit() || weights_.weight(row) > 0; }

  template <class TakeOrder>
  void make_lists(TakeOrder&& take_order) {
    const std::size_t p = data_.table.size();
    lists_.resize(p + 1);
    first_rows_.resize(p);
    has_gaps_.assign(p, 0);
    root_known_.assign(p, 0);
    const bool all_rows = weights_.are_unit();
    run_jobs(p, n_threads_, patience_, [&](std::size_t j, std::size_t) {
      const PresortedColumn& column = data_.columns[j];
      if (!column.is_ordered_list()) {
        if (needs_gap(j)) first_rows_[j] = first_rows_of_codes(j);
        return;
      }
      lists_[j] = pack_list(take_order(j), column.n_known, all_rows, root_known_[j]);
    });
    bool any_codes = false;
    for (std::size_t j = 0; j < p; ++j) {
      any_codes = any_codes || !data_.columns[j].is_ordered_list();
      if (data_.columns[j].is_ordered_list()) {
        n_root_ = lists_[j].size();
        if (root_known_[j] < lists_[j].size()) has_gaps_[j] = 1;
      }
    }
    for (std::size_t j = 0; j < p; ++j)
      if (has_gaps_[j]) gap_columns_.push_back(j);
    if (!any_codes && p > 0) return;
    std::vector<Entry>& rows = lists_[p];
    for (std::size_t row = 0; row < data_.table.n_rows; ++row)
      if (takes_part(row)) rows.push_back(pack(row, false));
    n_root_ = rows.size();
  }

  // The list of one column: the rows that take part, in order, with their classes. Made in the
  // place of the order itself where the types agree.
  std::vector<Entry> pack_list(std::vector<std::uint32_t> order, std::size_t n_known, bool all_rows,
                               std::size_t& known_kept) const {
    std::vector<Entry> list;
    if constexpr (std::is_same_v<Entry, std::uint32_t>)
      list = std::move(order);
    else
      list.assign(order.begin(), order.end());
    std::size_t kept = 0;
    bool increased = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto item = static_cast<std::uint32_t>(list[i]);
      const std::size_t row = item & ~increase_bit;
      increased = increased || (item & increase_bit);
      if (i == n_known) known_kept = kept;
      if (!all_rows && !takes_part(row)) continue;
      list[kept++] = pack(row, increased);
      increased = false;
    }
    if (n_known == list.size()) known_kept = kept;
    list.resize(kept);
    if (!all_rows) list.shrink_to_fit();  // a bootstrap leaves out every third row
    return list;
  }

  std::size_t label(std::size_t row) const { return static_cast<std::size_t>(labels_[row]); }

  Entry pack(std::size_t row, bool increases) const {
    const std::int64_t count = weights_.are_whole() ? weights_.count(row) : 1;
    return packing_.pack(row, label(row), static_cast<std::size_t>(count), increases);
  }

  std::int64_t count_of(Entry entry) const {
    return packing_.holds_counts() ? packing_.count(entry) : weights_.count(packing_.row(entry));
  }

  // Hands over a function from entry to whole weight, for loops in which a branch would be felt.
  template <class Use>
  void with_counts(Use&& use) const {
    if (weights_.are_unit())
      use([](Entry) { return std::int64_t{1}; });
    else if (packing_.holds_counts())
      use([this](Entry entry) { return packing_.count(entry); });
    else
      use([this](Entry entry) { return weights_.count(packing_.row(entry)); });
  }

  Work make_root(Arena& arena) {
    arena.add_nodes(1);
    const std::span<double> totals = arena.weights(0);
    for (std::size_t row = 0; row < data_.table.n_rows; ++row)
      if (takes_part(row)) {
        totals[label(row)] += weights_.weight(row);
        ++n_taking_part_;
      }
    total_weight_ = std::accumulate(totals.begin(), totals.end(), 0.0);
    Work root;
    root.n = n_root_;
    for (const std::size_t j : gap_columns_) root.n_known.push_back(root_known_[j]);
    return root;
  }

  // ---- the order of work ------------------------------------------------------------------

  // Nodes near the root, one after the other, their columns shared out among the threads; returns
  // those small enough to be grown whole by one thread, the largest first.
  std::vector<Work> grow_top(Work root, Arena& arena) {
    std::vector<Work> tasks, pending;
    pending.push_back(std::move(root));
    const std::size_t small = n_threads_ == 1 ? n_root_ : n_root_ / (6 * n_threads_);
    while (!pending.empty()) {
      Work work = std::move(pending.back());
      pending.pop_back();
      if (work.n <= small || n_threads_ == 1) {
        tasks.push_back(std::move(work));
        continue;
      }
      split(work, arena, workspaces_[0], n_threads_, pending);
    }
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Work& a, const Work& b) { return a.n > b.n; });
    return tasks;
  }

  void grow_below(Work root, Arena& arena, Workspace<Entry>& space) {
    std::vector<Work> pending;
    pending.push_back(std::move(root));
    while (!pending.empty()) {
      patience_.check();
      Work work = std::move(pending.back());
      pending.pop_back();
      split(work, arena, space, 1, pending);
    }
  }

  void split(Work& work, Arena& arena, Workspace<Entry>& space, std::size_t n_threads,
             std::vector<Work>& pending) {
    if (is_leaf(arena.weights(work.node), work.depth)) return;
    Totals totals = make_totals(work, arena);
    if (totals.whole && data_.n_flags > 0 && largest_count_ <= 255)
      count_flags(work, n_threads, totals.flag_counts);
    std::vector<Candidate> candidates(data_.table.size());
    if (n_threads == 1) {
      for (std::size_t j = 0; j < candidates.size(); ++j)
        candidates[j] = best_cut(j, work, totals, space);
    } else {
      run_jobs(candidates.size(), n_threads, patience_, [&](std::size_t j, std::size_t thread) {
        candidates[j] = best_cut(j, work, totals, workspaces_[thread]);
      });
    }
    const std::size_t chosen = choose(candidates, totals);
    if (chosen == candidates.size()) return;
    make_split(work, chosen, candidates[chosen], arena, space, n_threads, pending);
  }

  bool is_leaf(std::span<const double> class_weights, std::int64_t depth) const {
    double total = 0, largest = 0;
    for (const double w : class_weights) {
      total += w;
      largest = std::max(largest, w);
    }
    return depth >= rules_.max_depth || 2 * rules_.min_samples_leaf - total > c45_slack ||
           total - largest < c45_slack;
  }

  Totals make_totals(const Work& work, Arena& arena) const {
    Totals totals;
    const std::span<const double> weights = arena.weights(work.node);
    totals.weights.assign(weights.begin(), weights.end());
    totals.weight = std::accumulate(weights.begin(), weights.end(), 0.0);
    totals.impurity = group_impurity<double>(weights, rules_.uses_entropy());
    totals.whole = work.side.empty() && weights_.are_whole();
    if (totals.whole)
      for (const double w : weights) totals.counts.push_back(static_cast<std::int64_t>(w));
    return totals;
  }

  // ---- the best cut of one column ---------------------------------------------------------

  Candidate best_cut(std::size_t j, const Work& work, const Totals& totals,
                     Workspace<Entry>& space) const {
    if (totals.whole) {
      if (rules_.uses_entropy()) return best_cut_by<CountEntropy>(j, work, totals, space);
      return best_cut_by<CountGini>(j, work, totals, space);
    }
    if (rules_.uses_entropy()) return best_cut_by<WeightMeter<true>>(j, work, totals, space);
    return best_cut_by<WeightMeter<false>>(j, work, totals, space);
  }

  template <class Meter>
  Candidate best_cut_by(std::size_t j, const Work& work, const Totals& totals,
                        Workspace<Entry>& space) const {
    using Weight = typename Meter::Weight;
    if (!data_.columns[j].is_ordered_list()) return best_code_cut<Meter>(j, work, totals, space);
    if constexpr (std::is_same_v<Weight, double>)
      return best_value_cut<Meter>(j, work, totals, space);
    else
      return best_list_cut<Meter>(j, work, totals, space);
  }

  std::size_t n_known(std::size_t j, const Work& work) const {
    if (!has_gaps_[j]) return work.n;
    const auto at = std::lower_bound(gap_columns_.begin(), gap_columns_.end(), j);
    return work.n_known[static_cast<std::size_t>(at - gap_columns_.begin())];
  }

  bool needs_gap(std::size_t j) const { return rules_.is_c45() && !data_.columns[j].gaps_are_wide; }

  // Whole weights: straight along the list.
  template <class Meter>
  Candidate best_list_cut(std::size_t j, const Work& work, const Totals& totals,
                          Workspace<Entry>& space) const {
    const std::span<const Entry> list(lists_[j].data() + work.begin, n_known(j, work));
    std::span<const std::int64_t> known = totals.counts;
    if (list.size() < work.n) {
      std::fill(space.known_counts.begin(), space.known_counts.end(), 0);
      with_counts([&](auto&& count) {
        for (const Entry entry : list) space.known_counts[packing_.cls(entry)] += count(entry);
      });
      known = space.known_counts;
    }
    const auto known_weight =
        static_cast<double>(std::accumulate(known.begin(), known.end(), std::int64_t{0}));
    Candidate candidate;
    BestCut best(rules_, known_weight, totals.weight, totals.impurity, n_classes_);
    bool found = false;
    if constexpr (std::is_same_v<Meter, CountGini>) {
      double gain = 0;
      found = best_gini_cut(list, known, space, candidate.cut, gain);
      candidate.valid = found;
      candidate.gain = gain / totals.weight;
    } else {
      Meter meter(known, space.count_sides, logs_);
      const Column& column = data_.table[j];
      const bool gap = needs_gap(j);
      auto apart = [&](std::size_t a, std::size_t b) {
        return !gap || column.value(a) + c45_gap < column.value(b);
      };
      with_counts([&](auto&& count) {
        found = scan_list(list, packing_, meter, count, apart, best, candidate.cut);
      });
      best.finish(rules_, known_weight, totals.weight, candidate);
    }
    if (found) {
      candidate.low = data_.table[j].value(packing_.row(list[candidate.cut - 1]));
      candidate.high = data_.table[j].value(packing_.row(list[candidate.cut]));
    }
    return candidate;
  }

  bool best_gini_cut(std::span<const Entry> list, std::span<const std::int64_t> known,
                     Workspace<Entry>& space, std::size_t& cut, double& gain) const {
    const double least = rules_.min_samples_leaf - c45_slack;
    if (weights_.are_unit())
      return n_classes_ == 2
                 ? scan_list_gini_two(list, packing_, known[1], least, cut, gain)
                 : scan_list_gini(list, packing_, known, least, space.count_sides, cut, gain);
    bool found = false;
    with_counts([&](auto&& count) {
      found = n_classes_ == 2 ? scan_counted_gini_two(list, packing_, known[0] + known[1], known[1],
                                                      least, count, cut, gain)
                              : scan_counted_gini(list, packing_, known, least, count,
                                                  space.count_sides, cut, gain);
    });
    return found;
  }

  // Fractional weights: the list and the node's own rows merged by value.
  template <class Meter>
  Candidate best_value_cut(std::size_t j, const Work& work, const Totals& totals,
                           Workspace<Entry>& space) const {
    const Column& column = data_.table[j];
    std::vector<WeighedValue>& values = space.values;
    values.clear();
    for (const Entry entry : std::span(lists_[j].data() + work.begin, n_known(j, work))) {
      const std::size_t row = packing_.row(entry);
      values.push_back({column.value(row), weights_.weight(row),
                        static_cast<std::uint32_t>(packing_.cls(entry)), true});
    }
    const auto middle = static_cast<std::ptrdiff_t>(values.size());
    for (const SideRow& side : work.side) {
      const double value = column.value(side.row);
      if (!std::isnan(value))
        values.push_back(
            {value, side.weight, static_cast<std::uint32_t>(labels_[side.row]), false});
    }
    auto below = [](const WeighedValue& a, const WeighedValue& b) { return a.value < b.value; };
    std::stable_sort(values.begin() + middle, values.end(), below);
    std::inplace_merge(values.begin(), values.begin() + middle, values.end(), below);

    std::fill(space.known_weights.begin(), space.known_weights.end(), 0.0);
    for (const WeighedValue& item : values) space.known_weights[item.cls] += item.weight;
    const double known_weight =
        std::accumulate(space.known_weights.begin(), space.known_weights.end(), 0.0);
    Candidate candidate;
    BestCut best(rules_, known_weight, totals.weight, totals.impurity, n_classes_);
    Meter meter(space.known_weights, space.weight_sides, logs_);
    const double gap = rules_.is_c45() ? c45_gap : 0.0;
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
    best.finish(rules_, known_weight, totals.weight, candidate);
    return candidate;
  }

  // Few values, or categories: a table of class weights by code.
  template <class Meter>
  Candidate best_code_cut(std::size_t j, const Work& work, const Totals& totals,
                          Workspace<Entry>& space) const {
    using Weight = typename Meter::Weight;
    Candidate candidate;
    if (n_codes(j) < 2) return candidate;
    const bool is_counted = !totals.flag_counts.empty() && data_.columns[j].flag >= 0;
    const CodeTable<Weight> table =
        is_counted ? tabulate_flag<Weight>(j, totals, space) : tabulate<Weight>(j, work, space);
    if (table.n_lines < 2) return candidate;
    auto& known = space.template known<Weight>();
    std::fill(known.begin(), known.end(), Weight{0});
    for (std::size_t line = 0; line < table.n_lines; ++line)
      for (std::size_t k = 0; k < n_classes_; ++k) known[k] += table.weights(line)[k];
    if (!data_.table[j].has_thresholds()) {
      if (rules_.subsets)
        split_subsets<Weight>(table, n_codes(j), totals.weight, rules_, candidate);
      else
        split_multiway<Weight>(table, known, totals.weight, rules_, candidate);
      return candidate;
    }
    double known_weight = 0;
    for (const Weight w : known) known_weight += static_cast<double>(w);
    BestCut best(rules_, known_weight, totals.weight, totals.impurity, n_classes_);
    Meter meter(known, space.template sides<Weight>(), logs_);
    scan_codes<Weight>(table, meter, data_.columns[j], needs_gap(j), best, candidate);
    best.finish(rules_, known_weight, totals.weight, candidate);
    return candidate;
  }

  std::size_t n_codes(std::size_t j) const {
    return data_.table[j].has_thresholds() ? data_.columns[j].values.size()
                                           : static_cast<std::size_t>(data_.table[j].n_categories);
  }

  // Calls visit(code, class, weight) for the node's rows whose value is known.
  template <class Weight, class Visit>
  void visit_codes(std::size_t j, const Work& work, Visit&& visit) const {
    const std::span<const Entry> rows(lists_.back().data() + work.begin, work.n);
    auto each = [&](auto&& code_of) {
      for (const Entry entry : rows) {
        const std::size_t row = packing_.row(entry);
        const std::uint32_t code = code_of(row);
        if (code == no_code) continue;
        if constexpr (std::is_same_v<Weight, double>)
          visit(code, packing_.cls(entry), weights_.weight(row));
        else
          visit(code, packing_.cls(entry), count_of(entry));
      }
      if constexpr (std::is_same_v<Weight, double>)
        for (const SideRow& side : work.side) {
          const std::uint32_t code = code_of(side.row);
          if (code != no_code) visit(code, label(side.row), side.weight);
        }
    };
    with_codes(j, each);
  }

  // Hands over a function from row to code (`no_code` where there is none).
  template <class Use>
  void with_codes(std::size_t j, Use&& use) const {
    const PresortedColumn& column = data_.columns[j];
    if (column.codes_in_table) {
      const Column& source = data_.table[j];
      use([&source](std::size_t row) -> std::uint32_t {
        const std::int32_t code = source.code(row);
        return code < 0 ? no_code : static_cast<std::uint32_t>(code);
      });
    } else {
      const auto [codes, step] = data_.small_codes_of(j);
      use([codes = codes, step = step](std::size_t row) -> std::uint32_t {
        const std::uint8_t code = codes[row * step];
        return code == small_missing ? no_code : code;
      });
    }
  }

  template <class Weight>
  CodeTable<Weight> tabulate(std::size_t j, const Work& work, Workspace<Entry>& space) const {
    const std::size_t n_cells = n_codes(j) * n_classes_;
    std::vector<Weight>& cells = space.template cells<Weight>();
    if (4 * (work.n + work.side.size()) >= n_cells) {
      cells.assign(n_cells, Weight{0});
      visit_codes<Weight>(j, work, [&](std::uint32_t code, std::size_t k, Weight w) {
        cells[code * n_classes_ + k] += w;
      });
      return {cells, {}, n_codes(j), n_classes_};
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
        cells.resize(cells.size() + n_classes_, Weight{0});
      }
      cells[cells.size() - n_classes_ + item.cls] += item.weight;
    }
    return {cells, space.line_codes, space.line_codes.size(), n_classes_};
  }

  // Counts all flags of the node's rows by class. Bytes are added up, a vector of them at a time,
  // and moved to wide sums before they can overflow.
  void count_flags(const Work& work, std::size_t n_threads,
                   std::vector<std::int64_t>& counts) const {
    const std::size_t n_flags = data_.n_flags;
    const std::size_t n_parts = work.n < 50'000 ? 1 : n_threads;
    std::vector<std::vector<std::int64_t>> sums(n_parts);
    run_jobs(n_parts, n_parts, patience_, [&](std::size_t part, std::size_t) {
      std::vector<std::int64_t>& sum = sums[part];
      sum.assign(n_classes_ * n_flags, 0);
      std::vector<std::uint8_t> bytes(n_classes_ * n_flags, 0);
      const std::size_t n_at_once = 255 / largest_count_;
      const Entry* rows = lists_.back().data() + work.begin;
      std::size_t at = part * work.n / n_parts;
      const std::size_t end = (part + 1) * work.n / n_parts;
      while (at < end) {
        const std::size_t stop = std::min(end, at + n_at_once);
        for (; at < stop; ++at) {
          const std::uint8_t* flags = data_.flags_of(packing_.row(rows[at]));
          std::uint8_t* to = bytes.data() + packing_.cls(rows[at]) * n_flags;
          if (largest_count_ == 1) {
            for (std::size_t f = 0; f < n_flags; f += Presorted::flag_padding)
              for (std::size_t b = 0; b < Presorted::flag_padding; ++b) to[f + b] += flags[f + b];
            continue;
          }
          // A flag is 0 or 1, so minus it is a mask: there is no product of bytes to be had.
          const auto count = static_cast<std::uint8_t>(count_of(rows[at]));
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

  // The table of a flag; without lines if it is the same for all rows of the node.
  template <class Weight>
  CodeTable<Weight> tabulate_flag(std::size_t j, const Totals& totals,
                                  Workspace<Entry>& space) const {
    const auto flag = static_cast<std::size_t>(data_.columns[j].flag);
    std::vector<Weight>& cells = space.template cells<Weight>();
    cells.resize(2 * n_classes_);
    Weight n_set = 0, n_clear = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      const auto set = static_cast<Weight>(totals.flag_counts[k * data_.n_flags + flag]);
      cells[n_classes_ + k] = set;
      cells[k] = static_cast<Weight>(totals.counts[k]) - set;
      n_set += set;
      n_clear += cells[k];
    }
    const bool varies = n_set > 0 && n_clear > 0;
    return {cells, {}, varies ? std::size_t{2} : std::size_t{0}, n_classes_};
  }

  // ---- the best column --------------------------------------------------------------------

  std::size_t choose(const std::vector<Candidate>& candidates, const Totals& totals) const {
    return rules_.is_c45() ? choose_by_ratio(candidates) : choose_by_gain(candidates, totals);
  }

  std::size_t choose_by_gain(const std::vector<Candidate>& candidates, const Totals& totals) const {
    const double tie = tie_share * totals.impurity / totals.weight;
    std::size_t chosen = candidates.size();
    double best = 0;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      if (!candidates[j].valid) continue;
      if (chosen < candidates.size() && !(candidates[j].gain - best > tie)) continue;
      chosen = j;
      best = candidates[j].gain;
    }
    return chosen;
  }

  bool has_many_values(std::size_t j) const {
    return !data_.table[j].has_thresholds() &&
           !(c45_many_values_share * total_weight_ - data_.table[j].n_categories > c45_slack);
  }

  std::size_t choose_by_ratio(const std::vector<Candidate>& candidates) const {
    bool all_many = true;
    for (std::size_t j = 0; j < candidates.size(); ++j) all_many = all_many && has_many_values(j);
    double sum = 0, n_valid = 0;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      if (!candidates[j].valid || (!all_many && has_many_values(j))) continue;
      sum += candidates[j].gain;
      n_valid += 1;
    }
    std::size_t chosen = candidates.size();
    if (n_valid == 0) return chosen;
    const double least = sum / n_valid - c45_average_gain_slack;
    double best = 0;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      if (!candidates[j].valid || candidates[j].gain < least) continue;
      if (!(candidates[j].ratio() - best > c45_slack)) continue;
      chosen = j;
      best = candidates[j].ratio();
    }
    return chosen;
  }

  // ---- making the split -------------------------------------------------------------------

  struct Branches {
    std::size_t n = 0;
    std::size_t first_child = 0;
    std::vector<double> known_weight;
    std::vector<std::size_t> n_rows;         // of the lists, a branch each
    std::vector<Entry> lost_rows;            // rows of the lists without a value
    std::vector<std::vector<SideRow>> side;  // a branch each
  };

  // Where values are too close for C4.5 to tell apart, its threshold depends on the order of rows.
  // It is kept from falling below the cut and from parting values that differ by noise.
  void settle_threshold(std::size_t j, Candidate& candidate) const {
    const double middle = midpoint(candidate.low, candidate.high);
    double threshold = candidate.low;
    std::vector<PlacedValue> nearby;
    walk_down(j, middle + c45_slack, [&](std::uint32_t row, double value) {
      if (!(value - middle < c45_slack)) return true;
      return add_nearby(nearby, row, value);
    });
    if (!nearby.empty()) threshold = std::max(threshold, threshold_in_row_order(nearby));
    double highest = threshold;
    walk_down(j, threshold + c45_noise, [&](std::uint32_t, double value) {
      if (value > threshold && !(value - threshold < c45_noise)) return true;
      highest = std::max(highest, value);
      return false;
    });
    candidate.low = highest;
    candidate.threshold_is_settled = true;
  }

  // Calls visit(first row, value) for the different values of the whole training set up to
  // `from`, the largest first, until it says false.
  template <class Visit>
  void walk_down(std::size_t j, double from, Visit&& visit) const {
    const PresortedColumn& column = data_.columns[j];
    if (!column.is_ordered_list()) {
      const std::vector<std::uint32_t>& first_row = first_rows_[j];
      for (std::size_t code = column.values.size(); code-- > 0;)
        if (first_row[code] != no_code && column.values[code] <= from &&
            !visit(first_row[code], column.values[code]))
          return;
      return;
    }
    const auto value_of = [&](std::uint32_t item) {
      return data_.table[j].value(item & ~increase_bit);
    };
    const auto begin = column.order.begin();
    auto end = std::partition_point(begin, begin + static_cast<std::ptrdiff_t>(column.n_known),
                                    [&](std::uint32_t item) { return value_of(item) <= from; });
    while (end != begin) {
      const double value = value_of(*(end - 1));
      const auto first = std::partition_point(
          begin, end, [&](std::uint32_t item) { return value_of(item) < value; });
      const auto present = std::find_if(
          first, end, [&](std::uint32_t item) { return takes_part(item & ~increase_bit); });
      if (present != end && !visit(*present & ~increase_bit, value)) return;
      end = first;
    }
  }

  std::vector<std::uint32_t> first_rows_of_codes(std::size_t j) const {
    std::vector<std::uint32_t> first_row(data_.columns[j].values.size(), no_code);
    const auto [codes, step] = data_.small_codes_of(j);
    for (std::size_t row = data_.table.n_rows; row-- > 0;)
      if (codes[row * step] != small_missing && takes_part(row))
        first_row[codes[row * step]] = static_cast<std::uint32_t>(row);
    return first_row;
  }

  void make_split(Work& work, std::size_t j, Candidate& candidate, Arena& arena,
                  Workspace<Entry>& space, std::size_t n_threads, std::vector<Work>& pending) {
    if (needs_gap(j)) settle_threshold(j, candidate);
    Branches branches;
    branches.n = candidate.groups.empty() && !data_.table[j].has_thresholds() ? n_codes(j) : 2;
    branches.first_child = arena.add_nodes(branches.n);
    branches.known_weight.assign(branches.n, 0.0);
    branches.n_rows.assign(branches.n, 0);
    branches.side.resize(branches.n);
    send_rows(work, j, candidate, arena, space, branches);
    record(work, j, candidate, arena, branches);
    std::vector<Work> children = make_children(work, arena, branches);
    if (children.empty()) return;
    // The chosen column's list already stands in the order of its branches.
    std::vector<std::vector<std::size_t>> known(gap_columns_.size());
    if (n_threads == 1) {
      for (std::size_t c = 0; c < lists_.size(); ++c)
        divide_list(c, j, work, branches, space, space, known);
    } else {
      run_jobs(lists_.size(), n_threads, patience_, [&](std::size_t c, std::size_t thread) {
        divide_list(c, j, work, branches, space, workspaces_[thread], known);
      });
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      for (std::size_t g = 0; g < gap_columns_.size(); ++g)
        child->n_known.push_back(known[g][child->node - branches.first_child]);
      pending.push_back(std::move(*child));
    }
  }

  bool divides_by_bits(const Branches& branches) const {
    return branches.n == 2 && branches.lost_rows.empty();
  }

  // Tells every row of the node its branch, and counts its class there.
  void send_rows(Work& work, std::size_t j, const Candidate& candidate, Arena& arena,
                 Workspace<Entry>& space, Branches& branches) {
    auto count = [&](Entry entry, std::size_t branch) {
      const double w = weights_.are_whole() ? static_cast<double>(count_of(entry))
                                          : weights_.weight(packing_.row(entry));
      arena.weights(branches.first_child + branch)[packing_.cls(entry)] += w;
      branches.known_weight[branch] += w;
      ++branches.n_rows[branch];
    };
    const Column& column = data_.table[j];
    auto branch_of_code = [&](std::uint32_t code) -> std::uint32_t {
      if (column.has_thresholds()) return code > candidate.cut;
      return candidate.groups.empty() ? code : static_cast<std::uint32_t>(candidate.groups[code]);
    };
    const std::span<const Entry> listed = source_list(j, work);
    if (data_.columns[j].is_ordered_list()) {
      const std::size_t known = n_known(j, work);
      for (std::size_t i = 0; i < candidate.cut; ++i) count(listed[i], 0);
      for (std::size_t i = candidate.cut; i < known; ++i) count(listed[i], 1);
      branches.lost_rows.assign(listed.begin() + static_cast<std::ptrdiff_t>(known), listed.end());
      mark_list(listed, candidate.cut, known, space, branches);
    } else {
      with_codes(j, [&](auto&& code_of) {
        for (const Entry entry : listed) {
          const std::uint32_t code = code_of(packing_.row(entry));
          if (code == no_code)
            branches.lost_rows.push_back(entry);
          else
            count(entry, branch_of_code(code));
        }
        mark_codes(listed, code_of, branch_of_code, space, branches);
      });
    }
    send_side_rows(work, j, candidate, branch_of_code, arena, branches);
  }

  std::span<const Entry> source_list(std::size_t j, const Work& work) const {
    const std::vector<Entry>& list = data_.columns[j].is_ordered_list() ? lists_[j] : lists_.back();
    return {list.data() + work.begin, work.n};
  }

  void mark_list(std::span<const Entry> listed, std::size_t cut, std::size_t known,
                 Workspace<Entry>& space, const Branches& branches) {
    if (divides_by_bits(branches)) {
      prepare_bits(space);
      for (std::size_t i = 0; i < cut; ++i) set_bit(space, packing_.row(listed[i]), false);
      for (std::size_t i = cut; i < known; ++i) set_bit(space, packing_.row(listed[i]), true);
      return;
    }
    prepare_branches(space);
    for (std::size_t i = 0; i < listed.size(); ++i)
      space.branch_of[packing_.row(listed[i])] = i < cut ? 0 : i < known ? 1 : no_code;
  }

  template <class CodeOf, class BranchOf>
  void mark_codes(std::span<const Entry> listed, CodeOf&& code_of, BranchOf&& branch_of_code,
                  Workspace<Entry>& space, const Branches& branches) {
    if (divides_by_bits(branches)) {
      prepare_bits(space);
      for (const Entry entry : listed) {
        const std::size_t row = packing_.row(entry);
        set_bit(space, row, branch_of_code(code_of(row)) == 1);
      }
      return;
    }
    prepare_branches(space);
    for (const Entry entry : listed) {
      const std::size_t row = packing_.row(entry);
      const std::uint32_t code = code_of(row);
      space.branch_of[row] = code == no_code ? no_code : branch_of_code(code);
    }
  }

  void prepare_bits(Workspace<Entry>& space) const {
    if (space.goes_right.empty()) space.goes_right.resize(data_.table.n_rows / 64 + 1);
  }
  void prepare_branches(Workspace<Entry>& space) const {
    if (space.branch_of.empty()) space.branch_of.resize(data_.table.n_rows);
  }
  static void set_bit(Workspace<Entry>& space, std::size_t row, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (row & 63);
    std::uint64_t& word = space.goes_right[row >> 6];
    word = value ? word | bit : word & ~bit;
  }

  // Rows of fractional weight, and those that have just lost their way.
  template <class BranchOf>
  void send_side_rows(Work& work, std::size_t j, const Candidate& candidate,
                      BranchOf&& branch_of_code, Arena& arena, Branches& branches) {
    const Column& column = data_.table[j];
    std::vector<SideRow> everywhere;
    for (const SideRow& side : work.side) {
      std::size_t branch = no_code;
      if (column.has_thresholds()) {
        const double value = column.value(side.row);
        if (!std::isnan(value)) branch = value > candidate.low;
      } else if (const std::int32_t code = column.code(side.row); code >= 0) {
        branch = branch_of_code(static_cast<std::uint32_t>(code));
      }
      if (branch == no_code) {
        everywhere.push_back(side);
        continue;
      }
      branches.known_weight[branch] += side.weight;
      arena.weights(branches.first_child + branch)[label(side.row)] += side.weight;
      branches.side[branch].push_back(side);
    }
    work.side.clear();
    for (const Entry entry : branches.lost_rows) {
      const std::size_t row = packing_.row(entry);
      everywhere.push_back({static_cast<std::uint32_t>(row), weights_.weight(row)});
    }
    const double known =
        std::accumulate(branches.known_weight.begin(), branches.known_weight.end(), 0.0);
    for (std::size_t b = 0; b < branches.n; ++b) {
      const double share = branches.known_weight[b] / known;
      if (!(share > 0)) continue;
      for (const SideRow& side : everywhere) {
        branches.side[b].push_back({side.row, side.weight * share});
        arena.weights(branches.first_child + b)[label(side.row)] += side.weight * share;
      }
    }
  }

  void record(const Work& work, std::size_t j, const Candidate& candidate, Arena& arena,
              const Branches& branches) const {
    GrownNode& node = arena.nodes[work.node];
    node.feature = static_cast<std::int32_t>(j);
    node.first_child = branches.first_child;
    node.n_children = branches.n;
    node.first_share = arena.shares.size();
    const double known =
        std::accumulate(branches.known_weight.begin(), branches.known_weight.end(), 0.0);
    for (const double w : branches.known_weight) arena.shares.push_back(w / known);
    if (data_.table[j].has_thresholds()) {
      node.low = candidate.low;
      node.high = candidate.high;
      node.threshold_is_settled = candidate.threshold_is_settled;
      return;
    }
    node.first_category = arena.category_branch.size();
    node.n_categories = n_codes(j);
    if (node.first_category + node.n_categories > max_category_entries) throw TooManyNodes();
    for (std::size_t code = 0; code < n_codes(j); ++code)
      arena.category_branch.push_back(candidate.groups.empty() ? static_cast<std::int32_t>(code)
                                                               : candidate.groups[code]);
  }

  // The branches that are to be split further; none if all are leaves.
  std::vector<Work> make_children(const Work& work, Arena& arena, Branches& branches) const {
    std::vector<Work> children;
    std::size_t begin = work.begin;
    for (std::size_t b = 0; b < branches.n; ++b) {
      if (!is_leaf(arena.weights(branches.first_child + b), work.depth + 1)) {
        Work child;
        child.node = branches.first_child + b;
        child.begin = begin;
        child.n = branches.n_rows[b];
        child.depth = work.depth + 1;
        child.side = std::move(branches.side[b]);
        children.push_back(std::move(child));
      }
      begin += branches.n_rows[b];
    }
    return children;
  }

  // Divides the node's stretch of list c among the branches, keeping the order.
  void divide_list(std::size_t c, std::size_t split_column, const Work& work,
                   const Branches& branches, const Workspace<Entry>& marks, Workspace<Entry>& space,
                   std::vector<std::vector<std::size_t>>& known) {
    std::vector<Entry>& list = lists_[c];
    if (list.empty()) return;
    std::vector<std::size_t>* known_here = nullptr;
    if (c < has_gaps_.size() && has_gaps_[c]) {
      const auto at = std::lower_bound(gap_columns_.begin(), gap_columns_.end(), c);
      known_here = &known[static_cast<std::size_t>(at - gap_columns_.begin())];
    }
    if (c == split_column) {
      if (known_here) *known_here = branches.n_rows;
      return;
    }
    const std::size_t n_with_value = c < has_gaps_.size() ? n_known(c, work) : work.n;
    Entry* stretch = list.data() + work.begin;
    if (space.scratch.size() < work.n) space.scratch.resize(work.n);
    if (divides_by_bits(branches))
      divide_in_two(stretch, work.n, n_with_value, marks.goes_right.data(), space, known_here);
    else
      divide_in_many(stretch, work.n, n_with_value, marks.branch_of.data(), branches, space,
                     known_here);
  }

  void divide_in_two(Entry* stretch, std::size_t n, std::size_t n_with_value,
                     const std::uint64_t* goes_right, Workspace<Entry>& space,
                     std::vector<std::size_t>* known) const {
    Entry* right_out = space.scratch.data();
    std::size_t n_left = 0, n_right = 0;
    // An entry passed over hands its mark of increase to the next one on the other side.
    Entry owed_left = 0, owed_right = 0;
    auto pass = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const Entry entry = stretch[i];
        const std::size_t row = packing_.row(entry);
        const auto right = static_cast<Entry>((goes_right[row >> 6] >> (row & 63)) & 1);
        const Entry increase = entry & Pack::increase;
        owed_left |= increase;
        owed_right |= increase;
        stretch[n_left] = (entry & ~Pack::increase) | owed_left;
        right_out[n_right] = (entry & ~Pack::increase) | owed_right;
        n_left += 1 - static_cast<std::size_t>(right);
        n_right += static_cast<std::size_t>(right);
        owed_left &= Entry{0} - right;
        owed_right &= right - Entry{1};
      }
    };
    pass(0, n_with_value);
    if (known) *known = {n_left, n_right};
    pass(n_with_value, n);
    std::copy(right_out, right_out + n_right, stretch + n_left);
  }

  void divide_in_many(Entry* stretch, std::size_t n, std::size_t n_with_value,
                      const std::uint32_t* branch_of, const Branches& branches,
                      Workspace<Entry>& space, std::vector<std::size_t>* known) const {
    std::vector<std::size_t> next(branches.n, 0);
    for (std::size_t b = 1; b < branches.n; ++b) next[b] = next[b - 1] + branches.n_rows[b - 1];
    const std::vector<std::size_t> start = next;
    // A branch's entry increases if the list has increased since that branch's last one.
    std::vector<std::size_t> last_step(branches.n, 0);
    std::size_t step = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (known && i == n_with_value) *known = differences(next, start);
      const Entry entry = stretch[i];
      if (entry & Pack::increase) ++step;
      const std::uint32_t b = branch_of[packing_.row(entry)];
      if (b == no_code) continue;
      space.scratch[next[b]++] =
          (entry & ~Pack::increase) | (last_step[b] != step ? Pack::increase : Entry{0});
      last_step[b] = step;
    }
    if (known && n_with_value == n) *known = differences(next, start);
    std::copy(space.scratch.begin(),
              space.scratch.begin() + static_cast<std::ptrdiff_t>(next.back()), stretch);
  }

  static std::vector<std::size_t> differences(const std::vector<std::size_t>& a,
                                              const std::vector<std::size_t>& b) {
    std::vector<std::size_t> result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
    return result;
  }

  // ---- the finished tree ------------------------------------------------------------------

  Tree flatten(Arena& arena, std::vector<Arena>& grown) {
    if (!rules_.is_c45())
      return flatten_arenas(arena, grown,
                            [](const GrownNode& node) { return midpoint(node.low, node.high); });
    Thresholds thresholds(data_.table.size());
    thresholds.add(arena);
    for (const Arena& task : grown) thresholds.add(task);
    run_jobs(data_.table.size(), n_threads_, patience_, [&](std::size_t j, std::size_t) {
      thresholds.settle(j, data_.table[j], data_.table.n_rows,
                        [&](std::size_t row) { return takes_part(row); });
    });
    return flatten_arenas(arena, grown, [&](const GrownNode& node) { return thresholds.of(node); });
  }

  const Presorted& data_;
  std::span<const std::int32_t> labels_;
  std::size_t n_classes_;
  RowWeights weights_;
  GrowthRules rules_;
  std::size_t n_threads_;
  Patience& patience_;
  Packing<Entry> packing_;
  LogTable logs_;
  std::size_t largest_count_ = weights_.largest_count();
  std::vector<std::vector<Entry>> lists_;  // a column each; the last: rows in their own order
  std::vector<std::vector<std::uint32_t>> first_rows_;  // of codes whose values are close
  std::vector<char> has_gaps_;
  std::vector<std::size_t> gap_columns_, root_known_;
  std::size_t n_root_ = 0, n_taking_part_ = 0;
  double total_weight_ = 0;
  std::vector<Workspace<Entry>> workspaces_;
};

}  // namespace detail

// Grows a tree. Orders are shared with other trees; with `use_up` the tree may have them, which
// saves their memory.
inline Tree grow(Presorted& data, std::span<const std::int32_t> labels, std::size_t n_classes,
                 const RowWeights& weights, const GrowthRules& rules, std::size_t n_threads,
                 bool use_up, Patience& patience) {
  auto run = [&](auto entry) {
    detail::Grower<decltype(entry)> grower(data, labels, n_classes, weights, rules, n_threads,
                                           patience);
    return grower.run([&](std::size_t j) -> std::vector<std::uint32_t> {
      PresortedColumn& column = data.columns[j];
      // C4.5 looks up thresholds in the order of columns whose values are close.
      if (use_up && (!rules.is_c45() || column.gaps_are_wide)) return std::move(column.order);
      return column.order;
    });
  };
  if (Packing<std::uint32_t>::fits(data.table.n_rows, n_classes)) return run(std::uint32_t{});
  return run(std::uint64_t{});
}

}  // namespace sureleaf
