// What one thread writes while it finds and makes splits; allocated once.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "sureleaf/block_scan.hpp"
#include "sureleaf/bucket_search.hpp"
#include "sureleaf/criterion.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/node_sorter.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf::detail {

template <class Weight>
struct CodedRow {
  std::uint32_t code;
  std::uint32_t cls;
  Weight weight;
};

// A row, or a fraction of one, and the rank of its value in a column.
struct RankedRow {
  double weight;
  std::uint32_t rank, row, cls;
  std::uint32_t is_listed;
};

// A column that is counted together with others: the position of its code in a row, and its first
// cell in the histograms.
struct CountedColumn {
  std::size_t position, first_cell;
};

// Class totals of the current node (as counts if they are whole), and histograms that are counted
// for many columns at once.
struct Totals {
  std::vector<std::int64_t> counts;
  std::vector<double> weights;
  Group node;
  bool whole = false;
  bool flags_are_counted = false, codes_are_counted = false;
  std::vector<char> is_drawn;  // per column; empty: all columns are looked at
  std::size_t n_drawn_small = 0;
  bool codes_are_inherited = false;       // from the parent
  std::vector<std::int64_t> flag_counts;  // rows with each flag set, one line per class
  std::vector<std::int64_t> code_counts;  // histograms of all small columns
  std::vector<double> code_weights;       // the same if weights are fractional

  bool skips(std::size_t j) const { return !is_drawn.empty() && !is_drawn[j]; }

  template <class Weight>
  const auto& codes() const {
    if constexpr (std::is_same_v<Weight, double>)
      return code_weights;
    else
      return code_counts;
  }

  template <class Weight>
  std::span<const Weight> of() const {
    if constexpr (std::is_same_v<Weight, double>)
      return weights;
    else
      return counts;
  }
};

// The branches of the split that is being made.
template <class Entry>
struct Branches {
  std::size_t n = 0, first_child = 0;
  std::vector<std::size_t> n_rows;               // whole rows per branch
  std::vector<double> share;                     // of the known weight, per branch
  std::vector<Entry> missing_rows;               // whole rows whose value is missing
  std::vector<FractionalRow> fractional_rows;    // of the node
  std::vector<std::uint32_t> fractional_branch;  // the branch of each; no_code: all branches
  std::vector<std::size_t> n_fractional;         // fractional rows per branch
  std::size_t n_missing = 0;                     // fractional rows that go down all branches
  std::vector<double> missing_weights;           // their weight per class
  std::vector<std::size_t> task_index;           // per branch: the index of its task

  void start(std::size_t n_branches, std::size_t first) {
    n = n_branches;
    first_child = first;
    n_rows.assign(n, 0);
    share.assign(n, 0.0);
    missing_rows.clear();
    n_fractional.assign(n, 0);
    n_missing = 0;
  }
  bool go_by_bits() const { return n == 2 && missing_rows.empty(); }
};

// The end of a branch's part of a list, and the number of the last increase it includes.
struct BranchEnd {
  std::size_t next, last_step;
};

// What one thread writes while it works; allocated once.
template <class Entry>
struct Workspace {
  explicit Workspace(std::size_t n_classes)
      : count_sides(n_classes),
        weight_sides(n_classes),
        known_counts(n_classes),
        known_weights(n_classes) {}

  std::vector<Entry> scratch;
  NodeSorter<Entry> sorter;
  BucketSearch<Entry> buckets;
  BlockScan<Entry> blocks;
  GiniBlockScan<Entry> gini_blocks;
  // The largest gain of the node's columns so far, times the weight: lower ones need not be found.
  double gain_floor = -std::numeric_limits<double>::infinity();
  std::vector<std::size_t> columns;       // that are looked at in this node, ascending
  std::vector<std::uint64_t> goes_right;  // one bit per row
  std::vector<std::uint32_t> branch_of;   // the branch of each row, if bits are not enough
  Sides<std::int64_t> count_sides;
  Sides<double> weight_sides;
  std::vector<std::int64_t> known_counts, count_cells;
  std::vector<double> known_weights, weight_cells;
  std::vector<std::uint32_t> bin_codes;
  std::vector<CodedRow<std::int64_t>> coded_counts;
  std::vector<CodedRow<double>> coded_weights;
  std::vector<RankedRow> listed_rows, fractional_ranked, merged_rows;
  std::vector<CountedColumn> counted;
  std::vector<std::int64_t> class_lanes;
  Branches<Entry> branches;
  std::vector<BranchEnd> branch_ends;
  Totals totals;
  ColumnDraw draw;
  std::vector<Candidate> candidates;

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

}  // namespace sureleaf::detail
