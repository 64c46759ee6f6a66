// Predictions of many trees for each row: their sum, their votes and their squares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/route.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// One of several trees, and the values of its nodes (n_nodes x n_values).
struct BaggedTree {
  const Tree& tree;
  std::span<const double> values;
  std::span<const std::uint8_t> uses_row;  // one flag per row; empty: all rows
};

// Sums over the trees that are used for a row, one line per row.
struct BagSums {
  std::vector<double> values;
  std::vector<double> squares, votes;  // empty unless wanted
  std::vector<double> imputed, n_trees;
};

namespace detail {

// Values that differ by rounding only are equal, and the first of them wins.
inline constexpr double vote_slack = 1e-12;

inline std::size_t predicted_class(std::span<const double> line) {
  const double least = *std::max_element(line.begin(), line.end()) - vote_slack;
  std::size_t k = 0;
  while (line[k] < least) ++k;
  return k;
}

}  // namespace detail

// Threads share blocks of rows and go through the trees in their order, so that sums do not depend
// on the threads, and a block of rows stays in the cache from tree to tree.
inline BagSums predict_bags(std::span<const BaggedTree> bags, const Columns& table,
                            std::size_t n_values, bool with_details, Unseen unseen,
                            std::size_t n_threads, InterruptFlag& interrupt) {
  BagSums sums;
  sums.values.assign(table.n_rows * n_values, 0.0);
  sums.imputed.assign(table.n_rows, 0.0);
  sums.n_trees.assign(table.n_rows, 0.0);
  if (with_details) {
    sums.squares.assign(table.n_rows * n_values, 0.0);
    sums.votes.assign(table.n_rows * n_values, 0.0);
  }
  std::vector<const Tree*> trees;
  for (const BaggedTree& bag : bags) trees.push_back(&bag.tree);
  const RowLayout layout(table, trees);
  std::vector<PackedNodes> nodes;
  nodes.reserve(bags.size());
  for (const BaggedTree& bag : bags) nodes.emplace_back(bag.tree, table, layout);

  auto add = [&](std::size_t row, const double* tree_values) {
    sums.n_trees[row] += 1;
    double* to = sums.values.data() + row * n_values;
    for (std::size_t k = 0; k < n_values; ++k) to[k] += tree_values[k];
    if (!with_details) return;
    double* square = sums.squares.data() + row * n_values;
    for (std::size_t k = 0; k < n_values; ++k) square[k] += tree_values[k] * tree_values[k];
    sums.votes[row * n_values + detail::predicted_class({tree_values, n_values})] += 1;
  };
  const std::size_t block_rows = RowBlock::max_rows(layout);
  const std::size_t n_blocks = (table.n_rows + block_rows - 1) / block_rows;
  std::vector<RowBlock> blocks(std::min(n_threads, n_blocks), RowBlock(layout));
  run_jobs(n_blocks, n_threads, interrupt, [&](std::size_t i, std::size_t thread) {
    const std::size_t begin = i * block_rows;
    RowBlock& block = blocks[thread];
    block.read(table, begin, std::min(block_rows, table.n_rows - begin));
    std::vector<double> mixed(n_values);
    for (std::size_t t = 0; t < bags.size(); ++t) {
      const BaggedTree& bag = bags[t];
      auto uses_row = [&](std::size_t r) {
        return bag.uses_row.empty() || bag.uses_row[begin + r] != 0;
      };
      FractionalRouter parts(bag.tree, nodes[t], table, unseen);
      auto add_parts = [&](std::size_t r) {
        std::fill(mixed.begin(), mixed.end(), 0.0);
        parts(block.row(r), block.has_unseen_order(r), begin + r,
              [&](std::size_t node, double share, bool is_imputed) {
                for (std::size_t k = 0; k < n_values; ++k)
                  mixed[k] += share * bag.values[node * n_values + k];
                if (is_imputed) sums.imputed[begin + r] += share;
              });
        add(begin + r, mixed.data());
      };
      nodes[t].route(block, [&](std::size_t r, std::int32_t leaf) {
        if (!uses_row(r)) return;
        if (leaf < 0) return add_parts(r);
        add(begin + r, bag.values.data() + static_cast<std::size_t>(leaf) * n_values);
      });
      for (const std::uint32_t r : block.incomplete_rows())
        if (uses_row(r)) add_parts(r);
    }
  });
  return sums;
}

}  // namespace sureleaf
