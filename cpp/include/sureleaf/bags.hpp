// What many trees say about each row: their mean, their votes, and how far they are apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/route.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// One tree of several, and what its nodes say (n_nodes x n_values).
struct BaggedTree {
  const Tree& tree;
  std::span<const double> values;
  std::span<const std::uint8_t> is_asked;  // a row each; empty: about all rows
};

// Sums over the trees that were asked about a row, a line a row.
struct BagSums {
  std::vector<double> values;
  std::vector<double> squares, votes;  // empty unless wanted
  std::vector<double> guessed, n_trees;
};

namespace detail {

// Values that differ by rounding only are alike, and the first of them wins.
inline constexpr double vote_slack = 1e-12;

inline std::size_t first_largest(std::span<const double> line) {
  const double least = *std::max_element(line.begin(), line.end()) - vote_slack;
  std::size_t k = 0;
  while (line[k] < least) ++k;
  return k;
}

// The columns that some tree tests, each with its place in a line of RowBlock.
struct Places {
  std::vector<std::int32_t> place_of;  // -1: no tree tests it
  std::vector<std::size_t> columns;

  Places(std::span<const BaggedTree> bags, std::size_t n_columns) : place_of(n_columns, -1) {
    for (const BaggedTree& bag : bags)
      for (const std::int32_t feature : bag.tree.feature) {
        if (feature < 0 || place_of[static_cast<std::size_t>(feature)] >= 0) continue;
        place_of[static_cast<std::size_t>(feature)] = static_cast<std::int32_t>(columns.size());
        columns.push_back(static_cast<std::size_t>(feature));
      }
    if (columns.empty() && n_columns > 0) columns.push_back(0);  // leaves look at a place, too
  }
};

// Some rows as lines of numbers and codes, which all trees read.
class RowBlock {
 public:
  static constexpr std::size_t max_rows = 1024;

  explicit RowBlock(const Places& places)
      : places_(places),
        width_(std::max<std::size_t>(1, places.columns.size())),
        cells_(max_rows * width_),
        is_whole_(max_rows) {}

  void read(const Columns& table, std::size_t first, std::size_t n) {
    std::fill(is_whole_.begin(), is_whole_.end(), char{1});
    for (std::size_t c = 0; c < places_.columns.size(); ++c) {
      const Column& column = table[places_.columns[c]];
      for (std::size_t r = 0; r < n; ++r) {
        const double x = column.kind == Kind::numeric ? column.number(first + r)
                                                      : static_cast<double>(column.code(first + r));
        const bool is_known = column.kind == Kind::numeric ? !std::isnan(x) : x >= 0;
        cells_[r * width_ + c] = x;
        is_whole_[r] = static_cast<char>(is_whole_[r] & static_cast<char>(is_known));
      }
    }
  }
  const double* line(std::size_t r) const { return cells_.data() + r * width_; }
  bool is_whole(std::size_t r) const { return is_whole_[r] != 0; }

 private:
  const Places& places_;
  std::size_t width_;
  std::vector<double> cells_;
  std::vector<char> is_whole_;
};

// A tree packed for walking several rows in step. In preorder the first child follows its parent,
// and a leaf leads to itself, so that a step has nothing to decide but a comparison.
class StepTree {
 public:
  static constexpr std::size_t width = 8;
  static constexpr std::int32_t not_walked = -1;

  StepTree(const Tree& tree, const Columns& table, const Places& places) {
    nodes_.reserve(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
      Step step{std::numeric_limits<double>::quiet_NaN(), 0, static_cast<std::int32_t>(node)};
      if (!tree.is_leaf(node)) {
        const auto feature = static_cast<std::size_t>(tree.feature[node]);
        step.place = places.place_of[feature];
        if (table[feature].has_thresholds()) {
          step.threshold = tree.threshold[node];
          step.other = tree.branches(node)[1];
        } else {
          step.other = ~static_cast<std::int32_t>(categories_.size());
          const auto branches = tree.category_branches(node);
          categories_.push_back(static_cast<std::int32_t>(branches.size()));
          for (const std::int32_t branch : branches)
            categories_.push_back(
                branch < 0 ? not_walked : tree.branches(node)[static_cast<std::size_t>(branch)]);
        }
      }
      nodes_.push_back(step);
    }
  }

  // The leaves of rows first .. first + n (at most width) of a block; not_walked where a value is
  // missing or a category unseen.
  void operator()(const RowBlock& block, std::size_t first, std::size_t n,
                  std::int32_t* leaves) const {
    const double* lines[width];
    for (std::size_t i = 0; i < width; ++i) lines[i] = block.line(first + std::min(i, n - 1));
    if (categories_.empty())
      step_all<false>(lines, leaves);
    else
      step_all<true>(lines, leaves);
    for (std::size_t i = 0; i < n; ++i)
      if (!block.is_whole(first + i)) leaves[i] = not_walked;
  }

 private:
  struct Step {
    double threshold;    // NaN: a leaf or a test of categories
    std::int32_t place;  // of the tested column
    std::int32_t other;  // above the threshold; ~place of its categories; a leaf: itself
  };

  template <bool has_categories>
  void step_all(const double* const* lines, std::int32_t* leaves) const {
    std::int32_t at[width] = {};
    std::int32_t moved = 1;
    while (moved != 0) {
      moved = 0;
      for (std::size_t i = 0; i < width; ++i) {
        if (has_categories && at[i] < 0) continue;
        const Step& step = nodes_[static_cast<std::size_t>(at[i])];
        const double x = lines[i][step.place];
        // A mask instead of a choice: which way a row goes cannot be foreseen.
        const std::int32_t goes_on = -static_cast<std::int32_t>(x <= step.threshold);
        std::int32_t next = step.other ^ ((step.other ^ (at[i] + 1)) & goes_on);
        if (has_categories && next < 0) next = by_category(static_cast<std::size_t>(~next), x);
        moved |= next ^ at[i];
        at[i] = next;
      }
    }
    std::copy(at, at + width, leaves);
  }
  std::int32_t by_category(std::size_t from, double code) const {
    return code >= 0 && code < categories_[from]
               ? categories_[from + 1 + static_cast<std::size_t>(code)]
               : not_walked;
  }

  std::vector<Step> nodes_;
  std::vector<std::int32_t> categories_;  // their number, then the child of each
};

}  // namespace detail

// Threads share out blocks of rows and ask the trees in their order, so that sums do not depend on
// the threads, and a block's rows stay in the cache from tree to tree.
inline BagSums predict_bags(std::span<const BaggedTree> bags, const Columns& table,
                            std::size_t n_values, bool in_detail, Unseen unseen,
                            std::size_t n_threads, Patience& patience) {
  using detail::RowBlock, detail::StepTree;
  BagSums sums;
  sums.values.assign(table.n_rows * n_values, 0.0);
  sums.guessed.assign(table.n_rows, 0.0);
  sums.n_trees.assign(table.n_rows, 0.0);
  if (in_detail) {
    sums.squares.assign(table.n_rows * n_values, 0.0);
    sums.votes.assign(table.n_rows * n_values, 0.0);
  }
  const detail::Places places(bags, table.size());
  std::vector<StepTree> steps;
  steps.reserve(bags.size());
  for (const BaggedTree& bag : bags) steps.emplace_back(bag.tree, table, places);

  auto add = [&](std::size_t row, const double* line) {
    sums.n_trees[row] += 1;
    double* to = sums.values.data() + row * n_values;
    for (std::size_t k = 0; k < n_values; ++k) to[k] += line[k];
    if (!in_detail) return;
    double* square = sums.squares.data() + row * n_values;
    for (std::size_t k = 0; k < n_values; ++k) square[k] += line[k] * line[k];
    sums.votes[row * n_values + detail::first_largest({line, n_values})] += 1;
  };
  const std::size_t n_blocks = (table.n_rows + RowBlock::max_rows - 1) / RowBlock::max_rows;
  run_jobs(n_blocks, n_threads, patience, [&](std::size_t i, std::size_t) {
    const std::size_t begin = i * RowBlock::max_rows;
    const std::size_t n_rows = std::min(RowBlock::max_rows, table.n_rows - begin);
    RowBlock block(places);
    block.read(table, begin, n_rows);
    std::vector<double> mixed(n_values);
    for (std::size_t t = 0; t < bags.size(); ++t) {
      const BaggedTree& bag = bags[t];
      Walk walk(bag.tree, table, unseen);
      for (std::size_t first = 0; first < n_rows; first += StepTree::width) {
        const std::size_t n = std::min(StepTree::width, n_rows - first);
        std::int32_t leaves[StepTree::width];
        steps[t](block, first, n, leaves);
        for (std::size_t r = 0; r < n; ++r) {
          const std::size_t row = begin + first + r;
          if (!bag.is_asked.empty() && !bag.is_asked[row]) continue;
          if (leaves[r] >= 0) {
            add(row, bag.values.data() + static_cast<std::size_t>(leaves[r]) * n_values);
            continue;
          }
          std::fill(mixed.begin(), mixed.end(), 0.0);
          walk(row, [&](std::size_t node, double share, bool is_guessed) {
            for (std::size_t k = 0; k < n_values; ++k)
              mixed[k] += share * bag.values[node * n_values + k];
            if (is_guessed) sums.guessed[row] += share;
          });
          add(row, mixed.data());
        }
      }
    }
  });
  return sums;
}

}  // namespace sureleaf
