// Which leaves a row reaches, and with what share of its weight.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// What a row does at a test of a category that the node has not seen.
enum class Unseen : std::uint8_t { mixture, stop };

inline constexpr std::int32_t branch_missing = -1;
inline constexpr std::int32_t branch_unseen = -2;

inline std::int32_t branch_of(const Tree& tree, std::size_t node, const Columns& table,
                              std::size_t row) {
  const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
  if (column.has_thresholds()) {
    const double value = column.value(row);
    if (std::isnan(value))
      return column.kind == Kind::ordered && column.code(row) == unseen_code ? branch_unseen
                                                                             : branch_missing;
    return value <= tree.threshold[node] ? 0 : 1;
  }
  const std::int32_t code = column.code(row);
  if (code == missing_code) return branch_missing;
  const auto branches = tree.category_branches(node);
  if (code < 0 || static_cast<std::size_t>(code) >= branches.size()) return branch_unseen;
  const std::int32_t branch = branches[static_cast<std::size_t>(code)];
  return branch < 0 ? branch_unseen : branch;
}

// Calls visit(node, share, guessed) for every place a row ends in; `guessed` says that a missing
// or unseen value decided part of the way.
class Walk {
 public:
  Walk(const Tree& tree, const Columns& table, Unseen unseen)
      : tree_(tree), table_(table), unseen_(unseen) {}

  template <class Visit>
  void operator()(std::size_t row, Visit&& visit) {
    pending_.assign(1, {0, 1.0, false});
    while (!pending_.empty()) {
      Step step = pending_.back();
      pending_.pop_back();
      while (!tree_.is_leaf(step.node)) {
        const std::int32_t branch = branch_of(tree_, step.node, table_, row);
        if (branch >= 0) {
          step.node =
              static_cast<std::size_t>(tree_.branches(step.node)[static_cast<std::size_t>(branch)]);
          continue;
        }
        step.guessed = true;
        if (branch == branch_unseen && unseen_ == Unseen::stop) break;
        const auto shares = tree_.shares(step.node);
        for (std::size_t b = shares.size(); b-- > 0;)
          if (shares[b] > 0)
            pending_.push_back({static_cast<std::size_t>(tree_.branches(step.node)[b]),
                                step.share * shares[b], true});
        step.share = 0;
        break;
      }
      if (step.share > 0) visit(step.node, step.share, step.guessed);
    }
  }

 private:
  struct Step {
    std::size_t node;
    double share;
    bool guessed;
  };
  const Tree& tree_;
  const Columns& table_;
  Unseen unseen_;
  std::vector<Step> pending_;
};

// Rows in runs of leaves: those of row i are leaf[offset[i]] .. leaf[offset[i + 1]].
struct Routes {
  std::vector<std::int64_t> offset;
  std::vector<std::int32_t> node;
  std::vector<double> share;
  std::vector<double> guessed_share;  // a row each
};

inline Routes route(const Tree& tree, const Columns& table, Unseen unseen, Patience& patience) {
  Routes routes;
  routes.offset.push_back(0);
  routes.offset.reserve(table.n_rows + 1);
  routes.guessed_share.assign(table.n_rows, 0.0);
  Walk walk(tree, table, unseen);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    if ((row & 4095) == 0) patience.check();
    walk(row, [&](std::size_t node, double share, bool guessed) {
      routes.node.push_back(static_cast<std::int32_t>(node));
      routes.share.push_back(share);
      if (guessed) routes.guessed_share[row] += share;
    });
    routes.offset.push_back(static_cast<std::int64_t>(routes.node.size()));
  }
  return routes;
}

// Class weights of every node, leaves and inner nodes, when these rows are sent through the tree.
inline std::vector<double> count_nodes(const Tree& tree, const Columns& table,
                                       std::span<const std::int32_t> labels,
                                       std::span<const double> weights, Patience& patience) {
  std::vector<double> counts(tree.size() * tree.n_classes, 0.0);
  Walk walk(tree, table, Unseen::mixture);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    if ((row & 4095) == 0) patience.check();
    const double weight = weights.empty() ? 1.0 : weights[row];
    if (!(weight > 0)) continue;
    walk(row, [&](std::size_t node, double share, bool) {
      counts[node * tree.n_classes + static_cast<std::size_t>(labels[row])] += weight * share;
    });
  }
  // In preorder a child comes after its parent, so one pass backwards adds leaves up to the root.
  for (std::size_t node = tree.size(); node-- > 0;)
    for (const std::int32_t child : tree.branches(node))
      for (std::size_t k = 0; k < tree.n_classes; ++k)
        counts[node * tree.n_classes + k] +=
            counts[static_cast<std::size_t>(child) * tree.n_classes + k];
  return counts;
}

// A tree of thresholds only, packed for walking many rows at once. In preorder the left child
// follows its parent, so only the right one is stored.
class FastWalk {
 public:
  FastWalk(const Tree& tree, const Columns& table) : table_(table) {
    nodes_.reserve(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
      Step step{tree.threshold[node], tree.feature[node], static_cast<std::int32_t>(node)};
      if (!tree.is_leaf(node)) {
        const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
        if (column.kind == Kind::numeric && tree.n_branches(node) == 2)
          step.right = tree.branches(node)[1];
        else
          step.feature = slow;
      }
      nodes_.push_back(step);
    }
  }

  static constexpr std::size_t width = 8;
  static constexpr std::int32_t not_walked = -1;

  // The leaves of rows first .. first + n (at most width), not_walked where a value is missing or
  // a test is not a threshold.
  void operator()(std::size_t first, std::size_t n, std::int32_t* leaves) const {
    std::int32_t at[width] = {};
    bool moving = true;
    while (moving) {
      moving = false;
      for (std::size_t i = 0; i < n; ++i) {
        if (at[i] < 0) continue;
        const Step& step = nodes_[static_cast<std::size_t>(at[i])];
        if (step.feature < 0) {
          if (step.feature == slow) at[i] = not_walked;
          continue;
        }
        const double value = table_[static_cast<std::size_t>(step.feature)].number(first + i);
        if (std::isnan(value)) {
          at[i] = not_walked;
          continue;
        }
        at[i] = value <= step.threshold ? at[i] + 1 : step.right;
        moving = true;
      }
    }
    for (std::size_t i = 0; i < n; ++i) leaves[i] = at[i];
  }

 private:
  static constexpr std::int32_t slow = -2;
  struct Step {
    double threshold;
    std::int32_t feature;
    std::int32_t right;
  };
  const Columns& table_;
  std::vector<Step> nodes_;
};

// Mixtures of the leaves' values (n_nodes x width of values), a line a row.
inline void predict(const Tree& tree, const Columns& table, std::span<const double> values,
                    std::size_t n_values, Unseen unseen, std::size_t n_threads, double* out,
                    Patience& patience) {
  const FastWalk fast(tree, table);
  constexpr std::size_t block = 4096;
  run_jobs(
      (table.n_rows + block - 1) / block, n_threads, patience, [&](std::size_t i, std::size_t) {
        Walk walk(tree, table, unseen);
        const std::size_t end = std::min(table.n_rows, (i + 1) * block);
        for (std::size_t first = i * block; first < end; first += FastWalk::width) {
          const std::size_t n = std::min(FastWalk::width, end - first);
          std::int32_t leaves[FastWalk::width];
          fast(first, n, leaves);
          for (std::size_t r = 0; r < n; ++r) {
            double* line = out + (first + r) * n_values;
            if (leaves[r] >= 0) {
              const double* from = values.data() + static_cast<std::size_t>(leaves[r]) * n_values;
              std::copy(from, from + n_values, line);
              continue;
            }
            std::fill(line, line + n_values, 0.0);
            walk(first + r, [&](std::size_t node, double share, bool) {
              for (std::size_t k = 0; k < n_values; ++k)
                line[k] += share * values[node * n_values + k];
            });
          }
        }
      });
}

}  // namespace sureleaf
