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

}  // namespace detail

// Threads share out blocks of rows and ask the trees in their order, so that sums do not depend on
// the threads, and a block's rows stay in the cache from tree to tree.
inline BagSums predict_bags(std::span<const BaggedTree> bags, const Columns& table,
                            std::size_t n_values, bool in_detail, Unseen unseen,
                            std::size_t n_threads, Patience& patience) {
  BagSums sums;
  sums.values.assign(table.n_rows * n_values, 0.0);
  sums.guessed.assign(table.n_rows, 0.0);
  sums.n_trees.assign(table.n_rows, 0.0);
  if (in_detail) {
    sums.squares.assign(table.n_rows * n_values, 0.0);
    sums.votes.assign(table.n_rows * n_values, 0.0);
  }
  std::vector<const Tree*> trees;
  for (const BaggedTree& bag : bags) trees.push_back(&bag.tree);
  const Line line(table, trees);
  std::vector<StepTree> steps;
  steps.reserve(bags.size());
  for (const BaggedTree& bag : bags) steps.emplace_back(bag.tree, table, line);

  auto add = [&](std::size_t row, const double* said) {
    sums.n_trees[row] += 1;
    double* to = sums.values.data() + row * n_values;
    for (std::size_t k = 0; k < n_values; ++k) to[k] += said[k];
    if (!in_detail) return;
    double* square = sums.squares.data() + row * n_values;
    for (std::size_t k = 0; k < n_values; ++k) square[k] += said[k] * said[k];
    sums.votes[row * n_values + detail::first_largest({said, n_values})] += 1;
  };
  const std::size_t max_rows = RowBlock::max_rows(line);
  const std::size_t n_blocks = (table.n_rows + max_rows - 1) / max_rows;
  std::vector<RowBlock> blocks(std::min(n_threads, n_blocks), RowBlock(line));
  run_jobs(n_blocks, n_threads, patience, [&](std::size_t i, std::size_t thread) {
    const std::size_t begin = i * max_rows;
    RowBlock& block = blocks[thread];
    block.read(table, begin, std::min(max_rows, table.n_rows - begin));
    std::vector<double> mixed(n_values);
    for (std::size_t t = 0; t < bags.size(); ++t) {
      const BaggedTree& bag = bags[t];
      auto is_asked = [&](std::size_t r) {
        return bag.is_asked.empty() || bag.is_asked[begin + r] != 0;
      };
      PartsWalk parts(bag.tree, steps[t], table, unseen);
      auto add_parts = [&](std::size_t r) {
        std::fill(mixed.begin(), mixed.end(), 0.0);
        parts(block.line(r), begin + r, [&](std::size_t node, double share, bool is_guessed) {
          for (std::size_t k = 0; k < n_values; ++k)
            mixed[k] += share * bag.values[node * n_values + k];
          if (is_guessed) sums.guessed[begin + r] += share;
        });
        add(begin + r, mixed.data());
      };
      steps[t].walk(block, [&](std::size_t r, std::int32_t leaf) {
        if (!is_asked(r)) return;
        if (leaf < 0) return add_parts(r);
        add(begin + r, bag.values.data() + static_cast<std::size_t>(leaf) * n_values);
      });
      for (const std::uint32_t r : block.holed())
        if (is_asked(r)) add_parts(r);
    }
  });
  return sums;
}

}  // namespace sureleaf
