// What many trees say about each row: their mean, their votes, and how far they are apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/route.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// One tree of several: its walk, and what its nodes say (n_nodes x n_values).
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
  constexpr std::size_t block = 512;
  BagSums sums;
  sums.values.assign(table.n_rows * n_values, 0.0);
  sums.guessed.assign(table.n_rows, 0.0);
  sums.n_trees.assign(table.n_rows, 0.0);
  if (in_detail) {
    sums.squares.assign(table.n_rows * n_values, 0.0);
    sums.votes.assign(table.n_rows * n_values, 0.0);
  }
  std::vector<FastWalk> walks;
  walks.reserve(bags.size());
  for (const BaggedTree& bag : bags) walks.emplace_back(bag.tree, table);
  const std::size_t n_blocks = (table.n_rows + block - 1) / block;
  run_jobs(n_blocks, n_threads, patience, [&](std::size_t i, std::size_t) {
    std::vector<double> mixed(n_values);
    const std::size_t end = std::min(table.n_rows, (i + 1) * block);
    for (std::size_t t = 0; t < bags.size(); ++t) {
      const BaggedTree& bag = bags[t];
      Walk walk(bag.tree, table, unseen);
      for (std::size_t first = i * block; first < end; first += FastWalk::width) {
        const std::size_t n = std::min(FastWalk::width, end - first);
        std::int32_t leaves[FastWalk::width];
        walks[t](first, n, leaves);
        for (std::size_t r = 0; r < n; ++r) {
          const std::size_t row = first + r;
          if (!bag.is_asked.empty() && !bag.is_asked[row]) continue;
          const double* line = mixed.data();
          if (leaves[r] >= 0) {
            line = bag.values.data() + static_cast<std::size_t>(leaves[r]) * n_values;
          } else {
            std::fill(mixed.begin(), mixed.end(), 0.0);
            walk(row, [&](std::size_t node, double share, bool is_guessed) {
              for (std::size_t k = 0; k < n_values; ++k)
                mixed[k] += share * bag.values[node * n_values + k];
              if (is_guessed) sums.guessed[row] += share;
            });
          }
          sums.n_trees[row] += 1;
          double* to = sums.values.data() + row * n_values;
          for (std::size_t k = 0; k < n_values; ++k) to[k] += line[k];
          if (!in_detail) continue;
          double* square = sums.squares.data() + row * n_values;
          for (std::size_t k = 0; k < n_values; ++k) square[k] += line[k] * line[k];
          sums.votes[row * n_values + detail::first_largest({line, n_values})] += 1;
        }
      }
    }
  });
  return sums;
}

}  // namespace sureleaf
