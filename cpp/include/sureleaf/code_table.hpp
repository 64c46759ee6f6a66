// Cuts by a table of class weights: thresholds over codes, and one branch a category.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "sureleaf/impurity.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf {

// Class weights by code, one line a code; where only few codes occur, only their lines.
template <class Weight>
struct CodeTable {
  std::span<const Weight> cells;
  std::span<const std::uint32_t> codes;  // empty: line i is code i
  std::size_t n_lines, n_classes;

  std::size_t code(std::size_t line) const { return codes.empty() ? line : codes[line]; }
  std::span<const Weight> weights(std::size_t line) const {
    return cells.subspan(line * n_classes, n_classes);
  }
  Weight weight(std::size_t line) const {
    const Weight* at = cells.data() + line * n_classes;
    if (n_classes == 2) return at[0] + at[1];
    Weight sum = 0;
    for (std::size_t k = 0; k < n_classes; ++k) sum += at[k];
    return sum;
  }
  bool is_empty(std::size_t line) const {
    const Weight* at = cells.data() + line * n_classes;
    std::uint64_t bits = std::bit_cast<std::uint64_t>(at[0]) | std::bit_cast<std::uint64_t>(at[1]);
    for (std::size_t k = 2; k < n_classes; ++k) bits |= std::bit_cast<std::uint64_t>(at[k]);
    return bits == 0;
  }
  // Calls visit(line) for the lines with any weight, in order, and says how many there are. Which
  // those are is found without a branch: most lines of a small node are empty, at random.
  template <class Visit>
  std::size_t visit_lines(Visit&& visit) const {
    std::size_t n_visited = 0;
    for (std::size_t first = 0; first < n_lines; first += 64) {
      std::uint64_t occurs = 0;
      for (std::size_t line = std::min(n_lines, first + 64); line-- > first;)
        occurs = 2 * occurs + (is_empty(line) ? 0 : 1);
      n_visited += static_cast<std::size_t>(std::popcount(occurs));
      for (; occurs != 0; occurs &= occurs - 1)
        visit(first + static_cast<std::size_t>(std::countr_zero(occurs)));
    }
    return n_visited;
  }
};

// Thresholds over codes.
template <class Weight, class Meter>
void scan_codes(const CodeTable<Weight>& table, Meter meter, const PresortedColumn& column,
                bool needs_gap, BestCut& best, Candidate& candidate) {
  bool started = false;
  std::size_t before = 0;
  const std::size_t n_values = table.visit_lines([&](std::size_t line) {
    const std::size_t code = table.code(line);
    if (started && (!needs_gap || column.values[before] + c45_gap < column.values[code]) &&
        best.offer(meter)) {
      candidate.cut = before;
      candidate.below = static_cast<std::uint32_t>(before);
      candidate.above = static_cast<std::uint32_t>(code);
    }
    const std::span<const Weight> weights = table.weights(line);
    // To move nothing costs less than a branch guessed wrong, unless it takes look-ups.
    for (std::size_t k = 0; k < table.n_classes; ++k)
      if (std::is_same_v<Weight, double> || weights[k] > 0) meter.move(k, weights[k]);
    before = code;
    started = true;
  });
  candidate.hopeless = n_values < 2;
}

// One branch a category. `known` is the node's part with a value.
template <class Weight>
void split_multiway(const CodeTable<Weight>& table, const Group& node, const Group& known,
                    const GrowthRules& rules, Candidate& candidate) {
  double after = 0, branch_logs = 0;
  std::size_t n_heavy = 0;
  const double least =
      std::max(rules.min_samples_leaf - c45_slack, std::numeric_limits<double>::min());
  table.visit_lines([&](std::size_t line) {
    const std::span<const Weight> weights = table.weights(line);
    const auto weight = static_cast<double>(table.weight(line));
    const auto largest = static_cast<double>(*std::max_element(weights.begin(), weights.end()));
    if (weight >= least) ++n_heavy;
    const bool is_mixed = largest < weight;
    const double log = rules.is_c45() || (is_mixed && rules.uses_entropy()) ? xlog2x(weight) : 0.0;
    branch_logs += log;
    if (is_mixed) after += group_impurity<Weight>(weights, weight, log, rules.uses_entropy());
  });
  if (n_heavy < 2) {
    candidate.hopeless = true;
    return;
  }
  candidate.gain = (known.impurity - after) / node.weight;
  candidate.valid = true;  // with any gain: even one of 0 lowers C4.5's average
  if (rules.is_c45())
    candidate.split_info =
        (node.weight_log - branch_logs - xlog2x(node.weight - known.weight)) / node.weight;
}

}  // namespace sureleaf
