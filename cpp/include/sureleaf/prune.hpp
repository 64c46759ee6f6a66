// Making a grown tree smaller (collapse, cost-complexity order, cutting at chosen nodes), the
// mean over all prunings, and shares shrunk to those of the parent. Nothing is grown again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <vector>

#include "sureleaf/tree.hpp"

namespace sureleaf {

inline double total_weight(std::span<const double> weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}
inline double training_errors(std::span<const double> weights) {
  return total_weight(weights) - *std::max_element(weights.begin(), weights.end());
}

// The same tree with the marked nodes as leaves.
inline Tree cut_at(const Tree& tree, std::span<const std::uint8_t> becomes_leaf) {
  std::vector<std::int32_t> number(tree.size(), -1);
  number[0] = 0;
  std::int32_t next = 0;
  std::vector<std::size_t> kept;
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (number[node] < 0) continue;
    number[node] = next++;
    kept.push_back(node);
    if (becomes_leaf[node]) continue;
    for (const std::int32_t child : tree.branches(node))
      number[static_cast<std::size_t>(child)] = 0;
  }
  Tree result;
  result.n_classes = tree.n_classes;
  for (const std::size_t node : kept) {
    const bool leaf = tree.is_leaf(node) || becomes_leaf[node];
    result.feature.push_back(leaf ? -1 : tree.feature[node]);
    result.threshold.push_back(leaf ? std::nan("") : tree.threshold[node]);
    result.missing_branch.push_back(leaf ? -1 : tree.missing_branch[node]);
    result.child_offset.push_back(static_cast<std::int64_t>(result.children.size()));
    result.category_offset.push_back(static_cast<std::int64_t>(result.category_branch.size()));
    const auto weights = tree.weights(node);
    result.class_weights.insert(result.class_weights.end(), weights.begin(), weights.end());
    if (leaf) continue;
    for (const std::int32_t child : tree.branches(node))
      result.children.push_back(number[static_cast<std::size_t>(child)]);
    const auto shares = tree.shares(node);
    result.branch_share.insert(result.branch_share.end(), shares.begin(), shares.end());
    const auto categories = tree.category_branches(node);
    result.category_branch.insert(result.category_branch.end(), categories.begin(),
                                  categories.end());
  }
  result.child_offset.push_back(static_cast<std::int64_t>(result.children.size()));
  result.category_offset.push_back(static_cast<std::int64_t>(result.category_branch.size()));
  return result;
}

// C4.5's collapse: a subtree that makes hardly fewer training errors than its root would as a leaf
// is cut. It goes top-down, so marks below a marked node do not matter.
inline std::vector<std::uint8_t> collapse_marks(const Tree& tree) {
  constexpr double least_gain = 1e-3;
  std::vector<double> errors(tree.size());
  std::vector<std::uint8_t> marks(tree.size(), 0);
  for (std::size_t node = tree.size(); node-- > 0;) {
    const double as_leaf = training_errors(tree.weights(node));
    if (tree.is_leaf(node)) {
      errors[node] = as_leaf;
      continue;
    }
    for (const std::int32_t child : tree.branches(node))
      errors[node] += errors[static_cast<std::size_t>(child)];
    marks[node] = errors[node] >= as_leaf - least_gain;
  }
  return marks;
}

// For each inner node the penalty per leaf (alpha, in the units of `cost`) at which
// weakest-link pruning cuts it; never below that of a node beneath it. Leaves: infinity.
inline std::vector<double> cost_complexity_alphas(const Tree& tree, std::span<const double> cost) {
  const std::size_t n = tree.size();
  std::vector<double> subtree_cost(cost.begin(), cost.end()), leaves(n, 1.0);
  std::vector<std::int32_t> parent(n, -1);
  std::vector<double> alpha(n, std::numeric_limits<double>::infinity());
  std::vector<std::uint8_t> is_cut(n, 0);
  using Link = std::pair<double, std::size_t>;
  std::vector<Link> first;
  auto strength = [&](std::size_t node) {
    return (cost[node] - subtree_cost[node]) / (leaves[node] - 1.0);
  };
  for (std::size_t node = n; node-- > 0;) {
    if (tree.is_leaf(node)) continue;
    subtree_cost[node] = 0;
    leaves[node] = 0;
    for (const std::int32_t child : tree.branches(node)) {
      const auto c = static_cast<std::size_t>(child);
      parent[c] = static_cast<std::int32_t>(node);
      subtree_cost[node] += subtree_cost[c];
      leaves[node] += leaves[c];
    }
    first.emplace_back(strength(node), node);
  }
  std::priority_queue<Link, std::vector<Link>, std::greater<>> links(std::greater<>{},
                                                                     std::move(first));
  double reached = -std::numeric_limits<double>::infinity();
  while (!links.empty()) {
    const auto [g, node] = links.top();
    links.pop();
    if (is_cut[node]) continue;
    // Cutting the weakest link makes no link above it weaker, so an old entry comes at most
    // too early: it is queued again with its present strength.
    if (const double now = strength(node); now > g) {
      links.emplace(now, node);
      continue;
    }
    reached = std::max(reached, g);
    const double cost_change = cost[node] - subtree_cost[node];
    const double leaf_change = 1.0 - leaves[node];
    std::vector<std::size_t> below{node};
    while (!below.empty()) {
      const std::size_t node_below = below.back();
      below.pop_back();
      if (tree.is_leaf(node_below) || is_cut[node_below]) continue;
      is_cut[node_below] = 1;
      alpha[node_below] = reached;
      for (const std::int32_t child : tree.branches(node_below))
        below.push_back(static_cast<std::size_t>(child));
    }
    for (std::int32_t up = parent[node]; up >= 0; up = parent[static_cast<std::size_t>(up)]) {
      const auto above = static_cast<std::size_t>(up);
      subtree_cost[above] += cost_change;
      leaves[above] += leaf_change;
    }
  }
  return alpha;
}

// Per node: the log likelihood of its rows if it is a leaf, and the log prior probabilities that a
// tree which reaches it ends there or goes on.
struct PruningEvidence {
  std::span<const double> as_leaf, ends, goes_on;
};

// Probabilities of every node: a mean of (count + added) / sum over the path to the root, weighted
// by the posterior probability that the tree ends there. In preorder a child comes after its
// parent, so one backward pass and one forward pass are enough.
inline std::vector<double> average_prunings(const Tree& tree, std::span<const double> counts,
                                            const PruningEvidence& evidence, double added) {
  const std::size_t n = tree.size(), n_classes = tree.n_classes;
  std::vector<double> evidence_below(evidence.as_leaf.begin(), evidence.as_leaf.end()),
      ends(n, 1.0);
  for (std::size_t node = n; node-- > 0;) {
    if (tree.is_leaf(node)) continue;
    double below = 0;
    for (const std::int32_t child : tree.branches(node))
      below += evidence_below[static_cast<std::size_t>(child)];
    const double here = evidence.ends[node] + evidence.as_leaf[node];
    const double as_split = evidence.goes_on[node] + below;
    const double larger = std::max(here, as_split);
    evidence_below[node] = larger + std::log1p(std::exp(std::min(here, as_split) - larger));
    ends[node] = std::exp(here - evidence_below[node]);
  }
  // Forward: the sum over prunings that end above a node, and the posterior weight of the others.
  std::vector<double> probabilities(n * n_classes, 0.0), rest(n, 1.0), frequency(n_classes);
  for (std::size_t node = 0; node < n; ++node) {
    double* line = probabilities.data() + node * n_classes;
    double total = 0;
    for (std::size_t k = 0; k < n_classes; ++k)
      total += frequency[k] = counts[node * n_classes + k] + added;
    const double here = rest[node] * ends[node];
    for (double& share : frequency) share /= total;
    if (!tree.is_leaf(node))
      for (const std::int32_t child : tree.branches(node)) {
        const auto c = static_cast<std::size_t>(child);
        rest[c] = rest[node] - here;
        for (std::size_t k = 0; k < n_classes; ++k)
          probabilities[c * n_classes + k] = line[k] + here * frequency[k];
      }
    double sum = 0;
    for (std::size_t k = 0; k < n_classes; ++k) sum += line[k] += rest[node] * frequency[k];
    for (std::size_t k = 0; k < n_classes; ++k) line[k] /= sum;
  }
  return probabilities;
}

// Class shares of every node, each with `strength` rows of its parent's shares added to its counts;
// the root has shares of its own.
inline std::vector<double> shrink_to_parent(const Tree& tree, std::span<const double> counts,
                                            std::span<const double> totals,
                                            std::span<const double> root, double strength) {
  const std::size_t n_classes = tree.n_classes;
  std::vector<double> shares(tree.size() * n_classes);
  std::copy(root.begin(), root.end(), shares.begin());
  for (std::size_t node = 0; node < tree.size(); ++node)
    for (const std::int32_t child : tree.branches(node)) {
      const auto c = static_cast<std::size_t>(child);
      for (std::size_t k = 0; k < n_classes; ++k)
        shares[c * n_classes + k] =
            (counts[c * n_classes + k] + strength * shares[node * n_classes + k]) /
            (totals[c] + strength);
    }
  return shares;
}

}  // namespace sureleaf
