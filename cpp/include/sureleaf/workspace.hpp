// What one thread writes while it looks for cuts and makes them, allocated once.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "sureleaf/growth.hpp"
#include "sureleaf/impurity.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf::detail {

template <class Weight>
struct CodedRow {
  std::uint32_t code;
  std::uint32_t cls;
  Weight weight;
};

// A row, or a part of one, and the rank of its value in a column.
struct RankedRow {
  double weight;
  std::uint32_t rank, row, cls;
  std::uint32_t is_listed;
};

// A column that is counted together with others: its code's place in a row, and its first cell.
struct CountedColumn {
  std::size_t place, first_cell;
};

// Class totals of the node at hand, as counts where they are whole, and what is counted for many
// columns at once.
struct Totals {
  std::vector<std::int64_t> counts;
  std::vector<double> weights;
  Group node;
  bool whole = false;
  bool flags_are_counted = false, codes_are_counted = false;
  bool codes_are_known = false;           // from the node above
  std::vector<std::int64_t> flag_counts;  // rows with each flag set, a line a class
  std::vector<std::uint8_t> flag_bytes;
  std::vector<std::int64_t> code_counts;  // class counts of all codes of all small columns
  std::vector<double> code_weights;       // or weights

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
  std::vector<std::size_t> n_rows;         // of the lists, a branch each
  std::vector<double> share;               // of the weight that is known
  std::vector<Entry> lost_rows;            // rows of the lists without a value
  std::vector<SideRow> parts;              // all rows of fractional weight
  std::vector<std::uint32_t> part_branch;  // the branch of each; no_code: all of them
  std::vector<std::size_t> n_parts;        // of one branch, a branch each
  std::size_t n_lost = 0;                  // parts that go everywhere
  std::vector<double> lost_weights;        // of these, a class each
  std::vector<std::size_t> place;          // among the nodes that wait, a branch each

  void start(std::size_t n_branches, std::size_t first) {
    n = n_branches;
    first_child = first;
    n_rows.assign(n, 0);
    share.assign(n, 0.0);
    lost_rows.clear();
    n_parts.assign(n, 0);
    n_lost = 0;
  }
  bool go_by_bits() const { return n == 2 && lost_rows.empty(); }
};

// Where a branch's part of a list ends for now, and which increase of the list it knows of.
struct BranchEnd {
  std::size_t next, last_step;
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
  std::vector<RankedRow> listed_rows, own_rows, merged_rows;
  std::vector<CountedColumn> counted;
  Branches<Entry> branches;
  std::vector<BranchEnd> branch_ends;
  Totals totals;
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
