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

// A column that is counted together with others: its code's place in a row, and its first cell.
struct CountedColumn {
  std::size_t place, first_cell;
};

// Class totals of the node at hand, as counts where they are whole, and what is counted for many
// columns at once.
struct Totals {
  std::vector<std::int64_t> counts;
  std::vector<double> weights;
  double weight = 0, impurity = 0;  // the impurity is times the weight
  bool whole = false;
  bool flags_are_counted = false, codes_are_counted = false;
  std::vector<std::int64_t> flag_counts;  // rows with each flag set, a line a class
  std::vector<std::uint8_t> flag_bytes;
  std::vector<std::int64_t> code_counts;  // class counts of all codes of all small columns
  std::vector<double> code_weights;       // or weights

  template <class Weight>
  auto& codes() {
    if constexpr (std::is_same_v<Weight, double>)
      return code_weights;
    else
      return code_counts;
  }
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
  std::vector<std::uint64_t> placed;  // rows of fractional weight in the order of a column
  std::vector<CountedColumn> counted;
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
